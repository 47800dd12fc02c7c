"""Kinds of objects in rooms, from `kinds.json`: sizes in metres, colours, shapes, places, scenes.

Sizes and colours are everyday ones, chosen so that most pairs have a clear answer and some have
none: a small table is smaller than a large television.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

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
    colors: Mapping[str, float]
    """The probability of each colour."""
    shape: str
    stand: Stand
    bottom: Range = (0.0, 0.0)
    """The height of the lowest point of hanging objects, in metres."""
    supports: tuple[str, ...] = ()
    """The kinds that it may stand on, if its stand is `on`."""
    subtypes: tuple[str, ...] = ()


def _legs(top: float, thick: float) -> list[SolidPart]:
    """Return four legs in the corners, up to the height `top`."""
    at = 0.5 - thick / 2
    legs = []
    for x, z in product((-at, at), repeat=2):
        centre = (x, top / 2, z)
        legs.append(SolidPart("box", centre, size=(thick, top, thick)))
    return legs


def _parts(entries: Sequence[Mapping[str, Any]]) -> tuple[SolidPart, ...]:
    """Return the solids of a shape; four legs are one entry."""
    parts: list[SolidPart] = []
    for entry in entries:
        if "legs" in entry:
            parts += _legs(**entry["legs"])
            continue
        part = SolidPart(
            solid=entry["solid"],
            centre=tuple(entry["centre"]),
            size=tuple(entry["size"]),
            color=entry.get("color", MAIN),
        )
        parts.append(part)
    return tuple(parts)


def _kind(entry: Mapping[str, Any]) -> ObjectKind:
    """Return a kind; its colours are its own, or those of a palette that it names."""
    colors = entry["colors"]
    if isinstance(colors, str):
        colors = _TABLES["palettes"][colors]
    return ObjectKind(
        size=_ranges(entry["size"]),
        colors=colors,
        shape=entry["shape"],
        stand=entry["stand"],
        bottom=tuple(entry.get("bottom", (0.0, 0.0))),
        supports=tuple(entry.get("supports", ())),
        subtypes=tuple(entry.get("subtypes", ())),
    )


def _ranges(size: Sequence[Sequence[float]]) -> tuple[Range, Range, Range]:
    """Return three ranges; a table of another shape is rejected."""
    width, height, depth = ((least, most) for least, most in size)
    return width, height, depth


_TABLES: Mapping[str, Mapping[str, Any]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)
SHAPES = {name: _parts(entries) for name, entries in _TABLES["shapes"].items()}
KINDS = {name: _kind(entry) for name, entry in _TABLES["kinds"].items()}
SCENES: Mapping[str, Mapping[str, float]] = _TABLES["scenes"]
"""The mean number of objects of each kind in a scene; kinds of 1 or more are nearly always
there."""
RGB: Mapping[str, tuple[int, int, int]] = {
    name: tuple(value) for name, value in _TABLES["rgb"].items()
}
"""A typical value of each of the eleven colours; objects vary around it."""
