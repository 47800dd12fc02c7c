"""What a picture looks like, in numbers that anyone can check: a thumbnail and its colours.

A pretrained encoder has seen lemons. These features have seen nothing: what a model makes of them
it has learnt from its diet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from seesay.pictures.drawing import rgb
from seesay.pictures.plan import ColorPicture

Features = NDArray[np.float32]

SIDE = 36
"""Pixels per side at which pictures are drawn."""
THUMBNAIL = 6
"""Pixels per side of the thumbnail."""
LEVELS = 4
"""Levels of red, green and blue by which pixels are counted."""
SIZE = 3 * THUMBNAIL**2 + LEVELS**3
"""Numbers per picture."""


def features_of(pixels: NDArray[np.uint8]) -> Features:
    """Return the features of a picture's pixels (a multiple of the thumbnail's side, RGB).

    The thumbnail is relative to the picture's corner, which shows the background; colours are the
    square roots of the shares of pixels that differ from it.
    """
    side = len(pixels) // THUMBNAIL
    shades = pixels.astype(np.float32) / 255
    background = shades[0, 0]
    blocks = (shades - background).reshape(THUMBNAIL, side, THUMBNAIL, side, 3)
    thumbnail = blocks.mean(axis=(1, 3))
    is_thing = np.abs(shades - background).sum(axis=2) > 0.02
    levels = np.minimum((shades[is_thing] * LEVELS).astype(np.int64), LEVELS - 1)
    cells = levels @ (LEVELS**2, LEVELS, 1)
    counts = np.bincount(cells, minlength=LEVELS**3)
    shares = np.sqrt(counts / max(1, counts.sum()))
    return np.concatenate([thumbnail.ravel(), shares]).astype(np.float32)


@lru_cache(maxsize=1 << 15)
def _features(picture: ColorPicture) -> Features:
    return features_of(rgb(picture, SIDE))


def look(pictures: Iterable[ColorPicture | None]) -> Features:
    """Return one row per picture; where there is nothing to see, it is zeros."""
    nothing = np.zeros(SIZE, dtype=np.float32)
    rows: Sequence[Features] = [
        nothing if picture is None else _features(picture) for picture in pictures
    ]
    return np.stack(rows)
