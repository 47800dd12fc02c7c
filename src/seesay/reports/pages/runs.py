"""The report as one HTML file that opens offline and loads nothing from the network.

Names of models, objects and options come from other people's files: the template escapes them, the
embedded JSON cannot end its element, the script only sets text, and the page's own policy forbids
whatever else might slip through.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.files import refuse_folder, write_text
from seesay.plugins import collect
from seesay.registry import load_address
from seesay.reports import answers
from seesay.reports.analysis import Analysis, write_rows
from seesay.reports.groups import TaskRuns, group_runs
from seesay.reports.layout import render_page, templates
from seesay.reports.pages import run_views
from seesay.reports.score_analyses import cross_task_analyses, group_analyses
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Comparison, Manifest
from seesay.runs.run import Run

_SHOWN_ELSEWHERE = {"signature", "citation", "bad_rows"}


def render(
    runs: Sequence[Run], comparisons: Sequence[Comparison] = (), more: Sequence[Analysis] = ()
) -> str:
    """The page as a string; the same runs give the same page. `more` are analyses that no single
    run holds."""
    return render_groups(_groups(runs), comparisons, more, questions=True)


def render_groups(
    groups: Sequence[TaskRuns],
    comparisons: Sequence[Comparison] = (),
    more: Sequence[Analysis] = (),
    *,
    questions: bool = False,
    heading: str = "",
    home: str = "",
) -> str:
    """The page of some groups: with every question and answer or without, `home` linking to the
    page above it."""
    entries = [entry for group in groups for entry in group.entries]
    return render_page(
        "page.html",
        script="script.js" if questions else None,
        tasks=[_task(index, group, questions) for index, group in enumerate(groups)],
        entries=entries,
        models=list(dict.fromkeys((entry.label, entry.series) for entry in entries)),
        comparisons=run_views.comparisons(comparisons),
        across=[*cross_task_analyses(groups), *more],
        citations=list(
            dict.fromkeys((g.task.name, g.task.citation) for g in groups if g.task.citation)
        ),
        manifest_fields={
            k: f.description for k, f in Manifest.model_fields.items() if k not in _SHOWN_ELSEWHERE
        },
        created=max(entry.run.manifest.created for entry in entries)[:10],
        calibrated_prefix=CALIBRATED,
        questions=questions,
        heading=heading,
        home=home,
    )


def write(
    path: Path | str,
    runs: Sequence[Run],
    comparisons: Sequence[Comparison] = (),
    more: Sequence[Analysis] = (),
) -> Path:
    """Write the page, and the rows of its analyses beside it."""
    path = Path(path)
    refuse_folder(path, "report")
    groups = _groups(runs)
    write_text(path, render_groups(groups, comparisons, more, questions=True))
    analyses = [analysis for group in groups for analysis in group_analyses(group)]
    write_rows(path, [*analyses, *cross_task_analyses(groups), *more])
    return path


def overview_html(runs: Sequence[Run]) -> str:
    """Every metric of every run as an HTML fragment with its own style, for notebooks."""
    fragment = templates().get_template("overview_fragment.html")
    return fragment.render(groups=_groups(runs), calibrated_prefix=CALIBRATED)


def _groups(runs: Sequence[Run]) -> tuple[TaskRuns, ...]:
    if not runs:
        raise UserError("There is nothing to report: give at least one run.")
    return group_runs(runs)


def _task(index: int, group: TaskRuns, questions: bool) -> dict[str, Any]:
    """What the template shows of one task; without `questions`, nothing that needs the answers."""
    if questions:
        chosen = [answers.choices(entry.run) for entry in group.entries]
    else:
        chosen = []
    renderers = collect(lambda plugin: plugin.page_sections).values()
    if questions:
        sections = [load_address(address)(group, chosen) for address in renderers]
    else:
        sections = []
    return {
        "group": group,
        "index": index,
        "headline": run_views.headline(group),
        "templates": run_views.templates(group),
        "curves": run_views.curves(group),
        "slices": run_views.slices(group),
        "calibrated": run_views.calibrated(group),
        "answers": run_views.answer_shares(group, chosen) if questions else None,
        "sections": sections,
        "analyses": [analysis for analysis in group_analyses(group) if analysis.charts]
        if questions
        else [],
        "payload": answers.payload(group, chosen) if questions else None,
    }
