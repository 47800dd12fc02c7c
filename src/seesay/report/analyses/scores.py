"""How models fare on parts of ViPhy: tables of figures that the runs already hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seesay.report.analyses.base import Analysis, Score
from seesay.report.charts import Bar, Series, bars, lines
from seesay.report.formatting import metric_name
from seesay.report.groups import Group

if TYPE_CHECKING:
    from seesay.runs.learning_curve import Band

BY_TAG = {
    "labels": ("score-by-cardinality", "By number of right labels", "Fig. 5"),
    "category": ("score-by-category", "By category", "Fig. 6"),
    "scene": ("score-by-scene", "By scene", "Fig. 13"),
}
"""Tag → the analysis's name, title and figure. On the page these are the parts of the questions, drawn for any tag."""

SIZE_SETS = {"viphy-size": "standard", "viphy-size-subtype": "subtype", "viphy-size-transitive": "transitive"}


def by_tag(group: Group, tag: str) -> Analysis:
    """The headline for every value of a tag, each model's and the published ones."""
    rows = []
    for entry in group.entries:
        for figure in entry.run.figures:
            name, _, part = (figure.slice or "").partition("=")
            if name == tag and figure.metric == group.headline and figure.template is None:
                rows.append(Score(part, entry.label, figure.metric, figure.value, figure.low, figure.high, figure.n))
    for row in group.task.published:
        name, _, part = (row.slice or "").partition("=")
        if name == tag and row.metric == group.headline:
            rows.append(Score(part, row.model, row.metric, row.value, source=row.source))
    name, title, figure_name = BY_TAG[tag]
    return Analysis(name, group.task.name, title, figure_name, "The headline figure on each part.", rows)


def size_sets(groups: Sequence[Group]) -> list[Analysis]:
    """Standard pairs beside subtypes and things never seen together (Table 6): an analysis a way of asking.

    Where a set was asked in several sizes (a limited run beside a full one), the largest stands. One set alone is no
    comparison.
    """
    ways: dict[str, dict[str, Group]] = {}
    for group in groups:
        if group.task.name in SIZE_SETS:
            of_set = ways.setdefault(group.way, {})
            known = of_set.get(group.task.name)
            if known is None or len(group.task.questions) > len(known.task.questions):
                of_set[group.task.name] = group
    compared = {way: of_set for way, of_set in ways.items() if len(of_set) > 1}
    return [_size_sets(of_set, f", asked as: {way}" if len(compared) > 1 else "") for way, of_set in compared.items()]


def _size_sets(of_set: Mapping[str, Group], asked: str) -> Analysis:
    rows: list[Score] = []
    for name, part in SIZE_SETS.items():
        if name in of_set:
            rows += _overall(of_set[name], part)
    by_model = sorted(rows, key=lambda row: row.source is not None)
    drawn = [Bar(_named(row), row.value, row.low, row.high, row.part) for row in by_model]
    text = (
        "What was learnt of the standard pairs, asked of their subtypes and of pairs known only through a third thing. "
        "In the published transitive set the first thing is always the smaller one: who always says so is always right."
    )
    chart = bars(drawn, title="Sizes: three sets of pairs", x_label=metric_name(rows[0].metric))
    return Analysis("size-sets", "viphy-size", f"Sizes by inference{asked}", "Table 6", text, rows, (chart,))


def few_shot(bands: Sequence[Band]) -> list[Analysis]:
    """What linear probes learn from a part of the training questions (Fig. 8, 9): an analysis a task and metric."""
    return [_few_shot(task, metric, bands) for task, metric in dict.fromkeys((b.task, b.metric) for b in bands)]


def _few_shot(task: str, metric: str, bands: Sequence[Band]) -> Analysis:
    rows = [band for band in bands if (band.task, band.metric) == (task, metric)]
    series = []
    for model in dict.fromkeys(row.model for row in rows):
        of = [row for row in rows if row.model == model]
        x, y, low, high = ([getattr(row, name) for row in of] for name in ("fraction", "mean", "low", "high"))
        series.append(Series(model, x, y, low, high))
    labels = {"x_label": "fraction of the training questions", "y_label": metric_name(metric)}
    chart = lines(series, title=f"{task}: learning from a few", log_x=True, **labels)
    text = "The linear probe after learning from a part of the training questions; the band is the range over seeds."
    return Analysis("few-shot", task, "Learning from a few", "Fig. 8 and 9", text, rows, (chart,))


def _overall(group: Group, part: str) -> list[Score]:
    metric = group.headline
    figures = [(entry.label, entry.figure(metric)) for entry in group.entries]
    rows = [Score(part, name, metric, f.value, f.low, f.high, f.n) for name, f in figures if f]
    published = [row for row in group.task.published if row.metric == metric and row.slice is None]
    return rows + [Score(part, row.model, metric, row.value, source=row.source) for row in published]


def _named(row: Score) -> str:
    return f"{row.model} (published)" if row.source else row.model
