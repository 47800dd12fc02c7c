"""Vertical columns: counts by class, and histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from seesay.reports.charts import kernel as svg
from seesay.reports.formatting import brief

HEIGHT = 180.0
LEFT = 46.0


def columns(counts: Sequence[tuple[str, float]], *, title: str, y_label: str, x_label: str = "") -> Markup:
    """One column per class; color words are drawn in their own color."""
    finite = [value for _, value in counts if math.isfinite(value)]
    if not finite:
        return svg.empty_chart("columns", title)
    y = svg.axis(finite, HEIGHT, 20, zero=True)
    step = (svg.WIDTH - LEFT) / len(counts)
    parts = svg.y_axis(y, LEFT, svg.WIDTH, y_label)
    upright = any(svg.truncate(name, step - 4) != name for name, _ in counts)
    for index, (name, value) in enumerate(counts):
        x = LEFT + step * index
        middle = x + step / 2
        if math.isfinite(value):
            broad = min(step * 0.8, 48.0)
            parts.append(_column(y, middle - broad / 2, broad, value, f"{name}: {brief(value)}", svg.swatch(name)))
        if upright:
            turned = f"rotate(-90 {middle + 3.5:.2f} {HEIGHT + 8:.2f})"
            parts.append(svg.text(middle + 3.5, HEIGHT + 8, name, "end", 110, transform=turned))
        else:
            parts.append(svg.text(middle, HEIGHT + 16, name, "middle"))
    names = svg.text_width([name for name, _ in counts], 110) + 10 if upright else 18.0
    bottom = HEIGHT + names + (20 if x_label else 4)
    if x_label:
        parts.append(svg.text((LEFT + svg.WIDTH) / 2, bottom - 6, x_label, "note middle", svg.WIDTH))
    return svg.chart("columns", svg.WIDTH, bottom, title, parts)


def histogram(values: Sequence[float], *, title: str, x_label: str, y_label: str = "count", bins: int = 20) -> Markup:
    """The number of finite values in each of `bins` equal bins between round numbers."""
    finite = [float(value) for value in values if math.isfinite(value)]
    if not finite:
        return svg.empty_chart("histogram", title)
    x = svg.axis(finite, LEFT, svg.WIDTH - 8)
    counts = [0] * bins
    for value in finite:
        counts[min(int((value - x.low) / (x.high - x.low) * bins), bins - 1)] += 1
    y = svg.axis(counts, HEIGHT, 20, zero=True)
    parts = svg.y_axis(y, LEFT, svg.WIDTH, y_label)
    width = (x.end - x.start) / bins
    for index, count in enumerate(counts):
        if count:
            low, high = (x.low + (x.high - x.low) * end / bins for end in (index, index + 1))
            tip = f"{brief(low)} to {brief(high)}: {count}"
            parts.append(_column(y, x.start + width * index + 0.5, width - 1, count, tip, None))
    parts += svg.x_axis(x, HEIGHT, x_label)
    return svg.chart("histogram", svg.WIDTH, HEIGHT + 40, title, parts)


def _column(y: svg.Axis, x: float, width: float, value: float, tip: str, paint: str | None) -> Markup:
    top, bottom = sorted((y.at(0.0), y.at(value)))
    box = {"x": x, "y": top, "width": width, "height": bottom - top}
    title = svg.tooltip(tip)
    if paint:
        return svg.element("rect", title, **box, class_=paint) + svg.element("rect", **box, class_="outline")
    return svg.element("g", svg.element("rect", title, **box, class_="fill"), class_="m0")
