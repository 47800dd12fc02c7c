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
from seesay.reports.chance import standings
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
    FEW,
    SAMPLE,
    count_range,
    finding,
    is_shown,
    metric_name,
    number,
    part_name,
    ranking_sign,
    verdict,
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
    standing: str = ""
    """Where the figure stands if it is like chance, or worse."""
    mark: str = ""
    """Marks a figure of fewer or of other questions than the others."""

    @property
    def n(self) -> str:
        """How many questions the figures rest on.

        Both ends, where models were asked differently many; marked where they are about too few
        objects.
        """
        figures = [figure for figure in self.figures if figure]
        mark = FEW if any(figure.too_few for figure in figures) else ""
        return count_range([figure.n for figure in figures]) + mark


@dataclass(frozen=True)
class DotPlot:
    """Rows that share an axis."""

    title: str
    axis: Markup
    rows: tuple[PlotRow, ...]
    folded: bool = False


def headline(group: TaskRuns) -> DotPlot:
    """Return the task's headline figure for each model, followed by the published ones.

    Nested parts are shown one by one.
    """
    figures = [
        (part, entry, entry.figure(group.headline, part=part))
        for part in group.parts
        for entry in group.entries
    ]
    published = [row for part in group.parts for row in group.published(part)]
    x = _axis([figure for *_, figure in figures], [row.value for row in published])
    by_figure = standings(group)
    rows = []
    for part, entry, figure in figures:
        name = with_part(entry.label, part)
        drawing = _dots(x, [entry], [figure])
        rows.append(
            PlotRow(
                name,
                drawing,
                (figure,),
                series=entry.series,
                standing=by_figure.get((entry, part), ""),
                mark=SAMPLE if (entry, part) in group.other_samples else "",
            )
        )
    rows += [_published_row(x, row) for row in published]
    return DotPlot(
        metric_name(group.headline),
        tick_labels(x),
        tuple(rows),
    )


def templates(group: TaskRuns) -> DotPlot:
    """Return the headline figure for each template, the first model's best template on top."""
    by_template = []
    for template in group.task.templates:
        figures = [entry.figure(group.headline, template.name) for entry in group.entries]
        if any(figures):
            by_template.append((template, figures))
    sign = ranking_sign(group.headline)
    # the first model that has a figure at all: a run may lack a template that others have
    by_template.sort(key=lambda item: sign * next(figure.value for figure in item[1] if figure))
    x = _axis([figure for _, figures in by_template for figure in figures])
    rows = []
    for template, figures in by_template:
        drawing = _dots(x, group.entries, figures)
        rows.append(PlotRow(template_markup(template), drawing, tuple(figures)))
    return DotPlot(
        metric_name(group.headline),
        tick_labels(x),
        tuple(rows),
    )


def slices(group: TaskRuns) -> list[DotPlot]:
    """Return the headline figure for each slice, one plot per tag or combination of tags."""
    by_slice = {part: _headline_figures(group, part) for part in group.slices}
    # one axis for all plots, so that they can be compared down the page
    x = _axis([figure for figures in by_slice.values() for figure in figures])
    rows_by_tags: dict[tuple[str, ...], list[PlotRow]] = {}
    for part, figures in by_slice.items():
        rows = rows_by_tags.setdefault(part.tags, [])
        paint = None
        if len(part.items) == 1:
            _, value = part.items[0]
            paint = swatch(value)
        drawing = _dots(x, group.entries, figures)
        rows.append(
            PlotRow(
                part_name(part),
                drawing,
                tuple(figures),
                paint=paint,
            )
        )
        rows += [_published_row(x, row) for row in group.published(part)]
    plots = []
    for tags, rows in rows_by_tags.items():
        is_folded = len(rows) > MAX_OPEN_ROWS
        plots.append(
            DotPlot(
                tags_title(tags),
                tick_labels(x),
                tuple(rows),
                is_folded,
            )
        )
    return plots


def _headline_figures(group: TaskRuns, part: Slice) -> list[Figure | None]:
    return [entry.figure(group.headline, part=part) for entry in group.entries]


def tags_title(tags: Sequence[str]) -> str:
    """Return the tags of a slice in words."""
    return " × ".join(TAG_TITLES.get(tag, tag) for tag in tags)


def curves(group: TaskRuns) -> list[tuple[str, list[Markup]]]:
    """Return, for nested questions, the headline figure over the sets, from the widest to the
    narrowest.

    Overall, by every other tag and by template: a title, and one chart per value. Only sets with
    numbers are drawn.
    """
    nested = group.task.nested_by
    parts = [part for part in group.parts if part and re.search(r"\d+", part[nested])]
    if len(parts) < 2:
        return []
    other_slices: dict[tuple[str, ...], list[Slice]] = {}
    for part in group.slices:
        if nested in part.tags and (other := part.without(nested)):
            # each value once, in the order of the run's figures
            values = other_slices.setdefault(other.tags, [])
            if other not in values:
                values.append(other)
    panels = [(nested, [_nested_chart(group, parts, group.title)])]
    for tags, values in other_slices.items():
        charts = [_nested_chart(group, parts, part_name(value), other=value) for value in values]
        panels.append((f"{' × '.join(tags)} × {nested}", charts))
    if len(group.task.templates) > 1:
        charts = [
            _nested_chart(group, parts, template.text, template=template.name)
            for template in group.task.templates
        ]
        panels.append((f"template × {nested}", charts))
    return panels


def _nested_chart(
    group: TaskRuns,
    parts: Sequence[Slice],
    title: str,
    *,
    template: str | None = None,
    other: Slice | None = None,
) -> Markup:
    """Draw a curve over nested sets for each model, for one template or slice or all."""
    nested = group.task.nested_by
    other_items = other.items if other else ()
    series = []
    chance = {}
    for entry in group.entries:
        points = []
        for part in parts:
            # figures of nested sets are those of the set and the other slice together
            crossed = Slice((*part.items, *other_items))
            figure = entry.figure(group.headline, template, crossed)
            if figure is None:
                continue
            x = _last_number(part[nested])
            points.append((x, figure.value, figure.low, figure.high))
            if figure.chance is not None:
                chance[x] = figure.chance
        if points:
            series.append(Series(entry.label, *map(list, zip(*points, strict=True))))
    if chance:
        series.append(
            Series(
                "chance",
                list(chance),
                list(chance.values()),
            )
        )
    return lines(
        series,
        title=title,
        x_label=nested,
        y_label=metric_name(group.headline),
    )


def _last_number(text: str) -> float:
    return float(re.findall(r"\d+", text)[-1])


def calibrated(group: TaskRuns) -> DotPlot | None:
    """Return each metric as it is (filled) and under the calibrated rule (hollow).

    Only where the run has both.
    """
    pairs = []
    for entry in group.entries:
        for metric in entry.metrics:
            for part in group.parts:
                plain = entry.figure(metric, part=part)
                calibrated = entry.figure(CALIBRATED + metric, part=part)
                if plain and calibrated:
                    pairs.append((entry, with_part(metric, part), plain, calibrated))
    if not pairs:
        return None
    x = _axis([figure for *_, plain, calibrated in pairs for figure in (plain, calibrated)])
    rows = []
    for entry, metric, plain, calibrated in pairs:
        marks = [_mark(entry, plain), _mark(entry, calibrated, hollow=True)]
        both = f"{_described('plain', plain)}; {_described('calibrated', calibrated)}"
        drawing = dot_row(
            x,
            marks,
            f"{entry.label}, {metric}: {both}",
            plain.chance,
        )
        name: Markup | str = metric
        if len(group.entries) > 1:
            name = Markup("{} <span class='quiet'>{}</span>").format(metric, entry.label)
        rows.append(PlotRow(name, drawing, (plain, calibrated)))
    return DotPlot("plain and calibrated", tick_labels(x), tuple(rows))


def answer_shares(group: TaskRuns, choices: Sequence[Choices]) -> dict[str, Any] | None:
    """Return the shares of a few options among gold and chosen answers.

    Confusion matrices are there for questions with one right answer.
    """
    task = group.task
    options = answers.shared_options(task)
    if options is None:
        return None
    paint = swatches(options)
    gold = answers.gold_shares(task, options)
    bars: list[tuple[str, int | None, Markup]] = [
        ("gold", None, _bar("gold", options, paint, gold))
    ]
    confusions = []
    single = answers.with_one_answer(task)
    for entry, by_key in zip(group.entries, choices, strict=True):
        shares = answers.choice_shares(by_key, options)
        bars.append((entry.label, entry.series, _bar(entry.label, options, paint, shares)))
        if single:
            matrix = answers.confusion(task, by_key, options)
            rows = list(zip(options, paint, matrix, strict=True))
            confusions.append((entry.label, entry.series, rows))
    return {
        "options": list(zip(options, paint, strict=True)),
        "bars": bars,
        "confusions": confusions,
        "single": len(single),
    }


def biases(group: TaskRuns, choices: Sequence[Choices]) -> list[str]:
    """Return in words which models prefer one place among the options, whatever is asked."""
    sentences = []
    for entry, by_key in zip(group.entries, choices, strict=True):
        # a baseline that always says the same does what it is there for
        if entry.run.manifest.family == "baseline":
            continue
        bias = answers.place_bias(entry.run.task, by_key)
        if bias:
            sentences.append(
                f"{entry.label} chooses {bias.place} in {bias.chosen:.0%} of its answers; that "
                f"is right for {bias.right:.0%} of the questions."
            )
    return sentences


def comparisons(compared: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return paired differences on one axis with zero in the middle."""
    ends = [end for c in compared for end in (c.low, c.high, c.difference)]
    x = percent_axis(ends, centered=True)
    rows = []
    for comparison in compared:
        significant = is_shown(comparison)
        # hollow, as a difference that was not shown may be none
        mark = DotMark(
            comparison.difference,
            comparison.low,
            comparison.high,
            0,
            not significant,
        )
        row = {
            "comparison": comparison,
            "axis": tick_labels(x),
            "shown": significant,
            "verdict": verdict(comparison),
            "plot": dot_row(x, [mark], finding(comparison), zero=True),
        }
        rows.append(row)
    return rows


def template_markup(template: Template) -> Markup:
    """Return a template as people read it: its fields in italics, a blank for the slot."""
    blank = Markup('<span class="slot" role="img" aria-label="blank"></span>')
    parts = []
    for text, field in answers.template_pieces(template):
        before, slot, after = text.partition(SLOT)
        parts.append(
            Markup("{}{}{}").format(
                before,
                blank if slot else "",
                after,
            )
        )
        if field:
            parts.append(Markup("<i>{}</i>").format(field))
    return Markup("").join(parts)


def _published_row(x: Axis, row: Published) -> PlotRow:
    """Return a row for a published figure, which has no interval."""
    label = f"As published: {describe(row.model, row.value)}"
    drawing = dot_row(
        x,
        [DotMark(row.value)],
        label,
    )
    return PlotRow(row.model, drawing, published=row)


def _bar(
    name: str,
    options: Sequence[str],
    paint: Sequence[str],
    shares: Sequence[float],
) -> Markup:
    """Draw shares as a divided bar, with the same in words for screen readers."""
    spoken = []
    for option, share in zip(options, shares, strict=True):
        if share > 0:
            spoken.append(f"{option} {100 * share:.0f} %")
    parts = list(zip(options, paint, shares, strict=True))
    return share_bar(parts, f"{name}: {', '.join(spoken)}")


def _axis(figures: Sequence[Figure | None], others: Iterable[float] = ()) -> Axis:
    """Return an axis that holds the figures, their intervals and chance."""
    ends: list[float | None] = []
    for figure in figures:
        if figure:
            ends += [
                figure.value,
                figure.low,
                figure.high,
                figure.chance,
            ]
    return percent_axis([*ends, *others])


def _mark(entry: LabelledRun, figure: Figure, hollow: bool = False) -> DotMark:
    return DotMark(
        figure.value,
        figure.low,
        figure.high,
        entry.series,
        hollow,
    )


def _described(name: str, figure: Figure) -> str:
    return describe(
        name,
        figure.value,
        figure.low,
        figure.high,
    )


def _dots(x: Axis, entries: Sequence[LabelledRun], figures: Sequence[Figure | None]) -> Markup:
    """Draw the figures that there are, each as its run's mark."""
    marks = []
    descriptions = []
    chance = None
    for entry, figure in zip(entries, figures, strict=True):
        if figure is None:
            continue
        marks.append(_mark(entry, figure))
        descriptions.append(_described(entry.label, figure))
        # models are asked the same, so that one tick stands for all
        if chance is None:
            chance = figure.chance
    label = "; ".join(descriptions)
    if chance is not None:
        label += f"; chance {number(chance)}"
    return dot_row(x, marks, label, chance)
