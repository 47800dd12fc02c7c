"""Line charts with bands and direct labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from seesay.reports.charts.kernel import (
    WIDTH,
    Axis,
    axis,
    chart,
    coordinate,
    element,
    empty_chart,
    group,
    horizontal_line,
    legend,
    log_axis,
    series_class,
    text,
    text_width,
    tooltip,
    truncate,
    vertical_line,
    x_axis,
    y_axis,
    y_room,
)
from seesay.reports.formatting import brief

HEIGHT = 220.0
LEFT = 40.0
ROOM = 124.0
"""Room for names at the right; longer names are listed in a legend as well."""

GAP = 13.0

Point = tuple[float, float, float, float]
"""x, y, and the ends of the band (NaN without a band)."""

Curve = tuple[str, str, list[Point]]
"""The class that colors a series, its name, and its points that have an x."""

REFERENCE = "ink"
"""The class of a series in the color of text."""


@dataclass(frozen=True)
class Series:
    """A curve: y over x, with the ends of its band, if any.

    A reference, such as the average of the others, has the color of text and no hue of its own. A
    dashed line without marks, such as chance, lets a curve be seen that it lies on.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    is_reference: bool = field(default=False, kw_only=True)
    is_dashed: bool = field(default=False, kw_only=True)

    @property
    def points(self) -> list[Point]:
        """The points in order of x; those without a y are gaps."""
        no_ends = [math.nan] * len(self.x)
        low_ends = self.low or no_ends
        high_ends = self.high or no_ends
        points = []
        for x, y, low, high in zip(self.x, self.y, low_ends, high_ends, strict=True):
            points.append((float(x), float(y), float(low), float(high)))
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
    """Draw curves on shared axes: one mark per point, a gap where a value is missing, a band where
    both ends are known.

    `y_ends` belong to the axis whatever the values are, so that charts side by side can be
    compared.
    """
    curves: list[Curve] = []
    hues = 0
    for one_series in series:
        color = REFERENCE if one_series.is_reference else series_class(hues)
        hues += not one_series.is_reference
        points = [point for point in one_series.points if math.isfinite(point[0])]
        curves.append((color, one_series.name, points))
    finite = [point for _, _, points in curves for point in points if math.isfinite(point[1])]
    if not finite:
        return empty_chart("lines", title)
    names = [one_series.name for one_series in series]
    right = WIDTH - 12 - text_width(names, ROOM)
    # bands belong to the axis as well: they must not leave the chart
    y_values = [value for point in finite for value in point[1:]]
    y = axis([*y_ends, *y_values], HEIGHT, 20)
    left = y_room(y, LEFT)
    x_values = [point[0] for point in finite]
    if log_x:
        x = log_axis(x_values, left, right)
    else:
        x = axis(x_values, left, right, tight=True)
    parts = [*y_axis(y, x.start, x.end, y_label), *x_axis(x, HEIGHT, x_label)]
    parts.append(horizontal_line(x.start, x.end, HEIGHT, "base"))
    # all bands come before all curves: no band lies on a curve
    for color, _, points in curves:
        parts.append(group(_bands(points, x, y), color))
    for one_series, (color, name, points) in zip(series, curves, strict=True):
        draw = _dashes if one_series.is_dashed else _curves
        parts.append(group(draw(name, points, x, y), color))
    parts += _names(curves, x, y)
    bottom = HEIGHT + 42
    # hues repeat after six series, and a name that is cut off must be readable somewhere
    if len(series) > 6 or any(truncate(name, ROOM) != name for name in names):
        spot = element("circle", r=4, class_="spot")
        keys = [group([spot], color) for color, _, _ in curves]
        entries, height = legend(names, keys, bottom)
        parts += entries
        bottom += height
    return chart("lines", WIDTH, bottom, title, parts)


def _bands(
    points: Sequence[Point],
    x: Axis,
    y: Axis,
) -> Iterator[Markup]:
    """Draw the bands of a curve, one for each piece without a gap."""
    for piece in _pieces(points, lambda point: all(map(math.isfinite, point))):
        if len(piece) == 1:
            # a band of one point has no area: its interval is a line
            value, _, low, high = piece[0]
            yield vertical_line(
                x.at(value),
                y.at(low),
                y.at(high),
                "curve",
            )
        else:
            upper = [(x.at(value), y.at(high)) for value, _, _, high in piece]
            lower = [(x.at(value), y.at(low)) for value, _, low, _ in reversed(piece)]
            yield element(
                "path",
                d=_path(upper + lower) + "Z",
                class_="band",
            )


def _placed_pieces(
    points: Sequence[Point], x: Axis, y: Axis
) -> Iterator[tuple[Sequence[Point], list[tuple[float, float]]]]:
    """Yield the points of each piece without a gap, and where they are in the chart."""
    for piece in _pieces(points, lambda point: math.isfinite(point[1])):
        yield piece, [(x.at(point[0]), y.at(point[1])) for point in piece]


def _curves(
    name: str,
    points: Sequence[Point],
    x: Axis,
    y: Axis,
) -> Iterator[Markup]:
    """Draw the pieces of a curve, and a mark with its numbers at every point."""
    for piece, spots in _placed_pieces(points, x, y):
        if len(piece) > 1:
            yield element("path", d=_path(spots), class_="curve")
        for (x_value, y_value, low, high), (cx, cy) in zip(piece, spots, strict=True):
            description = f"{name}: {brief(x_value)}, {brief(y_value)}"
            if math.isfinite(low) and math.isfinite(high):
                description += f" ({brief(low)} to {brief(high)})"
            yield element(
                "circle",
                tooltip(description),
                cx=cx,
                cy=cy,
                r=3,
                class_="spot",
            )


def _dashes(
    name: str,
    points: Sequence[Point],
    x: Axis,
    y: Axis,
) -> Iterator[Markup]:
    """Draw the pieces of a line as dashes without marks."""
    for _, spots in _placed_pieces(points, x, y):
        yield element("path", tooltip(name), d=_path(spots), class_="average")


def _names(curves: Sequence[Curve], x: Axis, y: Axis) -> list[Markup]:
    """Return each name at its curve's last point; overlapping names are moved apart."""
    ends = []
    for color, name, points in curves:
        finite = [point for point in points if math.isfinite(point[1])]
        if finite:
            x_value, y_value, *_ = finite[-1]
            ends.append((y.at(y_value), x.at(x_value), color, name))
    # from the top down, as names are moved apart in that order
    ends.sort()
    heights = spread_apart(
        [end[0] for end in ends],
        GAP,
        y.end,
        y.start,
    )
    parts = []
    for (end_y, end_x, color, name), height in zip(ends, heights, strict=True):
        label = [
            text(
                x.end + 10,
                height + 3.5,
                name,
                "series",
                ROOM,
            )
        ]
        # a name beside its own point needs no line to it
        if abs(height - end_y) > 3 or x.end - end_x > 3:
            path = _path([(end_x + 4, end_y), (x.end + 8, height)])
            label.append(element("path", d=path, class_="leader"))
        parts.append(group(label, color))
    return parts


def spread_apart(
    positions: Sequence[float],
    gap: float,
    top: float,
    bottom: float,
) -> list[float]:
    """Return rising positions moved at least `gap` apart, and above `bottom` where there is room.

    >>> spread_apart([10, 11, 50], 13, 0, 100)
    [10, 23, 50]
    >>> spread_apart([95, 99], 13, 0, 100)
    [87, 100]
    """
    moved: list[float] = []
    highest = top
    for position in positions:
        moved.append(max(position, highest))
        highest = moved[-1] + gap
    # from below, what was pushed over the bottom pushes its neighbors back up
    limit = bottom
    for index in range(len(moved) - 1, -1, -1):
        moved[index] = min(moved[index], limit)
        limit = moved[index] - gap
    return moved


def _pieces(points: Sequence[Point], passes: Callable[[Point], bool]) -> Iterator[list[Point]]:
    """Yield the contiguous pieces of points that pass the test.

    What lies between them is a gap.
    """
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
