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
from seesay.mining.masks import region_pixels
from seesay.mining.records import Colors, Region

Pixels = NDArray[np.uint8]
"""An RGB picture (height, width, 3)."""
STEP = 8
"""Levels of a channel per cell of the table."""
MIN_SHARE = 0.3
"""Share of the votes that a colour needs besides the most frequent one."""
MIN_LIT = 0.1
"""Shade makes white look gray, but light never makes gray white: from this share of white on, all
gray is white."""


@cache
def _table() -> NDArray[np.int8]:
    """Return the index of the colour name of each cell of the RGB cube."""
    # A cell has the name of the colour in its middle.
    levels = (np.arange(0, 256, STEP) + STEP / 2) / 255
    cube = np.meshgrid(levels, levels, levels, indexing="ij")
    return color_names(np.stack(cube, axis=-1))


def votes(picture: Pixels, region: Region) -> FloatArray:
    """Return the shares of the eleven colours in a region of an RGB picture.

    All are 0 if the region has no pixel. `picture`: (height, width, 3).
    """
    left, top, width, height = region.box
    rows, columns = picture.shape[:2]
    overlaps_x = left < columns and left + width > 0
    overlaps_y = top < rows and top + height > 0
    # A region outside of the picture would have the nearest pixel.
    if min(width, height) <= 0 or not overlaps_x or not overlaps_y:
        return np.zeros(len(COLORS))
    window, inside = region_pixels(region, picture.shape)
    red, green, blue = np.moveaxis(picture[window] // STEP, -1, 0)
    color_indices = _table()[red, green, blue]
    weights = np.outer(*map(_centre_weights, inside.shape)) * inside
    totals = np.bincount(color_indices.ravel(), weights=weights.ravel(), minlength=len(COLORS))
    white = COLORS.index("white")
    gray = COLORS.index("gray")
    white_or_gray = totals[white] + totals[gray]
    if totals[white] >= MIN_LIT * white_or_gray:
        totals[white] = white_or_gray
        totals[gray] = 0
    return np.asarray(totals / totals.sum())


def region_colors(picture: Pixels, region: Region) -> Colors:
    """Return a region's colours: the most frequent one, and any other with a large enough share.

    ViPhy also gives an object more than one colour, where the model's answer names several
    (appendix A.4).
    """
    shares = votes(picture, region)
    if not shares.any():
        return ()
    best = int(shares.argmax())
    return tuple(color for i, color in enumerate(COLORS) if i == best or shares[i] >= MIN_SHARE)


def _centre_weights(length: int) -> FloatArray:
    """Return weights that fall from 1 in the middle to a quarter at the edge.

    A box holds background at its edges, most of all in its corners.
    """
    place = np.abs((np.arange(length) + 0.5) / length - 0.5) * 2
    return np.asarray(1 - 0.75 * place**2)
