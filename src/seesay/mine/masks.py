"""Which pixels are a region's. Pixel i covers i to i + 1; its middle is at i + ½."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seesay.mine.records import Box

Corners = tuple[int, int, int, int]
"""Left, top, right, bottom in whole pixels, the last two outside."""


def corners(box: Box, width: int, height: int) -> Corners:
    """The pixels that a box covers, at least one, inside of a picture."""
    left, top, wide, high = box
    x0, x1 = _span(left, left + wide, width)
    y0, y1 = _span(top, top + high, height)
    return x0, y0, x1, y1


def outline(points: NDArray[np.float64], within: Corners) -> NDArray[np.bool_]:
    """Which pixels of a rectangle lie in a polygon (n, 2); all of them where it is too thin to hold one."""
    from PIL import Image, ImageDraw

    x0, y0, x1, y1 = within
    mask = Image.new("1", (x1 - x0, y1 - y0))
    moved = points - (x0, y0) - 0.5  # PIL puts whole numbers on the middles of pixels
    ImageDraw.Draw(mask).polygon([(x, y) for x, y in moved.tolist()], fill=1)
    drawn = np.asarray(mask)
    return drawn if drawn.any() else np.ones_like(drawn)


def _span(start: float, end: float, size: int) -> tuple[int, int]:
    first = min(max(round(start), 0), size - 1)
    return first, max(min(round(end), size), first + 1)
