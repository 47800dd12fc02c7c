"""What can be seen in a picture without knowing anything: its colour, and which is larger."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.data.color_names import color_names
from seesay.data.knowledge import COLORS
from seesay.data.pictures import open_rgb
from seesay.pictures.plan import EQUAL, LARGER, SMALLER

_BACKGROUND = 6  # levels by which a pixel of a thing differs from the corner, all channels together
_SAME = 1.15  # the ratio of lengths up to which two things look equally large


@lru_cache(maxsize=4096)
def dominant_color(path: str | Path) -> str:
    """Return the colour name that most pixels have, apart from the background."""
    pixels, thing = _read(path)
    # flat icons have few colours: naming each once is much faster than naming every pixel
    packed = pixels[thing].astype(np.int32) @ (1 << 16, 1 << 8, 1)
    colors, counts = np.unique(packed, return_counts=True)
    red = colors >> 16
    green = colors >> 8 & 255
    blue = colors & 255
    rgb = np.stack([red, green, blue], axis=1) / 255
    votes = np.bincount(color_names(rgb), weights=counts, minlength=len(COLORS))
    return COLORS[int(votes.argmax())]


@lru_cache(maxsize=4096)
def compare_sizes(path: str | Path) -> str:
    """Return how the thing in the left half compares with that in the right half.

    Their longer sides are compared.
    """
    _, thing = _read(path)
    middle = thing.shape[1] // 2
    left = _length(thing[:, :middle])
    right = _length(thing[:, middle:])
    # drawn lengths differ by more than twice, or not at all
    if max(left, right) <= _SAME * min(left, right):
        return EQUAL
    return LARGER if left > right else SMALLER


def _read(path: str | Path) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the pixels, and which of them differ from the corner."""
    pixels = np.asarray(open_rgb(path))
    difference = np.abs(pixels.astype(np.int16) - pixels[0, 0]).sum(axis=2)
    return pixels, difference > _BACKGROUND


def _length(thing: NDArray[np.bool_]) -> int:
    """Return the longer side of the box around a thing, in pixels."""
    if not thing.any():
        return 0
    lengths = []
    for axis in (0, 1):
        covered = np.flatnonzero(thing.any(axis=axis))
        lengths.append(int(covered[-1] - covered[0] + 1))
    return max(lengths)
