"""Points with whiskers: a figure against a size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seesay.reports.charts import kernel as svg
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


def scatter(spots: Sequence[Spot], *, title: str, x_label: str, y_label: str, chance: float | None = None) -> Markup:
    """Spots over a logarithmic axis, their names as tooltips; chance as a dashed line."""
    if not spots:
        return svg.empty_chart("scatter", title)
    x = svg.log_axis([spot.x for spot in spots], LEFT + 8, svg.WIDTH - 16)
    y = svg.axis(
        [*(end for spot in spots for end in (spot.low, spot.high)), *([] if chance is None else [chance])], HEIGHT, 20
    )
    parts = [*svg.y_axis(y, LEFT, svg.WIDTH - 8, y_label), *svg.x_axis(x, HEIGHT, x_label)]
    parts.append(svg.element("line", x1=LEFT, x2=svg.WIDTH - 8, y1=HEIGHT, y2=HEIGHT, class_="base"))
    if chance is not None:
        at = y.at(chance)
        parts.append(svg.element("line", x1=LEFT, x2=svg.WIDTH - 8, y1=at, y2=at, class_="chance"))
        parts.append(svg.text(svg.WIDTH - 8, at - 4, "chance", "note end"))
    for spot in spots:
        tip = svg.tooltip(f"{spot.name}: {brief(spot.x)}, {brief(spot.y)} ({brief(spot.low)} to {brief(spot.high)})")
        at = x.at(spot.x)
        whisker = svg.element("line", x1=at, x2=at, y1=y.at(spot.low), y2=y.at(spot.high), class_="whisker")
        point = svg.element("circle", tip, cx=at, cy=y.at(spot.y), r=3.5, class_="spot")
        parts.append(svg.element("g", whisker + point, class_=svg.series_class(0)))
    return svg.chart("scatter", svg.WIDTH, HEIGHT + 42, title, parts)
