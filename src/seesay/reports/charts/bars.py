"""Horizontal bars with intervals, and stacked bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seesay.reports.charts.kernel import (
    WIDTH,
    axis,
    chart,
    element,
    empty_chart,
    legend,
    series_class,
    series_legend,
    square,
    swatches,
    text,
    text_width,
    tooltip,
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


def bars(rows: Sequence[Bar], *, title: str, x_label: str = "", x_end: float = 0.0) -> Markup:
    """Bars from zero with their numbers at the right, on an axis that reaches `x_end`; a missing
    value leaves a gap."""
    names = list(dict.fromkeys(row.name for row in rows))
    series = list(dict.fromkeys(row.series for row in rows))
    ends = [
        end
        for row in rows
        for end in (row.value, row.low, row.high)
        if end is not None and math.isfinite(end)
    ]
    if not ends:
        return empty_chart("bars", title)
    left = text_width(names, ROOM) + 8
    x = axis([x_end, *ends], left, WIDTH - 46, zero=True)
    thick = 15.0 if len(series) == 1 else 11.0
    parts, y = series_legend(series, square("fill")) if len(series) > 1 else ([], 0.0)
    top = y = y + 4
    drawn = []
    for name in names:
        same_name = [row for row in rows if row.name == name]
        drawn.append(text(left - 8, y + thick * len(same_name) / 2 + 4, name, "end", ROOM))
        for row in same_name:
            drawn.append(_bar(row, x.at, y, thick, series_class(series.index(row.series))))
            y += thick
        y += 6
    parts += x_axis(x, y, x_label, top)
    return chart("bars", WIDTH, y + 36, title, [*parts, *drawn])


def _bar(row: Bar, at: Callable[[float], float], y: float, thick: float, hue: str) -> Markup:
    if not math.isfinite(row.value):
        return text(WIDTH, y + thick / 2 + 4, brief(row.value), "note end")
    middle = y + thick / 2
    start, end = sorted((at(0.0), at(row.value)))
    ends = ""
    whisker = Markup("")
    if (
        row.low is not None
        and row.high is not None
        and math.isfinite(row.low)
        and math.isfinite(row.high)
    ):
        ends = f" ({brief(row.low)} to {brief(row.high)})"
        whisker = element(
            "line", x1=at(row.low), x2=at(row.high), y1=middle, y2=middle, class_="spread"
        )
    tip = tooltip(f"{row.name}{', ' if row.series else ''}{row.series}: {brief(row.value)}{ends}")
    bar = element("rect", tip, x=start, y=y + 1, width=end - start, height=thick - 2, class_="fill")
    written = number(row.value) if abs(row.value) < 10 else brief(row.value)
    return element("g", bar + whisker + text(WIDTH, middle + 4, written, "note end"), class_=hue)


def stacked_bars(
    rows: Sequence[tuple[str, Sequence[float]]],
    parts: Sequence[str],
    *,
    title: str,
    room: float = ROOM,
) -> Markup:
    """Bars of equal length, divided in proportion to their values; color words are drawn in their
    own color. `room` is for the names."""
    if not rows or not parts:
        return empty_chart("stacked-bars", title)
    left = text_width([name for name, _ in rows], room) + 8
    paint = swatches(parts)
    drawn, y = legend(parts, [square(f"part {class_}") + square("outline") for class_ in paint])
    y += 6
    for name, values in rows:
        if len(values) != len(parts) or any(value < 0 for value in values):
            raise ValueError(f"'{name}' needs {len(parts)} values of at least 0")
        drawn.append(text(left - 8, y + 11, name, "end", room))
        drawn += _divided(name, values, parts, paint, left, y)
        y += 19
    for share in (0, 25, 50, 75, 100) if WIDTH - left > NARROW else (0, 50, 100):
        anchor = "end" if share == 100 else "middle"
        drawn.append(
            text(left + (WIDTH - left) * share / 100, y + 12, f"{share} %", f"tick {anchor}")
        )
    return chart("stacked-bars", WIDTH, y + 18, title, drawn)


def _divided(
    name: str,
    values: Sequence[float],
    parts: Sequence[str],
    paint: Sequence[str],
    left: float,
    y: float,
) -> list[Markup]:
    shares = [value if math.isfinite(value) else 0.0 for value in values]
    total = sum(shares)
    if not total:
        return [text(left, y + 11, "–", "note")]
    drawn = []
    x = left
    length = WIDTH - left
    for part, painted, value in zip(parts, paint, shares, strict=True):
        if value:
            tip = tooltip(f"{name}: {part} {100 * value / total:.3g} %")
            width = length * value / total
            drawn.append(
                element("rect", tip, x=x, y=y, width=width, height=15.0, class_=f"part {painted}")
            )
            x += width
    return [*drawn, element("rect", x=left, y=y, width=length, height=15.0, class_="outline")]
