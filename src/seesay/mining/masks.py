"""Which pixels belong to a region. Pixel i covers i to i + 1; its middle is at i + ½."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import BoolArray, FloatArray
from seesay.mining.records import Box, Region

Corners = tuple[int, int, int, int]
"""Left, top, right, bottom in whole pixels, the last two exclusive."""
Window = tuple[slice, slice]
"""Rows and columns of a picture."""


def corners(box: Box, width: int, height: int) -> Corners:
    """Return the pixels that a box covers, at least one, clipped to the picture.

    >>> corners((1.2, 0.0, 2.5, 10.0), width=4, height=3)
    (1, 0, 4, 3)
    """
    left, top, box_width, box_height = box
    x0, x1 = _span(left, left + box_width, width)
    y0, y1 = _span(top, top + box_height, height)
    return x0, y0, x1, y1


def region_pixels(
    region: Region,
    shape: tuple[int, ...],
    scale: tuple[float, float] = (1.0, 1.0),
) -> tuple[Window, BoolArray]:
    """Return the part of a picture that a region's box covers, and which of its pixels are inside:
    of the region's polygon if it has one, else of its box.

    The part has at least one pixel, since a map may be much smaller than its picture.

    `shape`: height and width of the picture, or of a map of it.
    `scale`: pixels of the map for one of the picture, across and down.
    """
    left, top, width, height = np.multiply(region.box, scale + scale).tolist()
    within = corners((left, top, width, height), shape[1], shape[0])
    x0, y0, x1, y1 = within
    inside = np.ones((y1 - y0, x1 - x0), dtype=bool)
    if region.polygon:
        inside = outline(np.reshape(region.polygon, (-1, 2)) * scale, within)
    return (slice(y0, y1), slice(x0, x1)), inside


def outline(points: FloatArray, within: Corners) -> BoolArray:
    """Return which pixels of a rectangle have their middle in a polygon.

    All, if the polygon is too thin for any. The even-odd rule, row by row: left of a pixel inside,
    edges cross the row an odd number of times.

    `points`: (n, 2), the polygon's corners in the picture.
    `within`: the rectangle, in pixels of the picture.

    >>> triangle = np.array([[0.0, 0.0], [4.0, 3.0], [0.0, 3.0]])
    >>> outline(triangle, (0, 0, 3, 3)).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    x0, y0, x1, y1 = within
    start_x, start_y = points.T
    end_x, end_y = np.roll(points, -1, axis=0).T
    middles = np.arange(y0, y1) + 0.5
    # An edge crosses a row if one end is above its middle and the other is not. Horizontal edges
    # never do, so nothing is divided by 0.
    starts_above = start_y <= middles[:, None]
    ends_above = end_y <= middles[:, None]
    rows, edges = np.nonzero(starts_above != ends_above)
    edge_x = start_x[edges]
    edge_y = start_y[edges]
    share = (middles[rows] - edge_y) / (end_y[edges] - edge_y)
    crossing_x = edge_x + share * (end_x[edges] - edge_x)
    # The first pixel whose middle is not left of the crossing.
    first = np.ceil(crossing_x - 0.5).astype(np.int64)
    # One more column takes the crossings right of the rectangle.
    crossings = np.zeros((y1 - y0, x1 - x0 + 1), dtype=np.int64)
    np.add.at(crossings, (rows, np.clip(first - x0, 0, x1 - x0)), 1)
    inside = np.cumsum(crossings[:, :-1], axis=1) % 2 == 1
    if not inside.any():
        inside[:] = True
    return np.asarray(inside)


def _span(start: float, end: float, size: int) -> tuple[int, int]:
    """Return the first pixel and the end of a range of pixels, at least one."""
    first = min(max(round(start), 0), size - 1)
    return first, max(min(round(end), size), first + 1)
