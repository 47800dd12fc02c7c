"""Dot plots in table cells: dots with whiskers on a shared axis, and bars divided into shares.

Positions are percentages of a drawing without a view box, so that it stretches with its table cell
while marks and lines keep their shape. Nothing is styled in place: the page's policy forbids it,
and both color schemes need classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup

from seesay.reports.charts.kernel import (
    SERIES,
    Axis,
    axis,
    element,
    group,
    is_interval,
    series_class,
    tooltip,
)
from seesay.reports.formatting import brief, number

_SHAPES = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z",
    "M-4-4H4V4H-4Z",
    "M0-5.5L5.5 0L0 5.5L-5.5 0Z",
    "M0-5L5 4H-5Z",
    "M0 5L5-4H-5Z",
    "M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z",
)


@dataclass(frozen=True)
class DotMark:
    """A value with its interval, where it has one.

    `series` gives color and shape; None marks a published figure.
    """

    value: float
    low: float | None = None
    high: float | None = None
    series: int | None = None
    hollow: bool = False


def percent_axis(values: Iterable[float | None], centered: bool = False) -> Axis:
    """Return an axis in per cent of the cell: 0 to 1 or −1 to 1 where the values fit.

    With `centered`, zero is in the middle.
    """
    present = [value for value in values if value is not None]
    finite = [value for value in present if math.isfinite(value)] or [0.0]
    low = min(finite)
    high = max(finite)
    if centered:
        # differences that are all zero still need an axis
        reach = max(abs(low), abs(high), 1e-3)
        return axis([-reach, reach], 0, 100)
    if low >= 0 and high <= 1:
        return Axis(0.0, 1.0, 0, 100, (0.0, 0.25, 0.5, 0.75, 1.0))
    if low >= -1 and high <= 1:
        return Axis(
            -1.0,
            1.0,
            0,
            100,
            (-1.0, -0.5, 0.0, 0.5, 1.0),
        )
    return axis(finite, 0, 100, zero=True)


def position(x: Axis, value: float) -> str:
    """Return where a value is drawn, in per cent.

    Values outside the axis are drawn at its edge.
    """
    inside = min(max(x.at(value), 0), 100)
    return f"{inside:.2f}%"


def dot_row(
    x: Axis,
    marks: Sequence[DotMark],
    label: str,
    chance: float | None = None,
    zero: bool = False,
) -> Markup:
    """Draw one row of a dot plot: a mark and whisker for each value, one below the other.

    Chance is a tick.
    """
    parts = [_upright("grid", position(x, tick)) for tick in x.ticks]
    if zero:
        parts.append(_upright("zero", position(x, 0)))
    if chance is not None and math.isfinite(chance):
        parts.append(_upright("chance", position(x, chance), "12%", "88%"))
    finite = [mark for mark in marks if math.isfinite(mark.value)]
    for index, mark in enumerate(finite):
        # marks share the middle 70 % of the row's height
        height = 15 + 70 * (index + 0.5) / len(finite)
        parts.append(_mark(x, mark, f"{height:.2f}%"))
    return element(
        "svg",
        Markup("".join(parts)),
        class_="dots",
        role="img",
        aria_label=label,
    )


def tick_labels(x: Axis) -> Markup:
    """Draw the axis's numbers, for the space above the rows of dots."""
    labels = [element("text", brief(tick), x=position(x, tick), y="70%") for tick in x.ticks]
    return element(
        "svg",
        Markup("".join(labels)),
        class_="axis",
        aria_hidden="true",
    )


def share_bar(shares: Sequence[tuple[str, str, float]], label: str) -> Markup:
    """Draw a bar divided among labels (name, swatch class, share) in their colors."""
    parts = []
    start = 0.0
    for name, swatch, share in shares:
        if share > 0:
            part = element(
                "rect",
                tooltip(f"{name} {100 * share:.0f} %"),
                class_=swatch,
                x=f"{100 * start:.3f}%",
                width=f"{100 * share:.3f}%",
                height="100%",
            )
            parts.append(part)
        # what is left out is a gap: the shares of other labels keep their place
        start += share
    return element(
        "svg",
        Markup("".join(parts)),
        class_="bar",
        role="img",
        aria_label=label,
    )


def describe(
    name: str,
    value: float,
    low: float | None = None,
    high: float | None = None,
) -> str:
    """Return what a mark shows, for screen readers."""
    figure = f"{name} {number(value)}"
    if low is None or high is None:
        return figure
    return f"{figure} ({number(low)} to {number(high)})"


def legend_key(series: int | None) -> Markup:
    """Draw the mark of a model, for the place beside its name."""
    unit = Axis(0, 1, 0, 100, ())
    mark = _mark(unit, DotMark(0.5, series=series), "50%")
    return element(
        "svg",
        mark,
        class_="key",
        width=14,
        height=14,
        aria_hidden="true",
    )


def _mark(x: Axis, mark: DotMark, y: str) -> Markup:
    """Draw a mark and its whisker at a height."""
    if mark.series is None:
        shape = _SHAPES[2]
        style = "published hollow"
    else:
        shape = _SHAPES[mark.series % SERIES]
        style = series_class(mark.series)
        if mark.hollow:
            style += " hollow"
    whisker = Markup("")
    low = mark.low
    high = mark.high
    if low is not None and high is not None and is_interval(low, high):
        whisker = element(
            "line", class_="whisker", x1=position(x, low), y1=y, x2=position(x, high), y2=y
        )
    # an inner drawing keeps the shape, which is in pixels, while its place is in per cent
    point = element(
        "svg",
        element("path", d=shape),
        x=position(x, mark.value),
        y=y,
        class_="point",
    )
    return group([whisker, point], style)


@lru_cache(maxsize=1024)
def _upright(
    kind: str,
    x: str,
    y1: str = "0",
    y2: str = "100%",
) -> Markup:
    return element(
        "line",
        class_=kind,
        x1=x,
        y1=y1,
        x2=x,
        y2=y2,
    )
