"""What the report's templates are given: rows of figures, each with its drawing and its
description."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from seesay.questions import SLOT, Published, Slice, Template
from seesay.reports import answers
from seesay.reports.answers import Choices
from seesay.reports.charts.dotplot import (
    DotMark,
    describe,
    dot_row,
    percent_axis,
    share_bar,
    tick_labels,
)
from seesay.reports.charts.kernel import Axis, swatch, swatches
from seesay.reports.charts.lines import Series, lines
from seesay.reports.formatting import (
    count_range,
    finding,
    is_shown,
    lower_is_better,
    metric_name,
    number,
    part_name,
    with_part,
)
from seesay.reports.groups import LabelledRun, TaskRuns
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Comparison, Figure

TAG_TITLES = {"labels": "number of right labels", "level": "may be at a similar level"}
"""Tags whose name says too little by itself."""

MAX_OPEN_ROWS = 14
"""A tag with more values than this is folded away."""


@dataclass(frozen=True)
class PlotRow:
    """One row of a dot plot: the models' figures in order, or one published figure."""

    name: Markup | str
    plot: Markup
    figures: tuple[Figure | None, ...] = ()
    published: Published | None = None
    series: int | None = None
    paint: str | None = None

    @property
    def n(self) -> str:
        """How many questions the figures rest on; both ends where models were asked differently
        many."""
        return count_range([figure.n for figure in self.figures if figure])


@dataclass(frozen=True)
class DotPlot:
    """Rows that share an axis."""

    title: str
    axis: Markup
    rows: tuple[PlotRow, ...]
    folded: bool = False


def headline(group: TaskRuns) -> DotPlot:
    """The task's headline figure for each model, followed by the published ones; nested parts one
    by one."""
    figures = [
        (part, entry, entry.figure(group.headline, part=part))
        for part in group.parts
        for entry in group.entries
    ]
    published = [row for part in group.parts for row in group.published(part)]
    x = _axis([figure for *_, figure in figures], (row.value for row in published))
    rows = []
    for part, entry, figure in figures:
        name = with_part(entry.label, part)
        rows.append(PlotRow(name, _dots(x, [(entry, figure)]), (figure,), series=entry.series))
    rows += [_published_row(x, row) for row in published]
    return DotPlot(metric_name(group.headline), tick_labels(x), tuple(rows))


def templates(group: TaskRuns) -> DotPlot:
    """The headline figure for each template, the first model's best template on top."""
    by_template = []
    for template in group.task.templates:
        if any(figures := [entry.figure(group.headline, template.name) for entry in group.entries]):
            by_template.append((template, figures))
    sign = 1 if lower_is_better(group.headline) else -1
    by_template.sort(key=lambda item: sign * next(figure.value for figure in item[1] if figure))
    x = _axis([figure for _, figures in by_template for figure in figures])
    rows = [
        PlotRow(
            template_markup(template),
            _dots(x, zip(group.entries, figures, strict=True)),
            tuple(figures),
        )
        for template, figures in by_template
    ]
    return DotPlot(metric_name(group.headline), tick_labels(x), tuple(rows))


def slices(group: TaskRuns) -> list[DotPlot]:
    """The headline figure for each slice, one plot per tag or combination of tags."""
    by_slice = {
        part: [entry.figure(group.headline, part=part) for entry in group.entries]
        for part in group.slices
    }
    x = _axis([figure for figures in by_slice.values() for figure in figures])
    plots: dict[tuple[str, ...], list[PlotRow]] = {}
    for part, figures in by_slice.items():
        drawing = _dots(x, zip(group.entries, figures, strict=True))
        rows = plots.setdefault(part.tags, [])
        paint = swatch(part.items[0][1]) if len(part.items) == 1 else None
        rows.append(PlotRow(part_name(part), drawing, tuple(figures), paint=paint))
        rows += [_published_row(x, row) for row in group.published(part)]
    return [
        DotPlot(tags_title(tags), tick_labels(x), tuple(rows), len(rows) > MAX_OPEN_ROWS)
        for tags, rows in plots.items()
    ]


def tags_title(tags: Sequence[str]) -> str:
    """The tags of a slice in words."""
    return " × ".join(TAG_TITLES.get(tag, tag) for tag in tags)


def curves(group: TaskRuns) -> list[tuple[str, list[Markup]]]:
    """Of nested questions: the headline figure over the sets, from the widest to the narrowest.

    Overall, by every other tag and by template: a title, and one chart per value. Only sets with
    numbers are drawn.
    """
    nested = group.task.nested_by
    parts = [part for part in group.parts if part and re.search(r"\d+", part[nested])]
    if len(parts) < 2:
        return []

    def chart(title: str, template: str | None, others: Slice | None) -> Markup:
        series = []
        chance = {}
        for entry in group.entries:
            points = []
            for part in parts:
                crossed = Slice((*part.items, *(others.items if others else ())))
                if figure := entry.figure(group.headline, template, crossed):
                    x = _last_number(part[nested])
                    points.append((x, figure.value, figure.low, figure.high))
                    if figure.chance is not None:
                        chance[x] = figure.chance
            if points:
                series.append(Series(entry.label, *map(list, zip(*points, strict=True))))
        if chance:
            series.append(Series("chance", list(chance), list(chance.values())))
        return lines(series, title=title, x_label=nested, y_label=metric_name(group.headline))

    by_tag: dict[tuple[str, ...], list[Slice]] = {}
    for part in group.slices:
        if nested in part.tags and (others := part.without(nested)):
            values = by_tag.setdefault(others.tags, [])
            if others not in values:
                values.append(others)
    panels = [(nested, [chart(group.title, None, None)])]
    panels += [
        (
            f"{' × '.join(tags)} × {nested}",
            [chart(part_name(value), None, value) for value in values],
        )
        for tags, values in by_tag.items()
    ]
    if len(group.task.templates) > 1:
        panels.append(
            (f"template × {nested}", [chart(t.text, t.name, None) for t in group.task.templates])
        )
    return panels


def _last_number(text: str) -> float:
    return float(re.findall(r"\d+", text)[-1])


def calibrated(group: TaskRuns) -> DotPlot | None:
    """Each metric as it is (filled) and under the calibrated rule (hollow), where the run has
    both."""
    both = [
        (entry, with_part(metric, part), plain, other)
        for entry in group.entries
        for metric in entry.metrics
        for part in group.parts
        if (plain := entry.figure(metric, part=part))
        and (other := entry.figure(CALIBRATED + metric, part=part))
    ]
    if not both:
        return None
    x = _axis([figure for *_, plain, other in both for figure in (plain, other)])
    rows = []
    for entry, metric, plain, other in both:
        marks = [_mark(entry, plain), _mark(entry, other, hollow=True)]
        label = f"{entry.label}, {metric}: {_described('plain', plain)}; {_described('calibrated', other)}"
        with_label = Markup("{} <span class='quiet'>{}</span>").format(metric, entry.label)
        name = with_label if len(group.entries) > 1 else metric
        rows.append(PlotRow(name, dot_row(x, marks, label, plain.chance), (plain, other)))
    return DotPlot("plain and calibrated", tick_labels(x), tuple(rows))


def answer_shares(group: TaskRuns, chosen: Sequence[Choices]) -> dict[str, Any] | None:
    """The shares of a few options among gold and chosen answers, and the confusion matrices."""
    options = answers.shared_options(group.task)
    if options is None:
        return None
    paint = swatches(options)
    single = answers.with_one_answer(group.task)
    labelled = list(zip(group.entries, chosen, strict=True))

    def confusion(by_key: Choices) -> list[tuple[str, str, list[float] | None]]:
        return list(
            zip(options, paint, answers.confusion(group.task, by_key, options), strict=True)
        )

    lines: list[tuple[str, list[float], int | None]] = [
        ("gold", answers.gold_shares(group.task, options), None)
    ]
    lines += [
        (entry.label, answers.choice_shares(by_key, options), entry.series)
        for entry, by_key in labelled
    ]
    return {
        "options": list(zip(options, paint, strict=True)),
        "bars": [
            (name, series, _bar(name, options, paint, shares)) for name, shares, series in lines
        ],
        "confusions": [
            (entry.label, entry.series, confusion(by_key)) for entry, by_key in labelled if single
        ],
        "single": len(single),
    }


def comparisons(compared: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Paired differences on one axis with zero in the middle."""
    x = percent_axis(
        [end for c in compared for end in (c.low, c.high, c.difference)], centered=True
    )
    return [
        {
            "comparison": c,
            "axis": tick_labels(x),
            "shown": is_shown(c),
            "finding": finding(c),
            "plot": dot_row(
                x, [DotMark(c.difference, c.low, c.high, 0, not is_shown(c))], finding(c), zero=True
            ),
        }
        for c in compared
    ]


def template_markup(template: Template) -> Markup:
    """A template as people read it: its fields in italics, a blank for the slot."""
    blank = Markup('<span class="slot" role="img" aria-label="blank"></span>')
    parts = []
    for text, field in answers.template_pieces(template):
        before, slot, after = text.partition(SLOT)
        parts.append(Markup("{}{}{}").format(before, blank if slot else "", after))
        if field:
            parts.append(Markup("<i>{}</i>").format(field))
    return Markup("").join(parts)


def _published_row(x: Axis, row: Published) -> PlotRow:
    drawing = dot_row(x, [DotMark(row.value)], f"As published: {describe(row.model, row.value)}")
    return PlotRow(row.model, drawing, published=row)


def _bar(
    name: str, options: Sequence[str], paint: Sequence[str], shares: Sequence[float]
) -> Markup:
    spoken = ", ".join(
        f"{o} {100 * s:.0f} %" for o, s in zip(options, shares, strict=True) if s > 0
    )
    return share_bar(list(zip(options, paint, shares, strict=True)), f"{name}: {spoken}")


def _axis(figures: Sequence[Figure | None], others: Iterable[float] = ()) -> Axis:
    ends = [
        end
        for figure in figures
        if figure
        for end in (figure.value, figure.low, figure.high, figure.chance)
    ]
    return percent_axis([*ends, *others])


def _mark(entry: LabelledRun, figure: Figure, hollow: bool = False) -> DotMark:
    return DotMark(figure.value, figure.low, figure.high, entry.series, hollow)


def _described(name: str, figure: Figure) -> str:
    return describe(name, figure.value, figure.low, figure.high)


def _dots(x: Axis, pairs: Iterable[tuple[LabelledRun, Figure | None]]) -> Markup:
    defined = [(entry, figure) for entry, figure in pairs if figure]
    chance = next((figure.chance for _, figure in defined if figure.chance is not None), None)
    label = "; ".join(_described(entry.label, figure) for entry, figure in defined)
    if chance is not None:
        label += f"; chance {number(chance)}"
    return dot_row(x, [_mark(entry, figure) for entry, figure in defined], label, chance)
