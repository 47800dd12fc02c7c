"""Upright columns: counts by class, and how often a number falls into each of a few bins."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from seesay.report.charts.kernel import WIDTH, Axis, axis, breadth, chart, element, fit, nothing, swatch, text, tooltip
from seesay.report.formatting import brief

HEIGHT = 180.0
LEFT = 46.0


def columns(counts: Sequence[tuple[str, float]], *, title: str, y_label: str, x_label: str = "") -> Markup:
    """A column for each class, from zero; colour words wear their own colour."""
    known = [value for _, value in counts if math.isfinite(value)]
    if not known:
        return nothing("columns", title)
    y = axis(known, HEIGHT, 20, zero=True)
    step = (WIDTH - LEFT) / len(counts)
    parts = _frame(y, y_label)
    upright = any(fit(name, step - 4) != name for name, _ in counts)
    for index, (name, value) in enumerate(counts):
        x = LEFT + step * index
        middle = x + step / 2
        if math.isfinite(value):
            broad = min(step * 0.8, 48.0)
            parts.append(_column(y, middle - broad / 2, broad, value, f"{name}: {brief(value)}", swatch(name)))
        if upright:
            turned = f"rotate(-90 {middle + 3.5:.2f} {HEIGHT + 8:.2f})"
            parts.append(text(middle + 3.5, HEIGHT + 8, name, "end", 110, transform=turned))
        else:
            parts.append(text(middle, HEIGHT + 16, name, "middle"))
    names = breadth([name for name, _ in counts], 110) + 10 if upright else 18.0
    bottom = HEIGHT + names + (20 if x_label else 4)
    if x_label:
        parts.append(text((LEFT + WIDTH) / 2, bottom - 6, x_label, "note middle", WIDTH))
    return chart("columns", WIDTH, bottom, title, parts)


def histogram(values: Sequence[float], *, title: str, x_label: str, y_label: str = "count", bins: int = 20) -> Markup:
    """How many of the finite values fall into each of `bins` equal bins between round numbers."""
    known = [float(value) for value in values if math.isfinite(value)]
    if not known:
        return nothing("histogram", title)
    x = axis(known, LEFT, WIDTH - 8)
    counts = [0] * bins
    for value in known:
        counts[min(int((value - x.low) / (x.high - x.low) * bins), bins - 1)] += 1
    y = axis(counts, HEIGHT, 20, zero=True)
    parts = _frame(y, y_label)
    width = (x.end - x.start) / bins
    for index, count in enumerate(counts):
        if count:
            low, high = (x.low + (x.high - x.low) * end / bins for end in (index, index + 1))
            told = f"{brief(low)} to {brief(high)}: {count}"
            parts.append(_column(y, x.start + width * index + 0.5, width - 1, count, told, None))
    for tick in x.ticks:
        parts.append(text(x.at(tick), HEIGHT + 16, brief(tick), "tick middle"))
    parts.append(text((x.start + x.end) / 2, HEIGHT + 32, x_label, "note middle", WIDTH))
    return chart("histogram", WIDTH, HEIGHT + 40, title, parts)


def _frame(y: Axis, y_label: str) -> list[Markup]:
    parts = [text(0, 8, y_label, "note", WIDTH)]
    for tick in y.ticks:
        kind = "base" if tick == 0 else "guide"
        parts.append(element("line", x1=LEFT, x2=WIDTH, y1=y.at(tick), y2=y.at(tick), class_=kind))
        parts.append(text(LEFT - 6, y.at(tick) + 3.5, brief(tick), "tick end"))
    return parts


def _column(y: Axis, x: float, width: float, value: float, told: str, paint: str | None) -> Markup:
    top, bottom = sorted((y.at(0.0), y.at(value)))
    box = {"x": x, "y": top, "width": width, "height": bottom - top}
    title = tooltip(told)
    if paint:
        return element("rect", title, **box, class_=paint) + element("rect", **box, class_="outline")
    return element("g", element("rect", title, **box, class_="fill"), class_="m0")
