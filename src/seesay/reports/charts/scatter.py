"""Points with whiskers: a figure against a size."""

from __future__ import annotations

from collections.abc import Sequence
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
    log_axis,
    series_class,
    text,
    tooltip,
    vertical_line,
    x_axis,
    y_axis,
    y_room,
)
from seesay.reports.formatting import brief

HEIGHT = 220.0
LEFT = 40.0


@dataclass(frozen=True)
class Spot:
    """A named point with the ends of its interval."""

    name: str
    x: float
    y: float
    low: float
    high: float


def scatter(
    spots: Sequence[Spot],
    *,
    title: str,
    x_label: str,
    y_label: str,
    chance: float | None = None,
) -> Markup:
    """Draw spots over a logarithmic axis, their names as tooltips; chance as a dashed line."""
    if not spots:
        return empty_chart("scatter", title)
    # whiskers reach further than their points, and must not leave the chart
    y_values = [end for spot in spots for end in (spot.low, spot.high)]
    if chance is not None:
        y_values.append(chance)
    y = axis(y_values, HEIGHT, 20)
    left = y_room(y, LEFT)
    right = WIDTH - 8 if chance is None else WIDTH - 48
    x = log_axis(
        [spot.x for spot in spots],
        left + 8,
        right - 8,
    )
    parts = [*y_axis(y, left, right, y_label), *x_axis(x, HEIGHT, x_label)]
    parts.append(horizontal_line(left, right, HEIGHT, "base"))
    if chance is not None:
        # named at its end: a legend for one line would take more room than the line
        at = y.at(chance)
        parts.append(horizontal_line(left, right, at, "chance"))
        parts.append(text(right + 5, at + 3.5, "chance", "note"))
    for spot in spots:
        place = f"{brief(spot.x)}, {brief(spot.y)}"
        tip = tooltip(f"{spot.name}: {place} ({brief(spot.low)} to {brief(spot.high)})")
        at = x.at(spot.x)
        whisker = vertical_line(
            at,
            y.at(spot.low),
            y.at(spot.high),
            "whisker",
        )
        point = element(
            "circle",
            tip,
            cx=at,
            cy=y.at(spot.y),
            r=3.5,
            class_="spot",
        )
        parts.append(group([whisker, point], series_class(0)))
    return chart("scatter", WIDTH, HEIGHT + 42, title, parts)
