"""Adjectives: their words, and the dimension along which they order objects.

MALeViC asks about big and small, by area in pixels. The same mathematics holds for any adjective
that orders objects along one dimension (Schmidt et al. 2009 studied tall), so a pair of adjectives
is a row of this table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from seesay.errors import refuse_unknown
from seesay.scenes.world import (
    LEVELS,
    RADII,
    SHAPES,
    TALL,
    WIDE,
    SceneObject,
    area,
    brightness,
    extent,
)


def height(shape: str, radius: int, turn: int) -> int:
    """Return the number of pixel rows that the object covers."""
    rows, _ = extent(shape, radius, turn)
    # the box of circles and triangles has an empty row
    if shape in ("circle", "triangle"):
        return rows - 1
    return rows


def _area(obj: SceneObject) -> int:
    return area(obj.shape, obj.radius)


def _height(obj: SceneObject) -> int:
    return height(obj.shape, obj.radius, obj.turn)


def _width(obj: SceneObject) -> int:
    _, columns = extent(obj.shape, obj.radius, obj.turn)
    # of all boxes only the circle's has an empty column
    return columns - (obj.shape == "circle")


def _brightness(obj: SceneObject) -> int:
    return brightness(obj.level)


@dataclass(frozen=True, slots=True)
class Adjective:
    """A pair of opposite adjectives, in three degrees each, over one dimension."""

    name: str
    positive: tuple[str, str]
    comparative: tuple[str, str]
    superlative: tuple[str, str]
    measure: Callable[[SceneObject], int]
    """Where an object lies on the dimension."""
    scale: float
    """What brings the dimension to the units in which Weber's fraction 0.05 is meant.

    1e-5 a pixel of area is published; the others give their whole range the width that all areas
    together have.
    """

    def word(self, degree: str, positive: bool) -> str:
        """Return the first or the second of the pair in one of the degrees."""
        first, second = getattr(self, degree)
        return str(first if positive else second)


# the range of all areas, in the units of the published scale
_WIDTH = 1e-5 * (area("square", RADII[-1]) - area("circle", RADII[0]))
_HEIGHTS = [
    height(shape, radius, turn) for shape in SHAPES for radius in RADII for turn in (WIDE, TALL)
]

# shapes lie or stand: widths and heights have the same range, but for a pixel
_BY_HEIGHT = _WIDTH / (max(_HEIGHTS) - min(_HEIGHTS))
_BY_LIGHT = _WIDTH / (brightness(LEVELS) - brightness(1))

ADJECTIVES = {
    pair.name: pair
    for pair in (
        Adjective(
            "big", ("big", "small"), ("bigger", "smaller"), ("biggest", "smallest"), _area, 1e-5
        ),
        Adjective(
            "tall",
            ("tall", "short"),
            ("taller", "shorter"),
            ("tallest", "shortest"),
            _height,
            _BY_HEIGHT,
        ),
        Adjective(
            "wide",
            ("wide", "narrow"),
            ("wider", "narrower"),
            ("widest", "narrowest"),
            _width,
            _BY_HEIGHT,
        ),
        Adjective(
            "bright",
            ("bright", "dark"),
            ("brighter", "darker"),
            ("brightest", "darkest"),
            _brightness,
            _BY_LIGHT,
        ),
    )
}


def adjective(name: str) -> Adjective:
    """Return the pair by the name of its positive member."""
    refuse_unknown("adjective", name, ADJECTIVES)
    return ADJECTIVES[name]
