"""A matrix as shades of one hue: higher values are darker, or lighter on a dark page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from seesay.reports.charts import kernel as svg
from seesay.reports.formatting import brief

ROOM = 130.0
NUMBERED = 30.0
"""Cells at least this wide show their number."""

CROWDED = 13.0
"""Cells lower than this have no gaps between them, and smaller names."""

FAINTEST = 0.04


def heat_map(
    matrix: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    low_label: str = "less",
    high_label: str = "more",
) -> Markup:
    """Rows × columns, each cell shaded between the least and the greatest value; a missing value is an empty cell.

    A single hue of varying opacity has monotonic lightness, in print and for color-blind readers.
    """
    if len(matrix) != len(rows) or any(len(line) != len(columns) for line in matrix):
        raise ValueError(f"a heat map of {len(rows)} x {len(columns)} names needs a matrix of that shape")
    finite = [float(value) for line in matrix for value in line if math.isfinite(value)]
    if not finite:
        return svg.empty_chart("heat-map", title)
    low, high = min(finite), max(finite)
    left = svg.text_width(rows, ROOM) + 8
    top = svg.text_width(columns, ROOM) + 8
    cell = min(max((svg.WIDTH - left) / len(columns), 11.0), 44.0)
    high_cell = min(cell, 26.0)
    small = " small" if high_cell < CROWDED else ""
    width, bottom = max(left + cell * len(columns), svg.WIDTH), top + high_cell * len(rows)
    parts = []
    for index, name in enumerate(columns):
        x = left + cell * (index + 0.5) + 3.5
        parts.append(svg.text(x, top - 5, name, small.strip(), ROOM, transform=f"rotate(-90 {x:.2f} {top - 5:.2f})"))
    for i, name in enumerate(rows):
        parts.append(svg.text(left - 6, top + high_cell * (i + 0.5) + 3.5, name, f"end{small}", ROOM))
        for j, value in enumerate(matrix[i]):
            share = (value - low) / (high - low) if high > low else 1.0
            parts.append(_cell(left + cell * j, top + high_cell * i, cell, high_cell, value, share, (name, columns[j])))
    parts += _scale(low, high, low_label, high_label, left, bottom + 12)
    return svg.chart("heat-map", width, bottom + 44, title, parts, wide=width > svg.WIDTH)


def _cell(
    x: float, y: float, width: float, height: float, value: float, share: float, names: tuple[str, str]
) -> Markup:
    tip = svg.tooltip(f"{names[0]}, {names[1]}: {brief(value)}")
    gap = 0.0 if height < CROWDED else 0.5
    box = {"x": x + gap, "y": y + gap, "width": width - 2 * gap, "height": height - 2 * gap}
    if not math.isfinite(value):
        return svg.element("rect", tip, **box, class_="missing")
    shade = svg.element("rect", tip, **box, class_="heat", fill_opacity=_opacity(share))
    if width < NUMBERED:
        return shade
    ink = "middle small on" if share > 0.5 else "middle small"
    return shade + svg.text(x + width / 2, y + height / 2 + 3.5, f"{value:.2f}".replace("-", "−"), ink)


def _scale(low: float, high: float, low_label: str, high_label: str, x: float, y: float) -> list[Markup]:
    """The legend of the shades, from the least value to the greatest."""
    steps = 20
    before, after = f"{low_label} {brief(low)}", f"{brief(high)} {high_label}"
    start = max(x, svg.text_width([before], ROOM) + 8)
    box: dict[str, object] = {"y": y, "width": 6.0, "height": 10.0, "class_": "heat"}
    bars = [svg.element("rect", **box, x=start + 6.0 * i, fill_opacity=_opacity(i / (steps - 1))) for i in range(steps)]
    return [
        svg.text(start - 6, y + 9, before, "note end", ROOM),
        *bars,
        svg.text(start + 6 * steps + 6, y + 9, after, "note", ROOM),
    ]


def _opacity(share: float) -> float:
    return FAINTEST + (1 - FAINTEST) * share
