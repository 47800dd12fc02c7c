"""Objects found in a picture without any labels.

They are connected pixels of one hue on black, cut where they are not convex. Each becomes a slot
that describes its pixels: how many there are, their colour, their outline, and where they lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

IMAGE_SIZE = 192
"""Pixels a side of the pictures in which objects are found."""
SLOTS = 30
"""As many as a scene can have (`seesay.scenes.config.MOST_OBJECTS`)."""
OUTLINE = 8
"""Cells a side of an outline.

It is scaled by the longer side, so that it shows shape and not size.
"""
APPEARANCE = 3 + OUTLINE * OUTLINE
SLOT_SIZE = 1 + 1 + 4 + APPEARANCE
"""Numbers of a slot.

They are: whether there is an object, its area, its box (top, left, bottom, right), its colour and
outline.
"""
_DARKEST = 24
SMALLEST = 8
"""Pixels of the smallest group that counts as an object."""
_NOTCH = 2.0
"""Pixels: where the outline of a group lies deeper inside its convex hull, two objects touch."""
_ANGLES = np.arange(36) * np.pi / 36
# every 5 degrees all around: a half turn, and the half turn opposite
_AROUND_ANGLES = np.concatenate((_ANGLES, np.pi + _ANGLES))
_NORMALS = np.array([np.cos(_AROUND_ANGLES), np.sin(_AROUND_ANGLES)])
_BITS = np.array([1, 2, 4], dtype=np.uint8)
_AROUND = np.ones((3, 3), dtype=bool)

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Detected = tuple[float, tuple[float, float, float, float], Floats]
"""One object: its area in pixels, its box, and its mean color and outline.

A pixel at the edge counts in part.
"""


def find_objects(pictures: NDArray[np.uint8]) -> Floats:
    """Return slots (items, SLOTS, SLOT_SIZE) of pictures (items, rows, columns, 3).

    The biggest object comes first; empty slots are all zero.
    """
    return np.stack([to_slots(_segment(picture), len(picture)) for picture in pictures])


def to_slots(detected: Iterable[Detected], size: int) -> Floats:
    """Return slots (SLOTS, SLOT_SIZE) of the objects of a picture of `size` pixels a side."""
    slots = np.zeros((SLOTS, SLOT_SIZE), dtype=np.float32)
    biggest = sorted(detected, key=lambda one: -one[0])[:SLOTS]
    for slot, (area, box, appearance) in zip(slots, biggest, strict=False):
        lengths = np.array(box, dtype=np.float32) / size
        slot[:] = np.concatenate(([1.0, area / size**2], lengths, appearance))
    return slots


def covered_pixels(picture: NDArray[np.uint8]) -> Mask:
    """Return the pixels of which objects cover half or more.

    A pixel at an edge is darker, by how much of it is covered.
    """
    from scipy import ndimage

    bright = picture.max(2)
    inside: Mask = (bright > ndimage.maximum_filter(bright, 3) // 2) & (bright >= _DARKEST)
    return inside


def _segment(picture: NDArray[np.uint8]) -> list[Detected]:
    """Return every connected group of pixels of one hue as an object.

    Pixels covered by half or more connect: a gap of one pixel separates two objects. The others
    count towards the area only.
    """
    from scipy import ndimage

    bright = picture.max(2)
    inside = covered_pixels(picture)
    labels, _ = ndimage.label(inside)
    objects = []
    for number, (down, across) in enumerate(ndimage.find_objects(labels), 1):
        # one pixel more on every side, where the darker pixels of the edge are
        where = (
            slice(max(down.start - 1, 0), down.stop + 1),
            slice(max(across.start - 1, 0), across.stop + 1),
        )
        corner = (where[0].start, where[1].start)
        light = bright[where]
        colors = picture[where]
        hue = (colors > light[:, :, None] // 2) @ _BITS
        for kind, joint in _hue_parts(labels[where] == number, hue):
            for mask in _convex_parts(joint):
                # the pixels of other objects do not count
                free = mask | (~inside[where] & (hue == kind))
                objects.append(measure_object(colors, np.where(free, light, 0), mask, corner))
    return objects


def _hue_parts(group: Mask, hue: NDArray[np.uint8]) -> Iterator[tuple[int, Mask]]:
    """Yield the connected parts of one hue in a group of pixels, with their hue."""
    from scipy import ndimage

    kinds = np.unique(hue[group]).tolist()
    for kind in kinds:
        parts, count = ndimage.label(group & (hue == kind))
        for part in range(1, count + 1):
            joint = parts == part
            # the border where two objects touch is one pixel wide, and mixes both hues
            is_border = len(kinds) > 1 and not ndimage.binary_erosion(joint, _AROUND).any()
            if joint.sum() >= SMALLEST and not is_border:
                yield kind, joint


def _convex_parts(mask: Mask) -> list[Mask]:
    """Separate objects that touch; return one mask each.

    A straight line separates any two convex shapes; here it passes through the deepest notch of
    their outline, in the direction that leaves the smallest hulls.
    """
    from scipy import ndimage
    from scipy.spatial import ConvexHull

    outline = np.argwhere(mask & ~ndimage.binary_erosion(mask)) + 0.5
    along = outline @ _NORMALS
    # a point's distance from the hull is the least over all directions
    depth = (along.max(0) - along).min(1)
    if depth.max() < _NOTCH:
        return [mask]
    notch = outline[depth.argmax()]
    down, across = (np.indices(mask.shape) + 0.5) - notch[:, None, None]
    cuts = []
    for angle, offset in product(_ANGLES, (-1.0, 0.0, 1.0)):
        side = np.cos(angle) * down + np.sin(angle) * across >= offset
        halves = (mask & side, mask & ~side)
        if min(half.sum() for half in halves) >= SMALLEST:
            hulls = sum(ConvexHull(_corners(half)).volume for half in halves)
            cuts.append((hulls, halves))
    if not cuts:
        return [mask]
    _, (first, second) = min(cuts, key=lambda cut: cut[0])
    # three objects may touch: each half is cut again where it has a notch
    return _convex_parts(first) + _convex_parts(second)


def _corners(mask: Mask) -> NDArray[np.float64]:
    """Return the outer corners of each row's first and last pixel.

    No other point can be on the convex hull.
    """
    rows = np.flatnonzero(mask.any(1))
    first = mask[rows].argmax(1)
    last = mask.shape[1] - mask[rows, ::-1].argmax(1)
    down = np.concatenate((rows, rows + 1, rows, rows + 1))
    across = np.concatenate((first, first, last, last))
    return np.stack((down, across), axis=1).astype(np.float64)


def measure_object(
    picture: NDArray[np.uint8],
    bright: NDArray[np.uint8],
    mask: Mask,
    corner: tuple[int, int],
) -> Detected:
    """Measure the object of a mask; `corner` is where the window lies in the picture."""
    from scipy import ndimage

    level = bright[mask].max()
    around = ndimage.binary_dilation(mask, _AROUND)
    # a pixel's brightness is the share of it that the object covers
    covered = np.where(around, bright, 0).astype(np.float32) / level
    color = picture[mask & (bright == level)].mean(0, dtype=np.float32) / 255
    down = _extent(covered.max(1))
    across = _extent(covered.max(0))
    top, left = corner
    box = (top + down[0], left + across[0], top + down[1], left + across[1])
    outline = _outline(covered, down, across)
    return float(covered.sum()), box, np.concatenate((color, outline.ravel()))


def _extent(profile: Floats) -> tuple[float, float]:
    """Return where an object begins and ends along an axis, to a part of a pixel.

    Small objects have few pixels, so that whole ones would be too coarse a measure.
    """
    inner = np.flatnonzero(profile >= 0.5)
    first = inner[0]
    last = inner[-1]
    padded = np.pad(profile, 1)
    # the outermost inner pixel and the one beyond it, which may be covered in part
    start = first + 1 - padded[first : first + 2].sum()
    end = last + padded[last + 1 : last + 3].sum()
    return float(start), float(end)


def _outline(covered: Floats, down: tuple[float, float], across: tuple[float, float]) -> Floats:
    """Return the covered share of each cell of a square around the object."""
    longer = max(down[1] - down[0], across[1] - across[0])
    rows = _spread(covered.shape[0], down, longer)
    columns = _spread(covered.shape[1], across, longer)
    return np.asarray(rows @ covered @ columns.T, dtype=np.float32)


def _spread(size: int, ends: tuple[float, float], longer: float) -> Floats:
    """Return the share of every cell (rows) that every pixel (columns) covers.

    The cells span `longer` pixels around the object's middle; a pixel at its end covers only what
    lies within.
    """
    pixels = np.clip(np.arange(size + 1), *ends)
    middle = sum(ends) / 2
    cells = middle + longer * (np.arange(OUTLINE + 1) / OUTLINE - 0.5)
    low = np.maximum(pixels[:-1], cells[:-1, None])
    high = np.minimum(pixels[1:], cells[1:, None])
    overlap = np.clip(high - low, 0, None)
    width = np.maximum(np.diff(pixels), 1e-6)
    share: Floats = (overlap / width * OUTLINE / longer).astype(np.float32)
    return share
