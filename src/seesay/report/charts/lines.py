"""Curves with bands, named at their ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seesay.report.charts.kernel import (
    WIDTH,
    Axis,
    axis,
    breadth,
    chart,
    element,
    fit,
    legend,
    log_axis,
    nothing,
    series_class,
    short,
    text,
    tooltip,
)
from seesay.report.formatting import brief

HEIGHT = 220.0
LEFT = 40.0
ROOM = 124.0
"""The most room for names at the right; longer ones stand in a legend as well."""

GAP = 13.0

Point = tuple[float, float, float, float]
"""x, y, and the ends of the band (NaN where there is none)."""


@dataclass(frozen=True)
class Series:
    """A curve: y over x, with the ends of its band where they are known."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None

    @property
    def points(self) -> list[Point]:
        """The points in order of x; those without a y are kept, as gaps."""
        none = [math.nan] * len(self.x)
        columns = zip(self.x, self.y, self.low or none, self.high or none, strict=True)
        points = [(float(x), float(y), float(low), float(high)) for x, y, low, high in columns]
        return sorted(points, key=lambda point: point[0])


def lines(series: Sequence[Series], *, title: str, x_label: str, y_label: str, log_x: bool = False) -> Markup:
    """Curves on shared axes: a mark a point, a gap where a value is missing, a band where both ends are known."""
    drawn = [(index, one, [p for p in one.points if math.isfinite(p[0])]) for index, one in enumerate(series)]
    known = [point for _, _, points in drawn for point in points if math.isfinite(point[1])]
    if not known:
        return nothing("lines", title)
    right = WIDTH - 12 - breadth([one.name for one in series], ROOM)
    xs = [point[0] for point in known]
    x = log_axis(xs, LEFT, right) if log_x else axis(xs, LEFT, right, tight=True)
    y = axis([value for point in known for value in point[1:]], HEIGHT, 20)
    parts = _frame(x, y, x_label, y_label)
    for draw in (_bands, _curves):  # no band lies on a curve
        for index, one, points in drawn:
            parts.append(element("g", Markup("").join(draw(one.name, points, x, y)), class_=series_class(index)))
    parts += _names([(index, one.name, points) for index, one, points in drawn], x, y)
    bottom = HEIGHT + 42
    if len(series) > 6 or any(fit(one.name, ROOM) != one.name for one in series):
        keys = [
            element("g", element("circle", r=4, class_="spot"), class_=series_class(index))
            for index in range(len(series))
        ]
        entries, height = legend([one.name for one in series], keys, WIDTH, bottom)
        parts, bottom = parts + entries, bottom + height
    return chart("lines", WIDTH, bottom, title, parts)


def _frame(x: Axis, y: Axis, x_label: str, y_label: str) -> list[Markup]:
    parts = [text(0, 8, y_label, "note", WIDTH)]
    for tick in y.ticks:
        at = y.at(tick)
        parts.append(element("line", x1=x.start, x2=x.end, y1=at, y2=at, class_="guide"))
        parts.append(text(x.start - 6, at + 3.5, brief(tick), "tick end"))
    for tick in x.ticks:
        parts.append(element("line", x1=x.at(tick), x2=x.at(tick), y1=HEIGHT, y2=HEIGHT + 4, class_="base"))
        parts.append(text(x.at(tick), HEIGHT + 16, brief(tick), "tick middle"))
    parts.append(element("line", x1=x.start, x2=x.end, y1=HEIGHT, y2=HEIGHT, class_="base"))
    parts.append(text((x.start + x.end) / 2, HEIGHT + 32, x_label, "note middle", WIDTH))
    return parts


def _bands(name: str, points: Sequence[Point], x: Axis, y: Axis) -> Iterator[Markup]:
    for piece in _pieces(points, lambda point: all(map(math.isfinite, point))):
        if len(piece) == 1:
            at, _, low, high = piece[0]
            yield element("line", x1=x.at(at), x2=x.at(at), y1=y.at(low), y2=y.at(high), class_="curve")
        else:
            upper = [(x.at(p[0]), y.at(p[3])) for p in piece]
            lower = [(x.at(p[0]), y.at(p[2])) for p in reversed(piece)]
            yield element("path", d=_path(upper + lower) + "Z", class_="band")


def _curves(name: str, points: Sequence[Point], x: Axis, y: Axis) -> Iterator[Markup]:
    for piece in _pieces(points, lambda point: math.isfinite(point[1])):
        if len(piece) > 1:
            yield element("path", d=_path([(x.at(p[0]), y.at(p[1])) for p in piece]), class_="curve")
        for at, value, low, high in piece:
            ends = f" ({brief(low)} to {brief(high)})" if math.isfinite(low) and math.isfinite(high) else ""
            told = tooltip(f"{name}: {brief(at)}, {brief(value)}{ends}")
            yield element("circle", told, cx=x.at(at), cy=y.at(value), r=3, class_="spot")


def _names(drawn: Sequence[tuple[int, str, Sequence[Point]]], x: Axis, y: Axis) -> list[Markup]:
    """Each name at its curve's last point, moved apart where they would lie on one another."""
    ends = []
    for index, name, points in drawn:
        last = [point for point in points if math.isfinite(point[1])][-1:]
        ends += [(y.at(point[1]), x.at(point[0]), index, name) for point in last]
    ends.sort()
    places = spread([end[0] for end in ends], GAP, y.end, y.start)
    parts = []
    for (at, start, index, name), place in zip(ends, places, strict=True):
        words = [text(x.end + 10, place + 3.5, name, "series", ROOM)]
        if abs(place - at) > 3 or x.end - start > 3:
            words.append(element("path", d=_path([(start + 4, at), (x.end + 8, place)]), class_="leader"))
        parts.append(element("g", Markup("").join(words), class_=series_class(index)))
    return parts


def spread(wanted: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Places in rising order, at least `gap` apart, near those wanted and above `bottom` where there is room.

    >>> spread([10, 11, 50], 13, 0, 100)
    [10, 23, 50]
    >>> spread([95, 99], 13, 0, 100)
    [87, 100]
    """
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + gap if places else top))
    limit = bottom
    for index in range(len(places) - 1, -1, -1):
        places[index] = min(places[index], limit)
        limit = places[index] - gap
    return places


def _pieces(points: Sequence[Point], whole: Callable[[Point], bool]) -> Iterator[list[Point]]:
    """The runs of points that are whole; what lies between them is a gap."""
    piece: list[Point] = []
    for point in points:
        if whole(point):
            piece.append(point)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)
