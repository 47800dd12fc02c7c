"""Objects found in a picture without any labels: connected pixels of one hue on black.

Each becomes a slot that describes its pixels: how many there are, their colour, their outline, and where they lie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IMAGE_SIZE = 192
"""Pixels a side of the pictures in which objects are found."""
SLOTS = 12
OUTLINE = 8
"""Cells a side of an outline, which is scaled by the longer side, so that it shows shape and not size."""
APPEARANCE = 3 + OUTLINE * OUTLINE
SLOT_SIZE = 1 + 1 + 4 + APPEARANCE
"""A slot: whether there is an object, its area, its box (top, left, bottom, right), its colour and outline."""
_DARKEST = 24
_SMALLEST = 8
_BITS = np.array([1, 2, 4], dtype=np.uint8)
_AROUND = np.ones((3, 3), dtype=bool)

Floats = NDArray[np.float32]


def find_objects(pictures: NDArray[np.uint8]) -> Floats:
    """Slots (items, SLOTS, SLOT_SIZE) of pictures (items, rows, columns, 3); the biggest first, empty ones all zero."""
    slots = np.zeros((len(pictures), SLOTS, SLOT_SIZE), dtype=np.float32)
    for row, picture in zip(slots, pictures, strict=True):
        biggest = sorted(_segment(picture), key=lambda detected: -detected.area)[:SLOTS]
        for slot, detected in zip(row, biggest, strict=False):
            slot[:] = detected.slot(len(picture))
    return slots


@dataclass(frozen=True, slots=True)
class DetectedObject:
    """One object: its area in pixels (an edge pixel counts in part), its box, mean color and outline."""

    area: float
    box: tuple[int, int, int, int]
    color: Floats
    outline: Floats

    def slot(self, image_size: int) -> Floats:
        """As a row of numbers, lengths as shares of the picture's size."""
        box = np.array(self.box, dtype=np.float32) / image_size
        numbers = ([1.0, self.area / image_size**2], box, self.color, self.outline.ravel())
        return np.concatenate(numbers).astype(np.float32)


def _segment(picture: NDArray[np.uint8]) -> list[DetectedObject]:
    """Every connected group of pixels of one hue.

    A pixel at an edge is darker, by how much of it is covered. Those covered by half or more connect: a gap of one
    pixel separates two objects. The others count towards the area only.
    """
    from scipy import ndimage

    bright = picture.max(2)
    inside = (bright > ndimage.maximum_filter(bright, 3) // 2) & (bright >= _DARKEST)
    labels, _ = ndimage.label(inside)
    objects = []
    for number, (down, across) in enumerate(ndimage.find_objects(labels), 1):
        where = (slice(max(down.start - 1, 0), down.stop + 1), slice(max(across.start - 1, 0), across.stop + 1))
        group, light, colors = labels[where] == number, bright[where], picture[where]
        hue = (colors > light[:, :, None] // 2) @ _BITS
        kinds = np.unique(hue[group])
        for kind in kinds:
            parts, count = (group, 1) if len(kinds) == 1 else ndimage.label(group & (hue == kind))
            for part in range(1, count + 1):
                mask = parts == part
                if mask.sum() < _SMALLEST or (len(kinds) > 1 and not ndimage.binary_erosion(mask, _AROUND).any()):
                    continue  # a speck, or the border where two objects touch, whose pixels mix both hues
                free = mask | (~inside[where] & (hue == kind))  # not the pixels of other objects
                objects.append(_measure(colors, np.where(free, light, 0), mask, (where[0].start, where[1].start)))
    return objects


def _measure(
    picture: NDArray[np.uint8], bright: NDArray[np.uint8], mask: NDArray[np.bool_], corner: tuple[int, int]
) -> DetectedObject:
    from scipy import ndimage

    level = bright[mask].max()
    around = ndimage.binary_dilation(mask, _AROUND)
    covered = np.where(around, bright, 0).astype(np.float32) / level
    color = picture[mask & (bright == level)].mean(0, dtype=np.float32) / 255
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    box = (corner[0] + top, corner[1] + left, corner[0] + bottom, corner[1] + right)
    return DetectedObject(float(covered.sum()), box, color, _outline(covered[top:bottom, left:right]))


def _outline(covered: Floats) -> Floats:
    """The covered share of each cell of a square around the object."""
    rows, columns = covered.shape
    longer = max(rows, columns)
    return np.asarray(_spread(rows, longer) @ covered @ _spread(columns, longer).T, dtype=np.float32)


def _spread(length: int, longer: int) -> Floats:
    """Row c holds the share of every pixel that falls into cell c, with `length` pixels in the middle of `longer`."""
    edges = np.arange(length + 1) + (longer - length) / 2
    cells = np.arange(OUTLINE + 1) * longer / OUTLINE
    low = np.maximum(edges[None, :-1], cells[:-1, None])
    high = np.minimum(edges[None, 1:], cells[1:, None])
    share: Floats = (np.clip(high - low, 0, None) * OUTLINE / longer).astype(np.float32)
    return share
