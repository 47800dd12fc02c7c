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
)
from seesay.reports.formatting import brief

ROOM = 190.0
NUMBERED = 30.0
"""Cells at least this wide show their number."""

CROWDED = 13.0
"""Cells lower than this have no gaps between them, and smaller names."""

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
) -> Markup:
    """Rows × columns, each cell shaded between the least and the greatest value; a missing value is
    an empty cell.

    A single hue of varying opacity has monotonic lightness, in print and for color-blind readers.
    With `zero` a cell is the darker the farther its value is from 0, values below 0 in a second
    hue, and the scale shows where 0 is.
    """
    if len(matrix) != len(rows) or any(len(line) != len(columns) for line in matrix):
        raise ValueError(
            f"a heat map of {len(rows)} x {len(columns)} names needs a matrix of that shape"
        )
    finite = [float(value) for line in matrix for value in line if math.isfinite(value)]
    if not finite:
        return empty_chart("heat-map", title)
    scale = _Scale(min(finite), max(finite), zero)
    left = text_width(rows, ROOM) + 8
    top = text_width(columns, ROOM) + 8
    cell = min((WIDTH - left) / len(columns), 44.0)
    if cell < NUMBERED:
        cell = max(min((WIDE - left) / len(columns), 64.0), 11.0)
    high_cell = min(cell, 26.0)
    small = " small" if high_cell < CROWDED else ""
    width = max(left + cell * len(columns), WIDTH)
    bottom = top + high_cell * len(rows)
    parts = []
    for index, name in enumerate(columns):
        x = left + cell * (index + 0.5) + 3.5
        parts.append(
            text(
                x,
                top - 5,
                name,
                small.strip(),
                ROOM,
                transform=f"rotate(-90 {x:.2f} {top - 5:.2f})",
            )
        )
    for i, name in enumerate(rows):
        parts.append(text(left - 6, top + high_cell * (i + 0.5) + 3.5, name, f"end{small}", ROOM))
        for j, value in enumerate(matrix[i]):
            box = (left + cell * j, top + high_cell * i, cell, high_cell)
            parts.append(_cell(*box, value, scale, (name, columns[j])))
    parts += _legend(scale, low_label, high_label, left, bottom + 12)
    return chart("heat-map", width, bottom + 44, title, parts, wide=width > WIDTH)


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    zero: bool

    def shade(self, value: float) -> tuple[str, float]:
        """The class of a value and how dark it is, from 0 to 1."""
        if not self.zero:
            return "heat", (value - self.low) / (
                self.high - self.low
            ) if self.high > self.low else 1.0
        reach = max(abs(self.low), abs(self.high))
        return "heat" if value >= 0 else "cold", abs(value) / reach if reach else 0.0

    def opacity(self, share: float) -> float:
        """A blank cell is a zero; without a zero even the least value is faintly shaded."""
        return share if self.zero else FAINTEST + (1 - FAINTEST) * share


def _cell(
    x: float,
    y: float,
    width: float,
    height: float,
    value: float,
    scale: _Scale,
    names: tuple[str, str],
) -> Markup:
    tip = tooltip(f"{names[0]}, {names[1]}: {brief(value)}")
    gap = 0.0 if height < CROWDED else 0.5
    box = {"x": x + gap, "y": y + gap, "width": width - 2 * gap, "height": height - 2 * gap}
    if not math.isfinite(value):
        return element("rect", tip, **box, class_="missing")
    hue, share = scale.shade(value)
    shade = element("rect", tip, **box, class_=hue, fill_opacity=scale.opacity(share))
    if width < NUMBERED:
        return shade
    ink = "middle small on" if share > DARK else "middle small"
    return shade + text(x + width / 2, y + height / 2 + 3.5, f"{value:.2f}".replace("-", "−"), ink)


def _legend(scale: _Scale, low_label: str, high_label: str, x: float, y: float) -> list[Markup]:
    """The legend of the shades, from the least value (or 0) to the greatest, with the place of 0
    where it is shown."""
    steps = 20
    width = 6.0
    low = min(scale.low, 0.0) if scale.zero else scale.low
    high = max(scale.high, 0.0) if scale.zero else scale.high
    before, after = (brief(float(f"{value:.3g}")) for value in (low, high))
    before = f"{low_label} {before}".strip()
    after = f"{after} {high_label}".strip()
    start = max(x, text_width([before], ROOM) + 8)
    parts = [text(start - 6, y + 9, before, "note end", ROOM)]
    for i in range(steps):
        hue, share = scale.shade(low + (high - low) * i / (steps - 1))
        box: dict[str, object] = {"x": start + width * i, "y": y, "width": width, "height": 10.0}
        parts.append(element("rect", **box, class_=hue, fill_opacity=scale.opacity(share)))
    if scale.zero:
        length = width * steps
        parts.append(element("rect", x=start, y=y, width=length, height=10.0, class_="outline"))
        if low < 0 < high:
            at = start + length * -low / (high - low)
            parts.append(element("line", x1=at, x2=at, y1=y - 2, y2=y + 13, class_="base"))
            parts.append(text(at, y + 24, "0", "tick middle"))
    return [*parts, text(start + width * steps + 6, y + 9, after, "note", ROOM)]
