"""Analyses of models' scores: by the tags of questions, by task side by side, and over fractions of
the training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seesay.grouping import group_by
from seesay.reports.analysis import Analysis, PartScore
from seesay.reports.charts import Bar, Series, bars, lines
from seesay.reports.formatting import metric_name
from seesay.reports.gold_analyses import has_tag, task_analyses
from seesay.reports.groups import LabelledRun, TaskRuns, asked_as
from seesay.runs.run import run_labels
from seesay.tasks.page_analyses import COMPARED_TASKS, PAGE_ANALYSES, ComparedTasks
from seesay.tasks.viphy.facts import SOURCE

if TYPE_CHECKING:
    from seesay.runs.learning_curve import Band

BY_TAG = {
    "labels": ("score-by-cardinality", "By number of right labels", "Fig. 5"),
    "category": ("score-by-category", "By category", "Fig. 6"),
    "scene": ("score-by-scene", "By scene", "Fig. 13"),
}
"""Tag → the analysis's name, title and figure. The page draws these as slices, which it has for any
tag."""


def group_analyses(group: TaskRuns) -> list[Analysis]:
    """The analyses of models' scores by tag, and of the task's questions, where the task is
    declared to have them."""
    if group.task.name not in PAGE_ANALYSES:
        return []
    tagged = [by_tag(group, tag) for tag in BY_TAG if has_tag(group.task, tag)]
    return [*(analysis for analysis in tagged if analysis.rows), *task_analyses(group.task)]


def by_tag(group: TaskRuns, tag: str) -> Analysis:
    """The headline figure for every value of a tag, for each model and as published; by the number
    of labels also the confidence."""
    if tag == "labels":
        metrics = [group.headline, "true_confidence"]
    else:
        metrics = [group.headline]
    rows = []
    for entry in group.entries:
        for part, figure in entry.figures_by(tag, *metrics):
            ends = figure.low, figure.high
            rows.append(PartScore(part, entry.label, figure.metric, figure.value, *ends, figure.n))
    for row in group.task.published:
        if row.slice and row.slice.tags == (tag,) and row.metric == group.headline:
            rows.append(
                PartScore(row.slice[tag], row.model, row.metric, row.value, source=row.source)
            )
    name, title, figure_name = BY_TAG[tag]
    source = f"{SOURCE}, {figure_name}"
    return Analysis(name, group.task.name, title, source, "The headline figure on each part.", rows)


def cross_task_analyses(groups: Sequence[TaskRuns]) -> list[Analysis]:
    """Tasks that are declared to be compared, side by side: one analysis per way of asking."""
    return [
        analysis for compared in COMPARED_TASKS for analysis in _compare_tasks(compared, groups)
    ]


def _compare_tasks(compared: ComparedTasks, groups: Sequence[TaskRuns]) -> list[Analysis]:
    """Of several sizes of a task (a limited run and a full one) the largest is used. A single task
    is no comparison."""
    ways: dict[str, dict[str, TaskRuns]] = {}
    for group in groups:
        if group.task.name in compared.parts:
            by_task = ways.setdefault(asked_as(group.task), {})
            other = by_task.get(group.task.name)
            if other is None or len(group.task.questions) > len(other.task.questions):
                by_task[group.task.name] = group
    several = {way: by_task for way, by_task in ways.items() if len(by_task) > 1}
    return [
        _side_by_side(compared, by_task, f", asked as: {way}" if len(several) > 1 else "")
        for way, by_task in several.items()
    ]


def _side_by_side(
    compared: ComparedTasks, by_task: Mapping[str, TaskRuns], suffix: str
) -> Analysis:
    rows = [
        row
        for task, part in compared.parts.items()
        if task in by_task
        for row in _overall(by_task[task], part)
    ]
    drawn = []
    for row in sorted(rows, key=lambda row: row.source is not None):
        name = f"{row.model} (published)" if row.source else row.model
        drawn.append(Bar(name, row.value, row.low, row.high, row.part))
    chart = bars(drawn, title=compared.chart_title, x_label=metric_name(rows[0].metric))
    first_task = next(iter(compared.parts))
    title = compared.title + suffix
    return Analysis(
        compared.name, first_task, title, compared.source, compared.text, rows, (chart,)
    )


def _overall(group: TaskRuns, part: str) -> list[PartScore]:
    metric = group.headline
    largest: dict[tuple[str, ...], LabelledRun] = {}
    for entry in sorted(group.entries, key=lambda entry: entry.run.manifest.questions):
        manifest = entry.run.manifest
        # of several limits the largest stands
        largest[manifest.model, manifest.scope, manifest.length] = entry
    entries = [entry for entry in group.entries if entry in largest.values()]
    labels = run_labels([entry.run for entry in entries])
    figures = [(label, entry.figure(metric)) for label, entry in zip(labels, entries, strict=True)]
    rows = [PartScore(part, name, metric, f.value, f.low, f.high, f.n) for name, f in figures if f]
    return rows + [
        PartScore(part, row.model, metric, row.value, source=row.source)
        for row in group.published()
    ]


def learning_curves(bands: Sequence[Band]) -> list[Analysis]:
    """Linear probes trained on fractions of the training questions: one analysis per task and
    metric."""
    by_figure = group_by(bands, lambda band: (band.task, band.metric))
    return [_learning_curve(task, metric, rows) for (task, metric), rows in by_figure.items()]


def _learning_curve(task: str, metric: str, rows: Sequence[Band]) -> Analysis:
    chart = lines(
        curve_series(rows),
        title=f"{task}: learning curve",
        x_label="fraction of the training questions",
        y_label=metric_name(metric),
        log_x=True,
    )
    text = "The linear probe trained on a fraction of the training questions; the band is the range over seeds."
    return Analysis(
        "learning-curve", task, "Learning curve", f"{SOURCE}, Fig. 8 and 9", text, rows, (chart,)
    )


def curve_series(bands: Sequence[Band], scale: float = 1) -> list[Series]:
    """A line with its band for each model, times `scale`."""
    series = []
    for model, rows in group_by(bands, lambda band: band.model).items():
        ends = ([scale * getattr(band, end) for band in rows] for end in ("mean", "low", "high"))
        series.append(Series(model, [band.fraction for band in rows], *ends))
    return series
