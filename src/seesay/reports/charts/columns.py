"""Vertical columns: counts by class, and histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from seesay.reports.charts.kernel import (
    WIDTH,
    Axis,
    axis,
    chart,
    element,
    empty_chart,
    series_class,
    series_legend,
    square,
    swatch,
    text,
    text_width,
    tooltip,
    truncate,
    x_axis,
    y_axis,
)
from seesay.reports.formatting import brief

HEIGHT = 180.0
LEFT = 46.0


def columns(
    counts: Sequence[tuple[str, float]], *, title: str, y_label: str, x_label: str = ""
) -> Markup:
    """One column per class; color words are drawn in their own color."""
    finite = [value for _, value in counts if math.isfinite(value)]
    if not finite:
        return empty_chart("columns", title)
    y = axis(
        finite, HEIGHT, 20, zero=True, whole=all(float(value).is_integer() for value in finite)
    )
    step = (WIDTH - LEFT) / len(counts)
    parts = y_axis(y, LEFT, WIDTH, y_label)
    upright = any(truncate(name, step - 4) != name for name, _ in counts)
    for index, (name, value) in enumerate(counts):
        x = LEFT + step * index
        middle = x + step / 2
        if math.isfinite(value):
            broad = min(step * 0.8, 48.0)
            parts.append(
                _column(
                    y, middle - broad / 2, broad, value, f"{name}: {brief(value)}", swatch(name)
                )
            )
        if upright:
            turned = f"rotate(-90 {middle + 3.5:.2f} {HEIGHT + 8:.2f})"
            parts.append(text(middle + 3.5, HEIGHT + 8, name, "end", 110, transform=turned))
        else:
            parts.append(text(middle, HEIGHT + 16, name, "middle"))
    names = text_width([name for name, _ in counts], 110) + 10 if upright else 18.0
    bottom = HEIGHT + names + (20 if x_label else 4)
    if x_label:
        parts.append(text((LEFT + WIDTH) / 2, bottom - 6, x_label, "note middle", WIDTH))
    return chart("columns", WIDTH, bottom, title, parts)


def histograms(
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    title: str,
    x_label: str,
    y_label: str = "count",
    bins: int = 20,
) -> Markup:
    """The number of finite values of each sample in `bins` equal bins between round numbers,
    columns side by side."""
    samples = [[float(value) for value in values if math.isfinite(value)] for _, values in series]
    if not any(samples):
        return empty_chart("histogram", title)
    x = axis([value for sample in samples for value in sample], LEFT, WIDTH - 8)
    counts = [[0] * bins for _ in samples]
    for sample, tally in zip(samples, counts, strict=True):
        for value in sample:
            tally[min(int((value - x.low) / (x.high - x.low) * bins), bins - 1)] += 1
    parts, top = (
        series_legend([name for name, _ in series], square("fill"))
        if len(series) > 1
        else ([], 0.0)
    )
    top += 6.0 if top else 0.0
    y = axis(
        [count for tally in counts for count in tally],
        HEIGHT + top,
        top + 20,
        zero=True,
        whole=True,
    )
    parts += y_axis(y, LEFT, WIDTH, y_label, top + 8)
    width = (x.end - x.start) / bins
    broad = (width - 1) / len(series)
    for number, ((name, _), tally) in enumerate(zip(series, counts, strict=True)):
        for index, count in enumerate(tally):
            if count:
                low, high = (x.low + (x.high - x.low) * end / bins for end in (index, index + 1))
                tip = f"{name}{', ' if name else ''}{brief(low)} to {brief(high)}: {count}"
                at = x.start + width * index + 0.5 + broad * number
                parts.append(_column(y, at, broad, count, tip, None, number))
    parts += x_axis(x, HEIGHT + top, x_label)
    return chart("histogram", WIDTH, HEIGHT + top + 40, title, parts)


def _column(
    y: Axis, x: float, width: float, value: float, tip: str, paint: str | None, series: int = 0
) -> Markup:
    top, bottom = sorted((y.at(0.0), y.at(value)))
    box = {"x": x, "y": top, "width": width, "height": bottom - top}
    title = tooltip(tip)
    if paint:
        return element("rect", title, **box, class_=paint) + element(
            "rect", **box, class_="outline"
        )
    return element("g", element("rect", title, **box, class_="fill"), class_=series_class(series))
