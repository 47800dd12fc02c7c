"""The report as one HTML file that opens offline and loads nothing from the network.

Names of models, objects and options come from other people's files: the template escapes them, the
embedded JSON cannot end its element, the script only sets text, and the page's own policy forbids
whatever else might slip through.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.files import refuse_folder, write_text
from seesay.plugins import collect
from seesay.processors import without_garbage_collection
from seesay.registry import load_address
from seesay.reports import answers
from seesay.reports.analysis import Analysis, write_rows
from seesay.reports.chance import LEGEND, standings
from seesay.reports.formatting import few_note
from seesay.reports.groups import PEOPLE, TaskRuns, count_asked, group_runs, sample_note
from seesay.reports.in_words import results_in_words
from seesay.reports.layout import render_page, templates
from seesay.reports.pages import run_views
from seesay.reports.pages.sections import Section
from seesay.reports.score_analyses import cross_task_analyses, group_analyses
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Comparison, Figure, Manifest
from seesay.runs.run import Run

_SHOWN_ELSEWHERE = {"signature", "citation", "bad_rows"}


def render(
    runs: Sequence[Run], comparisons: Sequence[Comparison] = (), more: Sequence[Analysis] = ()
) -> str:
    """Return the page; the same runs give the same page.

    `more` are analyses that no single run holds.
    """
    return render_groups(_groups(runs), comparisons, more, questions=True)


def render_groups(
    groups: Sequence[TaskRuns],
    comparisons: Sequence[Comparison] = (),
    more: Sequence[Analysis] = (),
    *,
    questions: bool = False,
    heading: str = "",
    home: str = "",
    layers: Sequence[Section] = (),
) -> str:
    """Return the page of some groups, with every question and answer or without.

    `home` links to the page above it; `layers` are sections of figures layer by layer.
    """
    entries = [entry for group in groups for entry in group.entries]
    labels = {(entry.label, entry.series): entry.run.manifest.family for entry in entries}
    all_citations = [(group.task.name, group.task.provenance.citation) for group in groups]
    citations = dict.fromkeys((task, citation) for task, citation in all_citations if citation)
    with_pictures = sum(answers.has_pictures(group.task) for group in groups)
    most_pictures = answers.MAX_PICTURES // max(with_pictures, 1)
    # a model that was asked in two ways, or of two samples, is one
    manifests = [entry.run.manifest for entry in entries]
    families = {manifest.model: manifest.family for manifest in manifests}
    return render_page(
        "page.html",
        script="script.js" if questions else None,
        tasks=[_task(index, group, questions, most_pictures) for index, group in enumerate(groups)],
        entries=entries,
        models=list(labels),
        asked=count_asked(families.values()),
        speakers=_speakers(labels.values()),
        comparisons=run_views.comparisons(comparisons),
        across=[*cross_task_analyses(groups), *more],
        layers=layers,
        words=results_in_words(groups, comparisons),
        citations=list(citations),
        manifest_fields=_manifest_fields(),
        created=max(entry.run.manifest.created for entry in entries)[:10],
        calibrated_prefix=CALIBRATED,
        chance_legend=LEGEND,
        questions=questions,
        heading=heading,
        home=home,
        few=few_note(_figures(groups)),
        sample_note=sample_note(groups),
    )


def _speakers(families: Collection[str]) -> str:
    """Return who says something about what anyone can see, for the page's title."""
    count = sum(family != PEOPLE for family in families)
    if count == len(families):
        return "a model says" if count == 1 else "models say"
    models = ("", "a model and ", "models and ")[min(count, 2)]
    return f"{models}people say"


def write(
    path: Path | str,
    runs: Sequence[Run],
    comparisons: Sequence[Comparison] = (),
    more: Sequence[Analysis] = (),
    layers: Sequence[Section] = (),
) -> Path:
    """Write the page, and the rows of its analyses beside it."""
    path = Path(path)
    refuse_folder(path, "report")
    groups = _groups(runs)
    with without_garbage_collection():
        page = render_groups(groups, comparisons, more, questions=True, layers=layers)
    write_text(path, page)
    analyses = [analysis for group in groups for analysis in group_analyses(group)]
    write_rows(
        path,
        [
            *analyses,
            *cross_task_analyses(groups),
            *more,
        ],
    )
    return path


def overview_html(runs: Sequence[Run]) -> str:
    """Every metric of every run as an HTML fragment with its own style, for notebooks."""
    fragment = templates().get_template("overview_fragment.html")
    groups = _groups(runs)
    return fragment.render(
        groups=groups,
        calibrated_prefix=CALIBRATED,
        few=few_note(_figures(groups)),
        sample_note=sample_note(groups),
    )


def _figures(groups: Sequence[TaskRuns]) -> Iterator[Figure]:
    """Yield every figure of every run."""
    for group in groups:
        for entry in group.entries:
            yield from entry.run.figures


def _groups(runs: Sequence[Run]) -> tuple[TaskRuns, ...]:
    if not runs:
        raise UserError("There is nothing to report: give at least one run.")
    return group_runs(runs)


def _manifest_fields() -> dict[str, str]:
    """Return the fields of a manifest that the page lists, and what each means."""
    descriptions = {}
    for name, field in Manifest.model_fields.items():
        if name not in _SHOWN_ELSEWHERE:
            # a docstring is wrapped, a tooltip is not
            descriptions[name] = " ".join((field.description or "").split())
    return descriptions


def _task(
    index: int,
    group: TaskRuns,
    questions: bool,
    most_pictures: int,
) -> dict[str, Any]:
    """Return what the template shows of one task, with thumbnails of at most so many pictures.

    Without `questions`, nothing that needs the answers.
    """
    parts: dict[str, Any] = {
        "group": group,
        "index": index,
        "headline": run_views.headline(group),
        "standings": standings(group),
        "templates": run_views.templates(group),
        "curves": run_views.curves(group),
        "slices": run_views.slices(group),
        "calibrated": run_views.calibrated(group),
    }
    if not questions:
        return {
            **parts,
            "answers": None,
            "biases": [],
            "sections": [],
            "analyses": [],
            "payload": None,
        }
    # made once for all sections: of a large task it is the slowest part of the page
    choices = [answers.choices(entry.run) for entry in group.entries]
    sections = []
    for address in collect(lambda plugin: plugin.page_sections).values():
        render_section = load_address(address)
        sections.append(render_section(group, choices))
    return {
        **parts,
        "answers": run_views.answer_shares(group, choices),
        "biases": run_views.biases(group, choices),
        "sections": sections,
        "analyses": [analysis for analysis in group_analyses(group) if analysis.charts],
        "payload": answers.payload(group, choices, most_pictures),
    }
