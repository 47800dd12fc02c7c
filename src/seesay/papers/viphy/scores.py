"""Models' scores on parts of ViPhy, from the figures that the runs hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seesay.reports.analysis import Analysis, PartScore
from seesay.reports.charts import Bar, Series, bars, lines
from seesay.reports.formatting import metric_name
from seesay.reports.groups import LabelledRun, TaskRuns, asked_as
from seesay.runs.run import run_labels

if TYPE_CHECKING:
    from seesay.runs.learning_curve import Band

BY_TAG = {
    "labels": ("score-by-cardinality", "By number of right labels", "Fig. 5"),
    "category": ("score-by-category", "By category", "Fig. 6"),
    "scene": ("score-by-scene", "By scene", "Fig. 13"),
}
"""Tag → the analysis's name, title and figure. The page draws these as slices, which it has for any tag."""

SIZE_SETS = {"viphy-size": "standard", "viphy-size-subtype": "subtype", "viphy-size-transitive": "transitive"}


def by_tag(group: TaskRuns, tag: str) -> Analysis:
    """The headline figure for every value of a tag, for each model and as published; with the confidence by the number
    of labels, as Figure 5 has both."""
    shown = (group.headline, "true_confidence") if tag == "labels" else (group.headline,)
    rows = []
    for entry in group.entries:
        for figure in entry.run.figures:
            if figure.metric in shown and figure.template is None and figure.slice and figure.slice.tags == (tag,):
                ends = figure.low, figure.high
                rows.append(PartScore(figure.slice[tag], entry.label, figure.metric, figure.value, *ends, figure.n))
    for row in group.task.published:
        if row.slice and row.slice.tags == (tag,) and row.metric == group.headline:
            rows.append(PartScore(row.slice[tag], row.model, row.metric, row.value, source=row.source))
    name, title, figure_name = BY_TAG[tag]
    return Analysis(name, group.task.name, title, figure_name, "The headline figure on each part.", rows)


def cross_task_analyses(groups: Sequence[TaskRuns]) -> list[Analysis]:
    """Standard, subtype and transitive pairs side by side (Table 6): one analysis per way of asking.

    Of several sizes of a set (a limited run and a full one) the largest is used. A single set is no comparison.
    """
    ways: dict[str, dict[str, TaskRuns]] = {}
    for group in groups:
        if group.task.name in SIZE_SETS:
            of_set = ways.setdefault(asked_as(group.task), {})
            other = of_set.get(group.task.name)
            if other is None or len(group.task.questions) > len(other.task.questions):
                of_set[group.task.name] = group
    compared = {way: of_set for way, of_set in ways.items() if len(of_set) > 1}
    return [_size_sets(of_set, f", asked as: {way}" if len(compared) > 1 else "") for way, of_set in compared.items()]


def _size_sets(of_set: Mapping[str, TaskRuns], suffix: str) -> Analysis:
    rows = [row for name, part in SIZE_SETS.items() if name in of_set for row in _overall(of_set[name], part)]
    drawn = []
    for row in sorted(rows, key=lambda row: row.source is not None):
        name = f"{row.model} (published)" if row.source else row.model
        drawn.append(Bar(name, row.value, row.low, row.high, row.part))
    text = (
        "The standard pairs, their subtypes, and pairs that are comparable only through a third object. In the "
        "published transitive set the first object is always the smaller one: a model that always says so scores 1."
    )
    chart = bars(drawn, title="Sizes: three sets of pairs", x_label=metric_name(rows[0].metric))
    return Analysis("size-sets", "viphy-size", f"Sizes by inference{suffix}", "Table 6", text, rows, (chart,))


def learning_curves(bands: Sequence[Band]) -> list[Analysis]:
    """Linear probes trained on fractions of the training questions (Fig. 8, 9): one analysis per task and metric."""
    return [_learning_curve(task, metric, bands) for task, metric in dict.fromkeys((b.task, b.metric) for b in bands)]


def _learning_curve(task: str, metric: str, bands: Sequence[Band]) -> Analysis:
    rows = [band for band in bands if (band.task, band.metric) == (task, metric)]
    chart = lines(
        curve_series(rows),
        title=f"{task}: learning curve",
        x_label="fraction of the training questions",
        y_label=metric_name(metric),
        log_x=True,
    )
    text = "The linear probe trained on a fraction of the training questions; the band is the range over seeds."
    return Analysis("learning-curve", task, "Learning curve", "Fig. 8 and 9", text, rows, (chart,))


def curve_series(bands: Sequence[Band], scale: float = 1) -> list[Series]:
    """A line with its band for each model, times `scale`."""
    series = []
    for model in dict.fromkeys(band.model for band in bands):
        own = [band for band in bands if band.model == model]
        ends = ([scale * getattr(band, end) for band in own] for end in ("mean", "low", "high"))
        series.append(Series(model, [band.fraction for band in own], *ends))
    return series


def _overall(group: TaskRuns, part: str) -> list[PartScore]:
    metric = group.headline
    largest: dict[tuple[str, ...], LabelledRun] = {}
    for entry in sorted(group.entries, key=lambda entry: entry.run.manifest.questions):
        manifest = entry.run.manifest
        largest[manifest.model, manifest.scope, manifest.length] = entry  # of several limits the largest stands
    entries = [entry for entry in group.entries if entry in largest.values()]
    labels = run_labels([entry.run for entry in entries])
    figures = [(label, entry.figure(metric)) for label, entry in zip(labels, entries, strict=True)]
    rows = [PartScore(part, name, metric, f.value, f.low, f.high, f.n) for name, f in figures if f]
    return rows + [PartScore(part, row.model, metric, row.value, source=row.source) for row in group.published()]
