"""Kinds of objects in rooms, from `kinds.json`: sizes in metres, colours, shapes, places, scenes.

Sizes and colours are everyday ones, chosen so that most pairs have a clear answer and some have
none: a small table is smaller than a large television.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from seesay.files import read_state

Solid = Literal["box", "ellipsoid", "cylinder"]
Stand = Literal["wall", "floor", "on", "hung", "ceiling"]
Range = tuple[float, float]

MAIN = ""
"""A part of this colour has the colour of its object."""


@dataclass(frozen=True, slots=True)
class SolidPart:
    """A solid in the unit box of its object: x and z from -½ to ½, y from 0 (the base) to 1."""

    solid: Solid
    centre: tuple[float, float, float]
    size: tuple[float, float, float]
    """Full widths, not radii."""
    color: str = MAIN


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """Objects of one name."""

    size: tuple[Range, Range, Range]
    """The least and the greatest width, height and depth, in metres."""
    colors: dict[str, float]
    """The probability of each colour."""
    shape: str
    stand: Stand
    bottom: Range = (0.0, 0.0)
    """The height of the lowest point of hanging objects, in metres."""
    supports: tuple[str, ...] = ()
    """The kinds that it may stand on, if its stand is `on`."""
    subtypes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Tables:
    """The content of `kinds.json`."""

    shapes: dict[str, tuple[SolidPart, ...]]
    kinds: dict[str, ObjectKind]
    scenes: dict[str, dict[str, float]]
    rgb: dict[str, tuple[int, int, int]]


_TABLES = read_state(Path(__file__).with_suffix(".json"), _Tables, "install seesay again")
SHAPES = _TABLES.shapes
KINDS = _TABLES.kinds
SCENES = _TABLES.scenes
"""The mean number of objects of each kind in a scene; kinds of 1 or more are nearly always
there."""
RGB = _TABLES.rgb
"""A typical value of each of the eleven colours; objects vary around it."""
