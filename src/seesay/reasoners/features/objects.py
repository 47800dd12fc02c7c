"""Objects found in a picture, without anyone's labels: connected pixels of one hue on black.

Each becomes a slot of what its pixels say: how many there are, their colour, their outline, and where they lie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIDE = 192
"""Pixels a side of the pictures that objects are looked for in."""
SLOTS = 12
OUTLINE = 8
"""Cells a side of an outline, which is scaled by the longer side, so that it tells shape and not size."""
LOOK = 3 + OUTLINE * OUTLINE
WIDTH = 1 + 1 + 4 + LOOK
"""A slot: whether there is an object, its area, its box (top, left, bottom, right), its colour and outline."""
_DARKEST = 24
_SMALLEST = 8
_BITS = np.array([1, 2, 4], dtype=np.uint8)
_AROUND = np.ones((3, 3), dtype=bool)

Floats = NDArray[np.float32]


def find(pictures: NDArray[np.uint8]) -> Floats:
    """Pictures (items, rows, columns, 3) to slots (items, SLOTS, WIDTH); the biggest first, absent ones all zero."""
    found = np.zeros((len(pictures), SLOTS, WIDTH), dtype=np.float32)
    for slots, picture in zip(found, pictures, strict=True):
        seen = sorted(_objects(picture), key=lambda one: -one.area)[:SLOTS]
        for slot, one in zip(slots, seen, strict=False):
            slot[:] = one.slot(len(picture))
    return found


@dataclass(frozen=True, slots=True)
class Seen:
    """One object: its area in pixels (an edge pixel counts in part), its box, mean colour and outline."""

    area: float
    box: tuple[int, int, int, int]
    colour: Floats
    outline: Floats

    def slot(self, side: int) -> Floats:
        """As a row of numbers, lengths in shares of the picture's side."""
        box = np.array(self.box, dtype=np.float32) / side
        return np.concatenate(([1.0, self.area / side**2], box, self.colour, self.outline.ravel())).astype(np.float32)


def _objects(picture: NDArray[np.uint8]) -> list[Seen]:
    """Every connected group of pixels of one hue.

    A pixel at an edge is darker, by how much of it is covered. Those covered by half and more connect: a gap of one
    pixel parts two objects. The others count for the area alone.
    """
    from scipy import ndimage

    bright = picture.max(2)
    inside = (bright > ndimage.maximum_filter(bright, 3) // 2) & (bright >= _DARKEST)
    labels, _ = ndimage.label(inside)
    found = []
    for number, (down, across) in enumerate(ndimage.find_objects(labels), 1):
        where = (slice(max(down.start - 1, 0), down.stop + 1), slice(max(across.start - 1, 0), across.stop + 1))
        group, light, colours = labels[where] == number, bright[where], picture[where]
        hue = (colours > light[:, :, None] // 2) @ _BITS
        kinds = np.unique(hue[group])
        for kind in kinds:
            parts, count = (group, 1) if len(kinds) == 1 else ndimage.label(group & (hue == kind))
            for part in range(1, count + 1):
                mask = parts == part
                if mask.sum() < _SMALLEST or (len(kinds) > 1 and not ndimage.binary_erosion(mask, _AROUND).any()):
                    continue  # a speck, or the line where two objects touch, whose pixels mix both hues
                free = mask | (~inside[where] & (hue == kind))  # what belongs to another object is no edge of this one
                found.append(_seen(colours, np.where(free, light, 0), mask, (where[0].start, where[1].start)))
    return found


def _seen(
    picture: NDArray[np.uint8], bright: NDArray[np.uint8], mask: NDArray[np.bool_], corner: tuple[int, int]
) -> Seen:
    from scipy import ndimage

    level = bright[mask].max()
    around = ndimage.binary_dilation(mask, _AROUND)
    covered = np.where(around, bright, 0).astype(np.float32) / level
    colour = picture[mask & (bright == level)].mean(0, dtype=np.float32) / 255
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    box = (corner[0] + top, corner[1] + left, corner[0] + bottom, corner[1] + right)
    return Seen(float(covered.sum()), box, colour, _outline(covered[top:bottom, left:right]))


def _outline(covered: Floats) -> Floats:
    """How much of each cell of a square around the object is covered."""
    rows, columns = covered.shape
    longer = max(rows, columns)
    return np.asarray(_spread(rows, longer) @ covered @ _spread(columns, longer).T, dtype=np.float32)


def _spread(length: int, longer: int) -> Floats:
    """Row c says which share of every pixel falls into cell c, when `length` pixels stand in the middle of `longer`."""
    edges = np.arange(length + 1) + (longer - length) / 2
    cells = np.arange(OUTLINE + 1) * longer / OUTLINE
    low = np.maximum(edges[None, :-1], cells[:-1, None])
    high = np.minimum(edges[None, 1:], cells[1:, None])
    share: Floats = (np.clip(high - low, 0, None) * OUTLINE / longer).astype(np.float32)
    return share
