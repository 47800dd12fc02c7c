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
    log_axis,
    series_class,
    text,
    tooltip,
    x_axis,
    y_axis,
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
    spots: Sequence[Spot], *, title: str, x_label: str, y_label: str, chance: float | None = None
) -> Markup:
    """Spots over a logarithmic axis, their names as tooltips; chance as a dashed line."""
    if not spots:
        return empty_chart("scatter", title)
    x = log_axis([spot.x for spot in spots], LEFT + 8, WIDTH - 16)
    y = axis(
        [
            *(end for spot in spots for end in (spot.low, spot.high)),
            *([] if chance is None else [chance]),
        ],
        HEIGHT,
        20,
    )
    parts = [*y_axis(y, LEFT, WIDTH - 8, y_label), *x_axis(x, HEIGHT, x_label)]
    parts.append(element("line", x1=LEFT, x2=WIDTH - 8, y1=HEIGHT, y2=HEIGHT, class_="base"))
    if chance is not None:
        at = y.at(chance)
        parts.append(element("line", x1=LEFT, x2=WIDTH - 8, y1=at, y2=at, class_="chance"))
        parts.append(text(WIDTH - 8, at - 4, "chance", "note end"))
    for spot in spots:
        tip = tooltip(
            f"{spot.name}: {brief(spot.x)}, {brief(spot.y)} ({brief(spot.low)} to "
            f"{brief(spot.high)})"
        )
        at = x.at(spot.x)
        whisker = element(
            "line", x1=at, x2=at, y1=y.at(spot.low), y2=y.at(spot.high), class_="whisker"
        )
        point = element("circle", tip, cx=at, cy=y.at(spot.y), r=3.5, class_="spot")
        parts.append(element("g", whisker + point, class_=series_class(0)))
    return chart("scatter", WIDTH, HEIGHT + 42, title, parts)
