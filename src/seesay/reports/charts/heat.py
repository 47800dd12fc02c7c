"""A matrix as shades: of one hue from the least value to the greatest, or of two from a zero that
is left blank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seesay.reports.charts.kernel import (
    WIDTH,
    chart,
    element,
    empty_chart,
    text,
    text_width,
    tooltip,
    vertical_line,
)
from seesay.reports.formatting import brief

ROOM = 190.0
NUMBERED = 30.0
"""Cells at least this wide show their number."""

CROWDED = 13.0
"""Cells lower than this have no gaps between them, and smaller names."""

_DIGIT = 6.5
"""The width of a digit in a cell."""

FAINTEST = 0.04

DARK = 0.6
"""Cells darker than this share have light numbers."""

WIDE = 960.0
"""The width of a chart with many columns: that of the page."""


def heat_map(
    matrix: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    low_label: str = "less",
    high_label: str = "more",
    zero: bool = False,
    ends: Sequence[float] = (),
) -> Markup:
    """Draw rows × columns, each cell shaded between the least and the greatest value; a missing
    value is an empty cell.

    A single hue of varying opacity has monotonic lightness, in print and for color-blind readers.
    With `zero` a cell is the darker the farther its value is from 0, values below 0 in a second
    hue, and the scale shows where 0 is. `ends` belong to the scale whatever the values are, so that
    charts below one another can be compared.
    """
    if len(matrix) != len(rows) or any(len(line) != len(columns) for line in matrix):
        raise ValueError(
            f"a heat map of {len(rows)} x {len(columns)} names needs a matrix of that shape"
        )
    finite = [float(value) for line in matrix for value in line if math.isfinite(value)]
    if not finite:
        return empty_chart("heat-map", title)
    all_values = [*ends, *finite]
    scale = _Scale(min(all_values), max(all_values), zero)
    left = text_width(rows, ROOM) + 8
    cell_width = min((WIDTH - left) / len(columns), 44.0)
    # many columns get the width of the page, and where even that is too little, a wider drawing
    if cell_width < NUMBERED:
        cell_width = max(min((WIDE - left) / len(columns), 64.0), 11.0)
    # names are turned where one of them is wider than its column, and then all of them alike
    longest = text_width(columns, ROOM)
    is_upright = longest > cell_width
    top = longest + 8 if is_upright else 20.0
    # a few wide cells would make high ones, and a page of them
    cell_height = min(cell_width, 26.0)
    small = " small" if cell_height < CROWDED else ""
    width = max(left + cell_width * len(columns), WIDTH)
    bottom = top + cell_height * len(rows)
    decimals = _decimals(finite, cell_width)
    parts = []
    for index, name in enumerate(columns):
        middle = left + cell_width * (index + 0.5)
        if is_upright:
            x = middle + 3.5
            rotation = f"rotate(-90 {x:.2f} {top - 5:.2f})"
            parts.append(
                text(
                    x,
                    top - 5,
                    name,
                    small.strip(),
                    ROOM,
                    transform=rotation,
                )
            )
        else:
            parts.append(text(middle, top - 5, name, f"middle{small}"))
    for i, row in enumerate(rows):
        y = top + cell_height * i
        middle = top + cell_height * (i + 0.5)
        parts.append(
            text(
                left - 6,
                middle + 3.5,
                row,
                f"end{small}",
                ROOM,
            )
        )
        for j, column in enumerate(columns):
            value = matrix[i][j]
            tip = tooltip(f"{row}, {column}: {brief(value)}")
            x = left + cell_width * j
            label = _short_number(value, decimals)
            parts.append(_cell(x, y, cell_width, cell_height, value, scale, tip, label))
    parts += _legend(scale, low_label, high_label, left, bottom + 12)
    return chart(
        "heat-map",
        width,
        bottom + 44,
        title,
        parts,
        wide=width > WIDTH,
    )


@dataclass(frozen=True)
class _Scale:
    """The shades of values between the least and the greatest."""

    low: float
    high: float
    zero: bool

    def shade(self, value: float) -> tuple[str, float]:
        """Return the class of a value and how dark it is, from 0 to 1."""
        if self.zero:
            hue = "heat" if value >= 0 else "cold"
            reach = max(abs(self.low), abs(self.high))
            return hue, abs(value) / reach if reach else 0.0
        if self.high == self.low:
            return "heat", 1.0
        return "heat", (value - self.low) / (self.high - self.low)

    def opacity(self, share: float) -> float:
        """Return the opacity of a share: with a zero, a blank cell is one."""
        if self.zero:
            return share
        # without a zero even the least value is faintly shaded: only a missing one is blank
        return FAINTEST + (1 - FAINTEST) * share


def _cell(
    x: float,
    y: float,
    width: float,
    height: float,
    value: float,
    scale: _Scale,
    tip: Markup,
    label: str,
) -> Markup:
    """Draw a cell, with its number where there is room for it."""
    gap = 0.0 if height < CROWDED else 0.5
    box = {
        "x": x + gap,
        "y": y + gap,
        "width": width - 2 * gap,
        "height": height - 2 * gap,
    }
    if not math.isfinite(value):
        return element("rect", tip, **box, class_="missing")
    hue, share = scale.shade(value)
    shade = element(
        "rect",
        tip,
        **box,
        class_=hue,
        fill_opacity=scale.opacity(share),
    )
    if width < NUMBERED:
        return shade
    ink = "middle small"
    if share > DARK:
        ink += " on"
    return shade + text(
        x + width / 2,
        y + height / 2 + 3.5,
        label,
        ink,
    )


def _decimals(values: Sequence[float], width: float) -> int:
    """Return how many decimals all of these numbers can have in cells of this width."""
    longest = max(len(_short_number(value, 2)) for value in values)
    return 2 if longest * _DIGIT <= width else 1


def _short_number(value: float, decimals: int) -> str:
    """Return a number with so many decimals; what rounds to zero has no sign."""
    figure = f"{value:.{decimals}f}"
    if not figure.strip("-0."):
        figure = figure.lstrip("-")
    # a typographic minus is as wide as a plus
    return figure.replace("-", "−")


def _legend(
    scale: _Scale,
    low_label: str,
    high_label: str,
    x: float,
    y: float,
) -> list[Markup]:
    """Return the legend of the shades, from the least value (or 0) to the greatest.

    Where 0 is shown, its place is marked.
    """
    steps = 20
    width = 6.0
    length = width * steps
    low = scale.low
    high = scale.high
    if scale.zero:
        low = min(low, 0.0)
        high = max(high, 0.0)
    before = f"{low_label} {_three_digits(low)}".strip()
    after = f"{_three_digits(high)} {high_label}".strip()
    start = max(x, text_width([before], ROOM) + 8)
    parts = [text(start - 6, y + 9, before, "note end", ROOM)]
    for i in range(steps):
        hue, share = scale.shade(low + (high - low) * i / (steps - 1))
        step = element(
            "rect",
            x=start + width * i,
            y=y,
            width=width,
            height=10.0,
            class_=hue,
            fill_opacity=scale.opacity(share),
        )
        parts.append(step)
    if scale.zero:
        # the shades around zero are too pale to show where the scale is
        parts.append(
            element(
                "rect",
                x=start,
                y=y,
                width=length,
                height=10.0,
                class_="outline",
            )
        )
        if low < 0 < high:
            at = start + length * -low / (high - low)
            parts.append(vertical_line(at, y - 2, y + 13, "base"))
            parts.append(text(at, y + 24, "0", "tick middle"))
    parts.append(
        text(
            start + length + 6,
            y + 9,
            after,
            "note",
            ROOM,
        )
    )
    return parts


def _three_digits(value: float) -> str:
    return brief(float(f"{value:.3g}"))
