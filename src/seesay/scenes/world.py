"""What a scene is made of: shapes, colors, sizes and places.

MALeViC's world (Pezzelle & Fernández 2019, section 4): a black canvas of 1024 x 1024 pixels with
colored shapes that never overlap. An object is stored as in the published annotation (centre or
apex, radius), so that reading and writing lose nothing; its pixels follow from that in `raster`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt

CANVAS = 1024
SHAPES = ("circle", "square", "rectangle", "triangle")
SCENE_COLORS = ("red", "blue", "yellow", "white", "green")
RGB = {
    "red": (255, 0, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "white": (255, 255, 255),
    # the data's documentation says (0, 128, 0), its pictures have (0, 255, 0)
    "green": (0, 255, 0),
}
RADII = tuple(range(30, 121, 10))
LEVELS = 10
"""Steps of brightness.

Every object of MALeViC has the highest one; the adjectives bright and dark use the others.
"""

WIDE = 0
TALL = 1
"""Turns. A rectangle lies or stands; a triangle has its base on top or on its left.

Other shapes have one turn only.
"""


@dataclass(frozen=True, slots=True)
class SceneObject:
    """One colored shape.

    `row` and `column` are its centre; those of a triangle are its apex, where the right angle is.
    """

    shape: str
    color: str
    radius: int
    row: int
    column: int
    turn: int = WIDE
    level: int = LEVELS


@dataclass(frozen=True, slots=True)
class Scene:
    """Objects on the canvas, and the k by which a speaker separates big from small here.

    `k` is None where the scene's task needs none (superlatives, comparatives).
    """

    objects: tuple[SceneObject, ...]
    k: float | None = None

    def places(self, color: str, shape: str) -> list[int]:
        """Return the indices of the objects of this color and shape."""
        return [i for i, obj in enumerate(self.objects) if (obj.color, obj.shape) == (color, shape)]


def extent(shape: str, radius: int, turn: int) -> tuple[int, int]:
    """Return rows and columns of the box that the published generator keeps inside the canvas."""
    if shape in ("circle", "square"):
        return 2 * radius, 2 * radius
    long = 4 * radius
    # A rectangle is 4r x r and a triangle's box 4r x 2r: either way an area of 4r², a square's.
    if shape == "rectangle":
        short = radius
    else:
        short = 2 * radius
    if turn == WIDE:
        return short, long
    return long, short


def anchor(shape: str, radius: int, turn: int) -> tuple[int, int]:
    """Return the offset from the box's upper left corner to the point that is stored."""
    if shape == "triangle":
        return 2 * radius, 2 * radius
    rows, columns = extent(shape, radius, turn)
    return rows // 2, columns // 2


@lru_cache(maxsize=1024)
def area(shape: str, radius: int) -> int:
    """Return the number of pixels that the shape covers.

    All but the circle have exactly 4r²; the steps of a triangle's edge sum to it too.
    """
    if shape != "circle":
        return 4 * radius * radius
    # In every row the pixels left and right of the middle, and the middle: x² + y² < r².
    return sum(2 * isqrt(radius * radius - y * y - 1) + 1 for y in range(-radius + 1, radius))


def brightness(level: int) -> int:
    """Return the strongest channel of an object's color, from 71 to 255.

    Even the lowest level can be distinguished from the black background.
    """
    return round(255 * (0.28 + 0.72 * (level - 1) / (LEVELS - 1)))
