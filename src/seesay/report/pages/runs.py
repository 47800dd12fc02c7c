"""The report as one HTML file that opens offline and asks nothing of any network.

Names of models, objects and options come from other people's files: the template escapes them, the embedded JSON cannot
end its element, the script only sets text, and the page's own policy forbids whatever else might slip through.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seesay.errors import UserError
from seesay.report import analyses, answers
from seesay.report.analyses import Analysis
from seesay.report.groups import group
from seesay.report.layout import fill
from seesay.report.pages import run_views
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Comparison, Manifest
from seesay.runs.run import Run
from seesay.runs.store import write_text

_ELSEWHERE = {"signature", "citation", "bad_rows"}


def render(runs: Sequence[Run], comparisons: Sequence[Comparison] = (), more: Sequence[Analysis] = ()) -> str:
    """The page as a string; the same runs give the same page. `more` are analyses that no single run holds."""
    if not runs:
        raise UserError("There is nothing to report: give at least one run.")
    groups = group(runs)
    tasks = []
    for index, g in enumerate(groups):
        made = [answers.choices(entry.run) for entry in g.entries]
        tasks.append(
            {
                "group": g,
                "index": index,
                "headline": run_views.headline(g),
                "templates": run_views.templates(g),
                "slices": run_views.slices(g),
                "calibrated": run_views.calibrated(g),
                "answers": run_views.answer_shares(g, made),
                "analyses": [analysis for analysis in analyses.of_group(g) if analysis.charts],
                "json": answers.embed(answers.payload(g, made)),
            }
        )
    return fill(
        "page.html",
        script="script.js",
        tasks=tasks,
        entries=[entry for g in groups for entry in g.entries],
        models=list(dict.fromkeys((entry.label, entry.lane) for g in groups for entry in g.entries)),
        comparisons=run_views.comparisons(comparisons),
        across=[*analyses.of_groups(groups), *more],
        citations=list(dict.fromkeys((g.task.name, g.task.citation) for g in groups if g.task.citation)),
        manifest_fields={k: f.description for k, f in Manifest.model_fields.items() if k not in _ELSEWHERE},
        created=max(run.manifest.created for run in runs)[:10],
        calibrated_prefix=CALIBRATED,
    )


def write(
    path: Path | str, runs: Sequence[Run], comparisons: Sequence[Comparison] = (), more: Sequence[Analysis] = ()
) -> Path:
    """Write the page, and beside it the rows of its analyses.

    A reader finds the old file or the new one, never half of either.
    """
    path = Path(path)
    if path.is_dir():
        raise UserError(f"'{path}' is a folder: name a file for the report, such as '{path / 'report.html'}'.")
    write_text(path, render(runs, comparisons, more).encode("utf-8", "replace").decode())
    groups = group(runs)
    found = [analysis for g in groups for analysis in analyses.of_group(g)]
    analyses.write_json(path, [*found, *analyses.of_groups(groups), *more])
    return path
