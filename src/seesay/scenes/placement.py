"""Where objects may be placed: exact overlap of shapes, for many scenes at once.

MALeViC discards a scene if a single pixel belongs to two objects. Boxes decide nearly all pairs:
boxes apart, no overlap; the boxes that lie wholly inside the shapes meet, overlap. Only the rest is
compared row by row.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from seesay.scenes.raster import mask
from seesay.scenes.world import CANVAS, RADII, SHAPES, TALL, WIDE, SceneObject, anchor, extent

Ints = NDArray[np.int64]

CLEAR, UNSURE, BLOCKED = 0, 1, 2


@lru_cache(maxsize=1)
def _tables() -> tuple[Ints, Ints, Ints]:
    """By shape, radius and turn: room (rows, columns), the pixels' box and the largest box inside,
    from the corner.

    The corner is that of `world.extent`; boxes are top, left, bottom, right, ends excluded.
    """
    room = np.zeros((len(SHAPES), len(RADII), 2, 2), dtype=np.int64)
    outer = np.zeros((len(SHAPES), len(RADII), 2, 4), dtype=np.int64)
    inner = np.zeros_like(outer)
    for s, shape in enumerate(SHAPES):
        for r, radius in enumerate(RADII):
            for turn in (WIDE, TALL):
                down, right = anchor(shape, radius, turn)
                top, left, covered = mask(shape, radius, turn)
                rows, columns = covered.shape
                room[s, r, turn] = CANVAS - np.array(extent(shape, radius, turn))
                outer[s, r, turn] = (
                    top + down,
                    left + right,
                    top + down + rows,
                    left + right + columns,
                )
                inner[s, r, turn] = _inside(shape, radius, turn, outer[s, r, turn])
    return room, outer, inner


def _inside(shape: str, radius: int, turn: int, box: Ints) -> Ints:
    """A large box of the shape's own pixels."""
    if shape in ("square", "rectangle"):
        return box
    if shape == "circle":
        half = int(0.7 * radius)
        return np.array([radius - half, radius - half, radius + half + 1, radius + half + 1])
    if turn == WIDE:
        return np.array([0, radius, radius - 1, 3 * radius])
    return np.array([radius, 0, 3 * radius, radius - 1])


@lru_cache(maxsize=128)
def _spans(shape: str, radius: int, turn: int) -> tuple[Ints, Ints]:
    """First and last column (excluded) of every row; all shapes have one run of pixels per row."""
    covered = mask(shape, radius, turn)[2]
    first = covered.argmax(axis=1)
    return first.astype(np.int64), (first + covered.sum(axis=1)).astype(np.int64)


def corners(
    shape: Ints, radius: Ints, turn: Ints, chance: NDArray[np.float64]
) -> tuple[Ints, Ints]:
    """Upper left corners, uniform over all places inside the canvas; `chance` is (…, 2) in [0,
    1)."""
    room = _tables()[0][shape, radius, turn]
    place = (chance * room).astype(np.int64)
    return place[..., 0], place[..., 1]


def collisions(
    shape: Ints, radius: Ints, turn: Ints, top: Ints, left: Ints, present: NDArray[np.bool_]
) -> tuple[Ints, NDArray[np.bool_]]:
    """For every scene (row): CLEAR, BLOCKED, or UNSURE where only pixels can tell, and which pairs
    of boxes meet."""
    _, outer, inner = _tables()
    kind = (shape * len(RADII) + radius) * 2 + turn
    first, second = pairs(shape.shape[-1])
    both = present[:, first] & present[:, second]
    meet, sure = (
        _boxes_meet(box.reshape(-1, 4), kind, top, left)[:, first, second] & both
        for box in (outer, inner)
    )
    return np.where(sure.any(axis=1), BLOCKED, np.where(meet.any(axis=1), UNSURE, CLEAR)), meet


@lru_cache(maxsize=64)
def pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs of so many objects, in the order of `collisions`."""
    first, second = np.triu_indices(count, 1)
    return first, second


def _boxes_meet(boxes: Ints, kind: Ints, top: Ints, left: Ints) -> NDArray[np.bool_]:
    """Which two objects of a scene have boxes that meet, as a square of objects."""
    box = boxes.take(kind, axis=0)
    before = (box[..., 0] + top)[:, :, None] < (box[..., 2] + top)[:, None, :]
    before &= (box[..., 1] + left)[:, :, None] < (box[..., 3] + left)[:, None, :]
    return np.asarray(before & before.transpose(0, 2, 1))


def touch(one: SceneObject, other: SceneObject) -> bool:
    """Whether two objects share a pixel."""
    (top_a, first_a, last_a), (top_b, first_b, last_b) = _rows(one), _rows(other)
    start = max(top_a, top_b)
    stop = min(top_a + len(first_a), top_b + len(first_b))
    if start >= stop:
        return False
    a = slice(start - top_a, stop - top_a)
    b = slice(start - top_b, stop - top_b)
    return bool((np.maximum(first_a[a], first_b[b]) < np.minimum(last_a[a], last_b[b])).any())


def _rows(obj: SceneObject) -> tuple[int, Ints, Ints]:
    """The first row, and the first and last column (excluded) of every row."""
    down, right, _ = mask(obj.shape, obj.radius, obj.turn)
    first, last = _spans(obj.shape, obj.radius, obj.turn)
    shift = obj.column + right
    return obj.row + down, first + shift, last + shift


def apart(objects: list[SceneObject], meeting: NDArray[np.bool_], most: int) -> bool:
    """Whether no pair whose boxes meet shares a pixel; `most` is how many objects `meeting` was
    made for."""
    first, second = pairs(most)
    where = np.flatnonzero(meeting)
    candidates = zip(first[where].tolist(), second[where].tolist(), strict=True)
    return not any(touch(objects[i], objects[j]) for i, j in candidates)
