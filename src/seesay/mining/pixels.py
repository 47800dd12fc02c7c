"""The colours of a region by its pixels, named in CIELAB: the default, since it needs no model.

Every colour of a coarse RGB cube has one of the eleven names, by its lightness, chroma and hue; the
pixels of a region are looked up and vote. Shadows, highlights and background lose the vote: pixels
weigh more the nearer they are to the middle, and a colour needs a minimum share of the votes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from seesay.data.color_names import color_names
from seesay.data.knowledge import COLORS
from seesay.metrics.base import FloatArray
from seesay.mining.masks import corners, outline
from seesay.mining.records import Region

STEP = 8
"""Levels of a channel per cell of the table."""
MIN_SHARE = 0.3
"""Share of the votes that a colour needs besides the most frequent one."""
MIN_LIT = 0.1
"""Shade makes white look gray, but light never makes gray white: from this share of white on, all
gray is white."""


@cache
def _table() -> NDArray[np.int8]:
    levels = (np.arange(0, 256, STEP) + STEP / 2) / 255
    return color_names(np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1))


def votes(picture: NDArray[np.uint8], region: Region) -> FloatArray:
    """Shares of the eleven colours in a region of an RGB picture; all zeros if it has no pixel."""
    left, top, width, height = region.box
    rows, columns = picture.shape[:2]
    if (
        min(width, height) <= 0
        or left >= columns
        or top >= rows
        or left + width <= 0
        or top + height <= 0
    ):
        return np.zeros(len(COLORS))
    within = corners(region.box, columns, rows)
    x0, y0, x1, y1 = within
    cells = picture[y0:y1, x0:x1, :3] // STEP
    named = _table()[cells[..., 0], cells[..., 1], cells[..., 2]]
    weights = np.outer(_middle(y1 - y0), _middle(x1 - x0))
    if region.polygon:
        weights = weights * outline(np.asarray(region.polygon).reshape(-1, 2), within)
    counted = np.bincount(named.ravel(), weights=weights.ravel(), minlength=len(COLORS))
    white = COLORS.index("white")
    gray = COLORS.index("gray")
    if counted[white] >= MIN_LIT * (counted[white] + counted[gray]):
        counted[white], counted[gray] = counted[white] + counted[gray], 0
    return np.asarray(counted / counted.sum())


def region_colors(picture: NDArray[np.uint8], region: Region) -> tuple[str, ...]:
    """A region's colours: the most frequent one, and any other with a large enough share."""
    shares = votes(picture, region)
    if not shares.any():
        return ()
    best = int(shares.argmax())
    return tuple(color for i, color in enumerate(COLORS) if i == best or shares[i] >= MIN_SHARE)


def _middle(length: int) -> FloatArray:
    """Weights that fall from 1 in the middle to a quarter at the edge."""
    place = np.abs((np.arange(length) + 0.5) / length - 0.5) * 2
    return np.asarray(1 - 0.75 * place**2)
