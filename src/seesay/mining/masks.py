"""Which pixels belong to a region. Pixel i covers i to i + 1; its middle is at i + ½."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seesay.mining.records import Box

Corners = tuple[int, int, int, int]
"""Left, top, right, bottom in whole pixels, the last two exclusive."""


def corners(box: Box, width: int, height: int) -> Corners:
    """The pixels that a box covers, at least one, clipped to the picture."""
    left, top, wide, high = box
    x0, x1 = _span(left, left + wide, width)
    y0, y1 = _span(top, top + high, height)
    return x0, y0, x1, y1


def outline(points: NDArray[np.float64], within: Corners) -> NDArray[np.bool_]:
    """Which pixels of a rectangle have their middle in a polygon (n, 2); all if the polygon is too
    thin for any.

    The even-odd rule, row by row: left of a pixel inside, edges cross the row an odd number of
    times.
    """
    x0, y0, x1, y1 = within
    (xa, ya), (xb, yb) = points.T, np.roll(points, -1, axis=0).T
    middles = np.arange(y0, y1) + 0.5
    rows, edges = np.nonzero((ya <= middles[:, None]) != (yb <= middles[:, None]))
    share = (middles[rows] - ya[edges]) / (yb[edges] - ya[edges])
    first = np.ceil(xa[edges] + share * (xb[edges] - xa[edges]) - 0.5).astype(np.int64)
    crossings = np.zeros((y1 - y0, x1 - x0 + 1), dtype=np.int64)
    np.add.at(crossings, (rows, np.clip(first - x0, 0, x1 - x0)), 1)
    inside = np.cumsum(crossings[:, :-1], axis=1) % 2 == 1
    return inside if inside.any() else np.ones_like(inside)


def _span(start: float, end: float, size: int) -> tuple[int, int]:
    first = min(max(round(start), 0), size - 1)
    return first, max(min(round(end), size), first + 1)
