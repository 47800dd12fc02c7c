"""Horizontal bars with intervals, and stacked bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seesay.reports.charts.kernel import (
    WIDTH,
    axis,
    chart,
    element,
    empty_chart,
    group,
    horizontal_line,
    is_interval,
    legend,
    series_class,
    series_legend,
    square,
    swatches,
    text,
    text_width,
    tooltip,
    vertical_line,
    x_axis,
)
from seesay.reports.formatting import brief, number

ROOM = 170.0
NARROW = 200.0
"""Bars that are not longer have room for three labels below them."""


@dataclass(frozen=True)
class Bar:
    """A value with its interval, if any; bars of one name are drawn together, one per series."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    series: str = ""


def bars(
    rows: Sequence[Bar],
    *,
    title: str,
    x_label: str = "",
    x_end: float = 0.0,
    chance: float | None = None,
    averages: Mapping[str, float] | None = None,
) -> Markup:
    """Draw bars from zero with their numbers at the right, on an axis that reaches `x_end`.

    A missing value leaves a gap. `chance` is a dashed line, and so are `averages`, by series.
    """
    names = list(dict.fromkeys(row.name for row in rows))
    series = list(dict.fromkeys(row.series for row in rows))
    ends = [end for row in rows for end in (row.value, row.low, row.high) if end is not None]
    finite_ends = [end for end in ends if math.isfinite(end)]
    if not finite_ends:
        return empty_chart("bars", title)
    left = text_width(names, ROOM) + 8
    x = axis(
        [x_end, *finite_ends],
        left,
        WIDTH - 46,
        zero=True,
    )
    thickness = 15.0
    parts: list[Markup] = []
    y = 4.0
    if len(series) > 1:
        thickness = 11.0
        parts, legend_height = series_legend(series, square("fill"))
        y += legend_height
    top = y
    marks = []
    for name in names:
        # bars of one name stand together, whatever series comes between them in the rows
        same_name = [row for row in rows if row.name == name]
        middle = y + thickness * len(same_name) / 2
        marks.append(text(left - 8, middle + 4, name, "end", ROOM))
        for row in same_name:
            bar = _bar(row, x.at, y, thickness)
            # what says that a value is missing is no part of its series
            if math.isfinite(row.value):
                bar = group([bar], series_class(series.index(row.series)))
            marks.append(bar)
            y += thickness
        y += 6
    parts += x_axis(x, y, x_label, top)
    if chance is not None:
        marks.append(vertical_line(x.at(chance), top, y, "leader"))
    for name, average in (averages or {}).items():
        line = element(
            "line",
            tooltip(f"{name}: {brief(average)} on average"),
            x1=x.at(average),
            x2=x.at(average),
            y1=top,
            y2=y,
            class_="average",
        )
        marks.append(group([line], series_class(series.index(name))))
    return chart(
        "bars",
        WIDTH,
        y + 36,
        title,
        [*parts, *marks],
    )


def _bar(
    row: Bar,
    at: Callable[[float], float],
    y: float,
    thickness: float,
) -> Markup:
    """Draw a bar with its whisker and its number, or say that there is none."""
    middle = y + thickness / 2
    if not math.isfinite(row.value):
        return text(WIDTH, middle + 4, brief(row.value), "note end")
    start, end = sorted((at(0.0), at(row.value)))
    name = f"{row.name}, {row.series}" if row.series else row.name
    description = f"{name}: {brief(row.value)}"
    whisker = Markup("")
    low = row.low
    high = row.high
    if low is not None and high is not None and is_interval(low, high):
        description += f" ({brief(low)} to {brief(high)})"
        whisker = horizontal_line(at(low), at(high), middle, "spread")
    bar = element(
        "rect",
        tooltip(description),
        x=start,
        y=y + 1,
        width=end - start,
        height=thickness - 2,
        class_="fill",
    )
    # shares have a fixed number of decimals, so that they can be compared down the column
    is_share = abs(row.value) < 10 and not isinstance(row.value, int)
    figure = number(row.value) if is_share else brief(row.value)
    return bar + whisker + text(WIDTH, middle + 4, figure, "note end")


def stacked_bars(
    rows: Sequence[tuple[str, Sequence[float]]],
    parts: Sequence[str],
    *,
    title: str,
    room: float = ROOM,
) -> Markup:
    """Draw bars of equal length, divided in proportion to their values.

    Color words are drawn in their own color. `room` is for the names.
    """
    if not rows or not parts:
        return empty_chart("stacked-bars", title)
    left = text_width([name for name, _ in rows], room) + 8
    paint = swatches(parts)
    keys = [square(f"part {class_}") + square("outline") for class_ in paint]
    marks, y = legend(parts, keys)
    y += 6
    for name, values in rows:
        if len(values) != len(parts) or any(value < 0 for value in values):
            raise ValueError(f"'{name}' needs {len(parts)} values of at least 0")
        marks.append(text(left - 8, y + 11, name, "end", room))
        shares = [value if math.isfinite(value) else 0.0 for value in values]
        if any(shares):
            marks += _divided_bar(name, shares, parts, paint, left, y)
        else:
            marks.append(text(left, y + 11, "–", "note"))
        y += 19
    length = WIDTH - left
    percentages = (0, 25, 50, 75, 100) if length > NARROW else (0, 50, 100)
    for percentage in percentages:
        # the last label would reach over the edge
        anchor = "end" if percentage == 100 else "middle"
        x = left + length * percentage / 100
        marks.append(
            text(
                x,
                y + 12,
                f"{percentage} %",
                f"tick {anchor}",
            )
        )
    return chart("stacked-bars", WIDTH, y + 18, title, marks)


def _divided_bar(
    name: str,
    shares: Sequence[float],
    parts: Sequence[str],
    paint: Sequence[str],
    left: float,
    y: float,
) -> list[Markup]:
    """Draw one bar of full length, each part with its share as a tooltip."""
    total = sum(shares)
    length = WIDTH - left
    marks = []
    x = left
    for part, class_, share in zip(parts, paint, shares, strict=True):
        if not share:
            continue
        description = f"{name}: {part} {100 * share / total:.3g} %"
        width = length * share / total
        rectangle = element(
            "rect",
            tooltip(description),
            x=x,
            y=y,
            width=width,
            height=15.0,
            class_=f"part {class_}",
        )
        marks.append(rectangle)
        x += width
    # white and pale parts would end nowhere on a white page
    outline = element(
        "rect",
        x=left,
        y=y,
        width=length,
        height=15.0,
        class_="outline",
    )
    return [*marks, outline]
