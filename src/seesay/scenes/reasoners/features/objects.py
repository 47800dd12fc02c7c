"""Objects found in a picture without any labels: connected pixels of one hue on black, cut where
they are not convex.

Each becomes a slot that describes its pixels: how many there are, their colour, their outline, and
where they lie.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

IMAGE_SIZE = 192
"""Pixels a side of the pictures in which objects are found."""
SLOTS = 30
"""As many as a scene can have (`seesay.scenes.config.MOST_OBJECTS`)."""
OUTLINE = 8
"""Cells a side of an outline, which is scaled by the longer side, so that it shows shape and not
size."""
APPEARANCE = 3 + OUTLINE * OUTLINE
SLOT_SIZE = 1 + 1 + 4 + APPEARANCE
"""A slot: whether there is an object, its area, its box (top, left, bottom, right), its colour and
outline."""
_DARKEST = 24
_SMALLEST = 8
_NOTCH = 2.0
"""Pixels: where the outline of a group lies deeper inside its convex hull, two objects touch."""
_ANGLES = np.arange(36) * np.pi / 36
_NORMALS = np.array(
    [[f(turn + angle) for turn in (0, np.pi) for angle in _ANGLES] for f in (np.cos, np.sin)]
)
_BITS = np.array([1, 2, 4], dtype=np.uint8)
_AROUND = np.ones((3, 3), dtype=bool)

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Detected = tuple[float, tuple[float, float, float, float], Floats]
"""One object: its area in pixels (an edge pixel counts in part), its box, and its mean color and
outline."""


def find_objects(pictures: NDArray[np.uint8]) -> Floats:
    """Slots (items, SLOTS, SLOT_SIZE) of pictures (items, rows, columns, 3); the biggest first,
    empty ones all zero."""
    slots = np.zeros((len(pictures), SLOTS, SLOT_SIZE), dtype=np.float32)
    for row, picture in zip(slots, pictures, strict=True):
        biggest = sorted(_segment(picture), key=lambda detected: -detected[0])[:SLOTS]
        for slot, (area, box, appearance) in zip(row, biggest, strict=False):
            lengths = np.array(box, dtype=np.float32) / len(picture)
            slot[:] = np.concatenate(([1.0, area / len(picture) ** 2], lengths, appearance))
    return slots


def _segment(picture: NDArray[np.uint8]) -> list[Detected]:
    """Every connected group of pixels of one hue.

    A pixel at an edge is darker, by how much of it is covered. Those covered by half or more
    connect: a gap of one pixel separates two objects. The others count towards the area only.
    """
    from scipy import ndimage

    bright = picture.max(2)
    inside = (bright > ndimage.maximum_filter(bright, 3) // 2) & (bright >= _DARKEST)
    labels, _ = ndimage.label(inside)
    objects = []
    for number, (down, across) in enumerate(ndimage.find_objects(labels), 1):
        where = (
            slice(max(down.start - 1, 0), down.stop + 1),
            slice(max(across.start - 1, 0), across.stop + 1),
        )
        group = labels[where] == number
        light = bright[where]
        colors = picture[where]
        hue = (colors > light[:, :, None] // 2) @ _BITS
        kinds = np.unique(hue[group])
        for kind in kinds:
            parts, count = (group, 1) if len(kinds) == 1 else ndimage.label(group & (hue == kind))
            for part in range(1, count + 1):
                joint = parts == part
                if joint.sum() < _SMALLEST or (
                    len(kinds) > 1 and not ndimage.binary_erosion(joint, _AROUND).any()
                ):
                    # a speck, or the border where two objects touch, whose pixels mix both hues
                    continue
                for mask in _convex_parts(joint):
                    # not the pixels of other objects
                    free = mask | (~inside[where] & (hue == kind))
                    objects.append(
                        _measure(
                            colors, np.where(free, light, 0), mask, (where[0].start, where[1].start)
                        )
                    )
    return objects


def _convex_parts(mask: Mask) -> list[Mask]:
    """The pixels of objects that touch, one mask each. A straight line separates any two convex
    shapes; here it passes through the deepest notch of their outline, in the direction that leaves
    the smallest hulls."""
    from scipy import ndimage
    from scipy.spatial import ConvexHull

    outline = np.argwhere(mask & ~ndimage.binary_erosion(mask)) + 0.5
    along = outline @ _NORMALS
    depth = (along.max(0) - along).min(1)
    if depth.max() < _NOTCH:
        return [mask]
    down, across = (np.indices(mask.shape) + 0.5) - outline[depth.argmax()][:, None, None]
    cuts = []
    for angle, offset in product(_ANGLES, (-1.0, 0.0, 1.0)):
        side = np.cos(angle) * down + np.sin(angle) * across >= offset
        halves = mask & side, mask & ~side
        if min(half.sum() for half in halves) >= _SMALLEST:
            cuts.append((sum(ConvexHull(_corners(half)).volume for half in halves), halves))
    if not cuts:
        return [mask]
    return [part for half in min(cuts, key=lambda cut: cut[0])[1] for part in _convex_parts(half)]


def _corners(mask: Mask) -> NDArray[np.float64]:
    """The outer corners of each row's first and last pixel; no other point can be on the convex
    hull."""
    rows = np.flatnonzero(mask.any(1))
    first = mask[rows].argmax(1)
    last = mask.shape[1] - mask[rows, ::-1].argmax(1)
    corners = np.r_[rows, rows + 1, rows, rows + 1], np.r_[first, first, last, last]
    return np.stack(corners, axis=1).astype(np.float64)


def _measure(
    picture: NDArray[np.uint8], bright: NDArray[np.uint8], mask: Mask, corner: tuple[int, int]
) -> Detected:
    from scipy import ndimage

    level = bright[mask].max()
    around = ndimage.binary_dilation(mask, _AROUND)
    covered = np.where(around, bright, 0).astype(np.float32) / level
    color = picture[mask & (bright == level)].mean(0, dtype=np.float32) / 255
    down = _extent(covered.max(1))
    across = _extent(covered.max(0))
    box = (corner[0] + down[0], corner[1] + across[0], corner[0] + down[1], corner[1] + across[1])
    return (
        float(covered.sum()),
        box,
        np.concatenate((color, _outline(covered, down, across).ravel())),
    )


def _extent(profile: Floats) -> tuple[float, float]:
    """Where an object begins and ends along an axis, to a part of a pixel: small objects have few
    of them."""
    inner = np.flatnonzero(profile >= 0.5)
    first = inner[0]
    last = inner[-1]
    padded = np.pad(profile, 1)
    return float(first + 1 - padded[first : first + 2].sum()), float(
        last + padded[last + 1 : last + 3].sum()
    )


def _outline(covered: Floats, down: tuple[float, float], across: tuple[float, float]) -> Floats:
    """The covered share of each cell of a square around the object."""
    longer = max(down[1] - down[0], across[1] - across[0])
    rows, columns = (
        _spread(size, ends, longer)
        for size, ends in zip(covered.shape, (down, across), strict=True)
    )
    return np.asarray(rows @ covered @ columns.T, dtype=np.float32)


def _spread(size: int, ends: tuple[float, float], longer: float) -> Floats:
    """Row c holds the share of cell c that every pixel covers: the cells span `longer` pixels
    around the object's middle, and a pixel at its end only what lies within."""
    pixels = np.clip(np.arange(size + 1), *ends)
    cells = sum(ends) / 2 + longer * (np.arange(OUTLINE + 1) / OUTLINE - 0.5)
    low = np.maximum(pixels[:-1], cells[:-1, None])
    high = np.minimum(pixels[1:], cells[1:, None])
    width = np.maximum(np.diff(pixels), 1e-6)
    share: Floats = (np.clip(high - low, 0, None) / width * OUTLINE / longer).astype(np.float32)
    return share
