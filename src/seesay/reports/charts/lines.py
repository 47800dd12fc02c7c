"""Line charts with bands and direct labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seesay.reports.charts.kernel import (
    WIDTH,
    Axis,
    axis,
    chart,
    coordinate,
    element,
    empty_chart,
    log_axis,
    series_class,
    series_legend,
    text,
    text_width,
    tooltip,
    truncate,
    x_axis,
    y_axis,
)
from seesay.reports.formatting import brief

HEIGHT = 220.0
LEFT = 40.0
ROOM = 124.0
"""Room for names at the right; longer names are listed in a legend as well."""

GAP = 13.0

Point = tuple[float, float, float, float]
"""x, y, and the ends of the band (NaN without a band)."""


@dataclass(frozen=True)
class Series:
    """A curve: y over x, with the ends of its band, if any."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None

    @property
    def points(self) -> list[Point]:
        """The points in order of x; those without a y are gaps."""
        none = [math.nan] * len(self.x)
        columns = zip(self.x, self.y, self.low or none, self.high or none, strict=True)
        points = [(float(x), float(y), float(low), float(high)) for x, y, low, high in columns]
        return sorted(points, key=lambda point: point[0])


def lines(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    y_ends: Sequence[float] = (),
) -> Markup:
    """Curves on shared axes: one mark per point, a gap where a value is missing, a band where both
    ends are known.

    `y_ends` belong to the axis whatever the values are, so that charts side by side can be
    compared.
    """
    curves = [
        (i, s.name, [p for p in s.points if math.isfinite(p[0])]) for i, s in enumerate(series)
    ]
    finite = [point for _, _, points in curves for point in points if math.isfinite(point[1])]
    if not finite:
        return empty_chart("lines", title)
    right = WIDTH - 12 - text_width([s.name for s in series], ROOM)
    xs = [point[0] for point in finite]
    x = log_axis(xs, LEFT, right) if log_x else axis(xs, LEFT, right, tight=True)
    y = axis([*y_ends, *(value for point in finite for value in point[1:])], HEIGHT, 20)
    parts = [*y_axis(y, x.start, x.end, y_label), *x_axis(x, HEIGHT, x_label)]
    parts.append(element("line", x1=x.start, x2=x.end, y1=HEIGHT, y2=HEIGHT, class_="base"))
    for draw in (_bands, _curves):  # no band lies on a curve
        for index, name, points in curves:
            parts.append(
                element("g", Markup("").join(draw(name, points, x, y)), class_=series_class(index))
            )
    parts += _names(curves, x, y)
    bottom = HEIGHT + 42
    if len(series) > 6 or any(truncate(s.name, ROOM) != s.name for s in series):
        spot = element("circle", r=4, class_="spot")
        entries, height = series_legend([s.name for s in series], spot, bottom)
        parts = parts + entries
        bottom = bottom + height
    return chart("lines", WIDTH, bottom, title, parts)


def _bands(name: str, points: Sequence[Point], x: Axis, y: Axis) -> Iterator[Markup]:
    for piece in _pieces(points, lambda point: all(map(math.isfinite, point))):
        if len(piece) == 1:
            at, _, low, high = piece[0]
            yield element(
                "line", x1=x.at(at), x2=x.at(at), y1=y.at(low), y2=y.at(high), class_="curve"
            )
        else:
            upper = [(x.at(p[0]), y.at(p[3])) for p in piece]
            lower = [(x.at(p[0]), y.at(p[2])) for p in reversed(piece)]
            yield element("path", d=_path(upper + lower) + "Z", class_="band")


def _curves(name: str, points: Sequence[Point], x: Axis, y: Axis) -> Iterator[Markup]:
    for piece in _pieces(points, lambda point: math.isfinite(point[1])):
        if len(piece) > 1:
            yield element(
                "path", d=_path([(x.at(p[0]), y.at(p[1])) for p in piece]), class_="curve"
            )
        for at, value, low, high in piece:
            if math.isfinite(low) and math.isfinite(high):
                ends = f" ({brief(low)} to {brief(high)})"
            else:
                ends = ""
            tip = tooltip(f"{name}: {brief(at)}, {brief(value)}{ends}")
            yield element("circle", tip, cx=x.at(at), cy=y.at(value), r=3, class_="spot")


def _names(curves: Sequence[tuple[int, str, Sequence[Point]]], x: Axis, y: Axis) -> list[Markup]:
    """Each name at its curve's last point; overlapping names are moved apart."""
    ends = []
    for index, name, points in curves:
        last = [point for point in points if math.isfinite(point[1])][-1:]
        ends += [(y.at(point[1]), x.at(point[0]), index, name) for point in last]
    ends.sort()
    labels = spread_apart([end[0] for end in ends], GAP, y.end, y.start)
    parts = []
    for (at, start, index, name), label in zip(ends, labels, strict=True):
        drawn = [text(x.end + 10, label + 3.5, name, "series", ROOM)]
        if abs(label - at) > 3 or x.end - start > 3:
            drawn.append(
                element("path", d=_path([(start + 4, at), (x.end + 8, label)]), class_="leader")
            )
        parts.append(element("g", Markup("").join(drawn), class_=series_class(index)))
    return parts


def spread_apart(positions: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Rising positions moved at least `gap` apart, and above `bottom` where there is room.

    >>> spread_apart([10, 11, 50], 13, 0, 100)
    [10, 23, 50]
    >>> spread_apart([95, 99], 13, 0, 100)
    [87, 100]
    """
    moved: list[float] = []
    for position in positions:
        moved.append(max(position, moved[-1] + gap if moved else top))
    limit = bottom
    for index in range(len(moved) - 1, -1, -1):
        moved[index] = min(moved[index], limit)
        limit = moved[index] - gap
    return moved


def _pieces(points: Sequence[Point], passes: Callable[[Point], bool]) -> Iterator[list[Point]]:
    """The contiguous pieces of points that pass the test; what lies between them is a gap."""
    piece: list[Point] = []
    for point in points:
        if passes(point):
            piece.append(point)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points)
