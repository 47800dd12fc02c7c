"""Where objects may be placed: exact overlap of shapes, for many scenes at once.

MALeViC discards a scene if a single pixel belongs to two objects. Boxes decide nearly all pairs: if
the boxes around two shapes are apart, there is no overlap; if boxes wholly inside them meet, there
is. Only the remaining pairs are compared row by row.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from seesay.scenes.raster import mask
from seesay.scenes.world import CANVAS, RADII, SHAPES, TALL, WIDE, SceneObject, anchor, extent

Ints = NDArray[np.int64]

CLEAR = 0
UNSURE = 1
BLOCKED = 2


@lru_cache(maxsize=1)
def _tables() -> tuple[Ints, Ints, Ints]:
    """Return room (rows, columns), outer box and inner box by shape, radius and turn.

    Boxes count from the corner of `world.extent` and are top, left, bottom, right, ends excluded.
    The outer box holds all pixels of the shape; the inner one holds no others.
    """
    room = np.zeros((len(SHAPES), len(RADII), 2, 2), dtype=np.int64)
    outer = np.zeros((len(SHAPES), len(RADII), 2, 4), dtype=np.int64)
    inner = np.zeros_like(outer)
    for (s, shape), (r, radius), turn in product(enumerate(SHAPES), enumerate(RADII), (WIDE, TALL)):
        down, right = anchor(shape, radius, turn)
        top, left, covered = mask(shape, radius, turn)
        first_row = top + down
        first_column = left + right
        rows, columns = covered.shape
        room[s, r, turn] = CANVAS - np.array(extent(shape, radius, turn))
        outer[s, r, turn] = (
            first_row,
            first_column,
            first_row + rows,
            first_column + columns,
        )
        inner[s, r, turn] = _inner_box(shape, radius, turn, outer[s, r, turn])
    return room, outer, inner


def _inner_box(shape: str, radius: int, turn: int, outer: Ints) -> Ints:
    """Return a large box of nothing but the shape's pixels."""
    if shape in ("square", "rectangle"):
        return outer
    if shape == "circle":
        # the inscribed square has half a side of r / √2 = 0.707r
        half = int(0.7 * radius)
        low = radius - half
        high = radius + half + 1
        return np.array([low, low, high, high])
    # Half way from base to apex a triangle is still half as wide as its base: 2r of 4r.
    if turn == WIDE:
        return np.array([0, radius, radius - 1, 3 * radius])
    return np.array([radius, 0, 3 * radius, radius - 1])


@lru_cache(maxsize=128)
def _spans(shape: str, radius: int, turn: int) -> tuple[Ints, Ints]:
    """Return the first and the last column (excluded) of every row.

    That describes a shape fully, since every row of every shape is one run of pixels.
    """
    covered = mask(shape, radius, turn)[2]
    first = covered.argmax(axis=1)
    last = first + covered.sum(axis=1)
    return first.astype(np.int64), last.astype(np.int64)


def corners(
    shape: Ints, radius: Ints, turn: Ints, chance: NDArray[np.float64]
) -> tuple[Ints, Ints]:
    """Return upper left corners, uniform over all places inside the canvas.

    `chance` is (…, 2) in [0, 1).
    """
    room = _tables()[0][shape, radius, turn]
    place = (chance * room).astype(np.int64)
    return place[..., 0], place[..., 1]


def collisions(
    shape: Ints,
    radius: Ints,
    turn: Ints,
    top: Ints,
    left: Ints,
    present: NDArray[np.bool_],
) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the state of every scene (row), and which pairs of outer boxes meet in it.

    The state is CLEAR, BLOCKED, or UNSURE where only the pixels can decide.
    """
    _, outer, inner = _tables()
    kind = (shape * len(RADII) + radius) * 2 + turn
    first, second = pairs(shape.shape[-1])
    both = present[:, first] & present[:, second]
    outer_meet = _boxes_meet(outer, kind, top, left)[:, first, second] & both
    inner_meet = _boxes_meet(inner, kind, top, left)[:, first, second] & both
    state = np.where(outer_meet.any(axis=1), UNSURE, CLEAR)
    return np.where(inner_meet.any(axis=1), BLOCKED, state), outer_meet


@lru_cache(maxsize=64)
def pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of so many objects, in the order of `collisions`."""
    first, second = np.triu_indices(count, 1)
    return first, second


def _boxes_meet(boxes: Ints, kind: Ints, top: Ints, left: Ints) -> NDArray[np.bool_]:
    """Return which two objects of a scene have boxes that meet, as (scenes, objects, objects)."""
    box = boxes.reshape(-1, 4).take(kind, axis=0)
    first_row = box[..., 0] + top
    first_column = box[..., 1] + left
    end_row = box[..., 2] + top
    end_column = box[..., 3] + left
    # [i, j]: box i begins before box j ends. Boxes meet if that holds in both directions.
    before = first_row[:, :, None] < end_row[:, None, :]
    before &= first_column[:, :, None] < end_column[:, None, :]
    return before & before.transpose(0, 2, 1)


def touch(first: SceneObject, second: SceneObject) -> bool:
    """Return whether two objects share a pixel."""
    top_a, starts_a, ends_a = _rows(first)
    top_b, starts_b, ends_b = _rows(second)
    top = max(top_a, top_b)
    bottom = min(top_a + len(starts_a), top_b + len(starts_b))
    if top >= bottom:
        return False
    a = slice(top - top_a, bottom - top_a)
    b = slice(top - top_b, bottom - top_b)
    starts = np.maximum(starts_a[a], starts_b[b])
    ends = np.minimum(ends_a[a], ends_b[b])
    return bool((starts < ends).any())


def _rows(obj: SceneObject) -> tuple[int, Ints, Ints]:
    """Return the first row, and the first and last column (excluded) of every row."""
    down, right, _ = mask(obj.shape, obj.radius, obj.turn)
    first, last = _spans(obj.shape, obj.radius, obj.turn)
    shift = obj.column + right
    return obj.row + down, first + shift, last + shift


def apart(objects: list[SceneObject], meeting: NDArray[np.bool_], most: int) -> bool:
    """Return whether no pair whose boxes meet shares a pixel.

    `most` is the number of objects that `meeting` was made for.
    """
    first, second = pairs(most)
    for pair in np.flatnonzero(meeting).tolist():
        if touch(objects[first[pair]], objects[second[pair]]):
            return False
    return True
