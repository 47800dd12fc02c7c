"""What can be seen in a picture without knowing anything: its colour, and which of two things is
larger."""

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
    """The name that most pixels have, the background left out."""
    pixels, thing = _read(path)
    packed = pixels[thing].astype(np.int32) @ (1 << 16, 1 << 8, 1)
    colors, counts = np.unique(packed, return_counts=True)  # few: icons are flat
    rgb = np.stack([colors >> 16, colors >> 8 & 255, colors & 255], axis=1) / 255
    votes = np.bincount(color_names(rgb), weights=counts, minlength=len(COLORS))
    return COLORS[int(votes.argmax())]


@lru_cache(maxsize=4096)
def compared_size(path: str | Path) -> str:
    """How the thing in the left half compares with that in the right half, by their longer
    sides."""
    _, thing = _read(path)
    middle = thing.shape[1] // 2
    left = _length(thing[:, :middle])
    right = _length(thing[:, middle:])
    if max(left, right) <= _SAME * min(left, right):
        return EQUAL
    return LARGER if left > right else SMALLER


def _read(path: str | Path) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """The pixels, and which of them differ from the corner."""
    pixels = np.asarray(open_rgb(path))
    difference = np.abs(pixels.astype(np.int16) - pixels[0, 0]).sum(axis=2)
    return pixels, difference > _BACKGROUND


def _length(thing: NDArray[np.bool_]) -> int:
    if not thing.any():
        return 0
    spans = [np.flatnonzero(thing.any(axis=axis)) for axis in (0, 1)]
    return int(max(span[-1] - span[0] + 1 for span in spans))
