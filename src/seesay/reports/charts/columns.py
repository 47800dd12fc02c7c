"""Vertical columns: counts by class, and histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from seesay.reports.charts.kernel import (
    WIDTH,
    Axis,
    axis,
    chart,
    element,
    empty_chart,
    group,
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
    y_room,
)
from seesay.reports.formatting import brief

HEIGHT = 180.0
LEFT = 46.0


def columns(
    counts: Sequence[tuple[str, float]],
    *,
    title: str,
    y_label: str,
    x_label: str = "",
) -> Markup:
    """Draw one column per class; color words are drawn in their own color."""
    finite = [value for _, value in counts if math.isfinite(value)]
    if not finite:
        return empty_chart("columns", title)
    # half a question on the axis would be nonsense, half a per cent is not
    are_whole = all(float(value).is_integer() for value in finite)
    y = axis(finite, HEIGHT, 20, zero=True, whole=are_whole)
    left = y_room(y, LEFT)
    parts = y_axis(y, left, WIDTH, y_label)
    step = (WIDTH - left) / len(counts)
    width = min(step * 0.8, 48.0)
    # names are turned rather than cut off, and then all of them alike
    is_upright = any(truncate(name, step - 4) != name for name, _ in counts)
    for index, (name, value) in enumerate(counts):
        middle = left + step * index + step / 2
        if math.isfinite(value):
            tip = f"{name}: {brief(value)}"
            parts.append(
                _column(
                    y,
                    middle - width / 2,
                    width,
                    value,
                    tip,
                    swatch(name),
                )
            )
        if is_upright:
            # turned about its own end, which is below the middle of the column
            rotation = f"rotate(-90 {middle + 3.5:.2f} {HEIGHT + 8:.2f})"
            parts.append(
                text(
                    middle + 3.5,
                    HEIGHT + 8,
                    name,
                    "end",
                    110,
                    transform=rotation,
                )
            )
        else:
            parts.append(text(middle, HEIGHT + 16, name, "middle"))
    bottom = HEIGHT
    if is_upright:
        bottom += text_width([name for name, _ in counts], 110) + 10
    else:
        bottom += 18.0
    if x_label:
        bottom += 20
        parts.append(
            text(
                (left + WIDTH) / 2,
                bottom - 6,
                x_label,
                "note middle",
                WIDTH,
            )
        )
    else:
        bottom += 4
    return chart("columns", WIDTH, bottom, title, parts)


def histograms(
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    title: str,
    x_label: str,
    y_label: str = "count",
    bins: int = 20,
    x_ends: Sequence[float] = (),
) -> Markup:
    """Draw how many values of each sample fall into equal bins between round numbers.

    Columns of several samples stand side by side; values that are not finite are not counted. The
    axis reaches `x_ends`, so that several charts can share one.
    """
    names = [name for name, _ in series]
    samples = [_finite(values) for _, values in series]
    if not any(samples):
        return empty_chart("histogram", title)
    x = axis(
        [*x_ends, *(value for sample in samples for value in sample)],
        LEFT,
        WIDTH - 8,
    )
    bin_counts = [_bin_counts(sample, x, bins) for sample in samples]
    parts: list[Markup] = []
    top = 0.0
    if len(series) > 1:
        parts, top = series_legend(names, square("fill"))
        top += 6.0
    floor = HEIGHT + top
    all_counts = [count for counts in bin_counts for count in counts]
    y = axis(
        all_counts,
        floor,
        top + 20,
        zero=True,
        whole=True,
    )
    # bins depend on the values alone: only now is it known where they can begin
    x = replace(x, start=y_room(y, LEFT))
    parts += y_axis(y, x.start, WIDTH, y_label, top + 8)
    bin_width = (x.end - x.start) / bins
    column_width = (bin_width - 1) / len(series)
    for number, (name, counts) in enumerate(zip(names, bin_counts, strict=True)):
        # a single sample needs no name
        prefix = f"{name}, " if name else ""
        for index, count in enumerate(counts):
            if not count:
                continue
            low = x.low + (x.high - x.low) * index / bins
            high = x.low + (x.high - x.low) * (index + 1) / bins
            tip = f"{prefix}{brief(low)} to {brief(high)}: {count}"
            at = x.start + bin_width * index + 0.5 + column_width * number
            parts.append(_column(y, at, column_width, count, tip, None, number))
    parts += x_axis(x, floor, x_label)
    return chart("histogram", WIDTH, floor + 40, title, parts)


def _finite(values: Sequence[float]) -> list[float]:
    return [float(value) for value in values if math.isfinite(value)]


def _bin_counts(sample: Sequence[float], x: Axis, bins: int) -> list[int]:
    """Count the values in each bin of the axis."""
    counts = [0] * bins
    for value in sample:
        share = (value - x.low) / (x.high - x.low)
        # the greatest value belongs to the last bin, which includes its upper end
        counts[min(int(share * bins), bins - 1)] += 1
    return counts


def _column(
    y: Axis,
    x: float,
    width: float,
    value: float,
    tip: str,
    paint: str | None,
    series: int = 0,
) -> Markup:
    """Draw a column from zero, in the color that its name means or in that of its series."""
    top, bottom = sorted((y.at(0.0), y.at(value)))
    box = {
        "x": x,
        "y": top,
        "width": width,
        "height": bottom - top,
    }
    class_ = paint or "fill"
    column = element(
        "rect",
        tooltip(tip),
        **box,
        class_=class_,
    )
    if paint:
        # a white column would not be seen
        return column + element("rect", **box, class_="outline")
    return group([column], series_class(series))
