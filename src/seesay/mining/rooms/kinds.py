"""Kinds of objects in rooms, with sizes in metres, colours, shapes and places, and five scenes.

Sizes and colours are everyday ones, chosen so that most pairs have a clear answer and some have none: a small table is
smaller than a large television.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Solid = Literal["box", "ellipsoid", "cylinder"]
Stand = Literal["wall", "floor", "on", "hung", "ceiling"]
Range = tuple[float, float]

MAIN = ""
"""A part of this colour has the colour of its object."""


@dataclass(frozen=True, slots=True)
class SolidPart:
    """A solid in the unit box of its object: x and z from -½ to ½, y from 0 (the base) to 1. Sizes are full widths."""

    solid: Solid
    centre: tuple[float, float, float]
    size: tuple[float, float, float]
    color: str = MAIN


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """Objects of one name. `bottom` is the height of the lowest point of hanging objects, in metres."""

    size: tuple[Range, Range, Range]
    colors: Mapping[str, float]
    shape: str
    stand: Stand
    bottom: Range = (0.0, 0.0)
    supports: tuple[str, ...] = ()
    subtypes: tuple[str, ...] = ()


def _legs(top: float, thick: float) -> tuple[SolidPart, ...]:
    at = 0.5 - thick / 2
    return tuple(SolidPart("box", (x, top / 2, z), (thick, top, thick)) for x in (-at, at) for z in (-at, at))


SHAPES: dict[str, tuple[SolidPart, ...]] = {
    "box": (SolidPart("box", (0, 0.5, 0), (1, 1, 1)),),
    "cylinder": (SolidPart("cylinder", (0, 0.5, 0), (1, 1, 1)),),
    "ellipsoid": (SolidPart("ellipsoid", (0, 0.5, 0), (1, 1, 1)),),
    "table": (SolidPart("box", (0, 0.96, 0), (1, 0.08, 1)), *_legs(0.92, 0.08)),
    "chair": (
        SolidPart("box", (0, 0.5, 0), (1, 0.08, 1)), SolidPart("box", (0, 0.77, 0.46), (1, 0.46, 0.08)),
        *_legs(0.46, 0.12),
    ),
    "sofa": (
        SolidPart("box", (0, 0.28, 0), (1, 0.46, 1)), SolidPart("box", (0, 0.72, 0.38), (1, 0.56, 0.24)),
        SolidPart("box", (-0.46, 0.38, 0), (0.08, 0.66, 1)), SolidPart("box", (0.46, 0.38, 0), (0.08, 0.66, 1)),
        SolidPart("box", (0, 0.025, 0), (0.9, 0.05, 0.9), "black"),
    ),
    "bed": (
        SolidPart("box", (0, 0.35, -0.02), (1, 0.3, 0.96)), SolidPart("box", (0, 0.1, 0), (1, 0.2, 1), "brown"),
        SolidPart("box", (0, 0.5, 0.48), (1, 1, 0.04), "brown"),
    ),
    "lamp": (
        SolidPart("cylinder", (0, 0.8, 0), (1, 0.4, 1)),
        SolidPart("cylinder", (0, 0.32, 0), (0.12, 0.6, 0.12), "black"),
        SolidPart("cylinder", (0, 0.02, 0), (0.7, 0.04, 0.7), "black"),
    ),
    "ceiling lamp": (
        SolidPart("ellipsoid", (0, 0.3, 0), (1, 0.6, 1)),
        SolidPart("cylinder", (0, 0.8, 0), (0.06, 0.4, 0.06), "black"),
    ),
    "toilet": (
        SolidPart("cylinder", (0, 0.25, -0.12), (0.95, 0.5, 0.75)), SolidPart("box", (0, 0.72, 0.36), (1, 0.56, 0.28)),
    ),
    "sink": (SolidPart("box", (0, 0.89, 0), (1, 0.22, 1)), SolidPart("cylinder", (0, 0.4, 0.1), (0.3, 0.8, 0.4))),
    "plant": (
        SolidPart("ellipsoid", (0, 0.66, 0), (1, 0.68, 1)),
        SolidPart("cylinder", (0, 0.16, 0), (0.55, 0.32, 0.55), "brown"),
    ),
    "framed": (SolidPart("box", (0, 0.5, 0), (0.88, 0.88, 1)), SolidPart("box", (0, 0.5, 0.2), (1, 1, 0.6), "brown")),
    "window": (
        SolidPart("box", (-0.235, 0.5, 0), (0.43, 0.92, 0.8)), SolidPart("box", (0.235, 0.5, 0), (0.43, 0.92, 0.8)),
        SolidPart("box", (0, 0.5, 0.2), (1, 1, 0.6), "white"),
    ),
    "screen": (
        SolidPart("box", (0, 0.58, 0), (1, 0.84, 0.3)), SolidPart("box", (0, 0.09, 0.1), (0.1, 0.18, 0.1), "gray"),
        SolidPart("box", (0, 0.01, 0), (0.4, 0.02, 1), "gray"),
    ),
    "cupboard": (
        SolidPart("box", (0, 0.5, 0.02), (1, 1, 0.96)),
        SolidPart("box", (-0.06, 0.5, -0.49), (0.02, 0.2, 0.02), "gray"),
        SolidPart("box", (0.06, 0.5, -0.49), (0.02, 0.2, 0.02), "gray"),
    ),
    "shelf": (
        SolidPart("box", (0, 0.5, 0.45), (1, 1, 0.1)), SolidPart("box", (-0.475, 0.5, 0), (0.05, 1, 1)),
        SolidPart("box", (0.475, 0.5, 0), (0.05, 1, 1)),
        *(SolidPart("box", (0, y, 0), (1, 0.03, 1)) for y in (0.02, 0.26, 0.5, 0.74, 0.98)),
    ),
    "bottle": (SolidPart("cylinder", (0, 0.35, 0), (1, 0.7, 1)), SolidPart("cylinder", (0, 0.85, 0), (0.4, 0.3, 0.4))),
}  # fmt: skip

WOOD = {"brown": 0.75, "white": 0.2, "black": 0.05}
CERAMIC = {"white": 0.9, "pink": 0.06, "blue": 0.04}
CLOTH = {"white": 0.3, "blue": 0.2, "red": 0.2, "green": 0.1, "yellow": 0.1, "purple": 0.1}

KINDS: dict[str, ObjectKind] = {
    "toilet": ObjectKind(((0.38, 0.44), (0.7, 0.8), (0.6, 0.7)), CERAMIC, "toilet", "wall"),
    "bathtub": ObjectKind(((1.4, 1.7), (0.5, 0.6), (0.65, 0.75)), CERAMIC, "box", "wall"),
    "sink": ObjectKind(((0.5, 0.65), (0.82, 0.92), (0.4, 0.5)), CERAMIC, "sink", "wall", subtypes=("bathroom sink",)),
    "mirror": ObjectKind(((0.5, 0.8), (0.6, 1.0), (0.03, 0.05)), {"gray": 0.8, "blue": 0.2}, "framed", "hung",
        (1.1, 1.3)),
    "towel": ObjectKind(((0.35, 0.6), (0.6, 0.8), (0.04, 0.06)), CLOTH, "box", "hung", (0.8, 1.1),
        subtypes=("bath towel",)),
    "rug": ObjectKind(((1.0, 1.8), (0.015, 0.02), (0.8, 1.2)), {"red": 0.4, "gray": 0.3, "blue": 0.3}, "box", "floor"),
    "bottle": ObjectKind(((0.07, 0.1), (0.22, 0.32), (0.07, 0.1)), {"green": 0.6, "blue": 0.2, "brown": 0.2}, "bottle",
        "on", supports=("sink", "table", "counter", "desk"), subtypes=("wine bottle", "water bottle")),
    "window": ObjectKind(((0.9, 1.5), (0.9, 1.3), (0.05, 0.08)), {"blue": 0.7, "white": 0.3}, "window", "hung",
        (1.0, 1.2)),
    "bed": ObjectKind(((1.4, 1.8), (0.85, 1.1), (1.9, 2.1)), CLOTH, "bed", "wall"),
    "pillow": ObjectKind(((0.4, 0.6), (0.15, 0.22), (0.3, 0.4)), {"white": 0.7, "blue": 0.15, "pink": 0.15},
        "ellipsoid", "on", supports=("bed", "sofa"), subtypes=("throw pillow", "bed pillow")),
    "nightstand": ObjectKind(((0.4, 0.55), (0.5, 0.65), (0.35, 0.45)), WOOD, "cupboard", "wall"),
    "dresser": ObjectKind(((0.9, 1.3), (0.8, 1.1), (0.4, 0.5)), WOOD, "cupboard", "wall"),
    "lamp": ObjectKind(((0.22, 0.35), (0.4, 0.6), (0.22, 0.35)), {"white": 0.5, "yellow": 0.3, "red": 0.2}, "lamp",
        "on", supports=("nightstand", "desk", "dresser", "table"), subtypes=("table lamp", "desk lamp")),
    "ceiling lamp": ObjectKind(((0.4, 0.6), (0.7, 0.9), (0.4, 0.6)), {"white": 0.7, "yellow": 0.3}, "ceiling lamp",
        "ceiling"),
    "picture": ObjectKind(((0.35, 0.9), (0.3, 0.7), (0.02, 0.04)),
        {"blue": 0.3, "green": 0.3, "white": 0.2, "red": 0.2}, "framed", "hung", (1.3, 1.6)),
    "clock": ObjectKind(((0.25, 0.35), (0.25, 0.35), (0.03, 0.05)), {"white": 0.7, "black": 0.3}, "ellipsoid", "hung",
        (1.7, 1.9), subtypes=("wall clock",)),
    "chair": ObjectKind(((0.42, 0.52), (0.8, 1.0), (0.42, 0.5)), {"brown": 0.5, "red": 0.2, "black": 0.2, "white": 0.1},
        "chair", "floor", subtypes=("kitchen chair", "office chair", "dining room chair")),
    "table": ObjectKind(((1.0, 1.6), (0.7, 0.78), (0.7, 0.9)), WOOD, "table", "floor",
        subtypes=("kitchen table", "side table")),
    "counter": ObjectKind(((1.2, 1.8), (0.85, 0.95), (0.55, 0.65)), {"white": 0.5, "gray": 0.3, "brown": 0.2},
        "cupboard", "wall", subtypes=("kitchen counter",)),
    "refrigerator": ObjectKind(((0.65, 0.85), (1.6, 1.9), (0.6, 0.7)), {"white": 0.6, "gray": 0.4}, "cupboard", "wall"),
    "oven": ObjectKind(((0.55, 0.65), (0.82, 0.92), (0.55, 0.6)), {"black": 0.5, "white": 0.3, "gray": 0.2}, "cupboard",
        "wall"),
    "cabinet": ObjectKind(((0.8, 1.4), (0.5, 0.7), (0.3, 0.35)), WOOD, "cupboard", "hung", (1.5, 1.65),
        subtypes=("kitchen cabinet",)),
    "cup": ObjectKind(((0.08, 0.11), (0.09, 0.12), (0.08, 0.11)), {"white": 0.5, "red": 0.25, "blue": 0.25}, "cylinder",
        "on", supports=("table", "counter", "desk"), subtypes=("coffee cup",)),
    "plate": ObjectKind(((0.22, 0.3), (0.03, 0.04), (0.22, 0.3)), {"white": 0.8, "blue": 0.2}, "cylinder", "on",
        supports=("table", "counter"), subtypes=("dinner plate",)),
    "sofa": ObjectKind(((1.6, 2.2), (0.75, 0.95), (0.8, 0.95)), {"gray": 0.3, "brown": 0.3, "red": 0.2, "green": 0.2},
        "sofa", "wall"),
    "television": ObjectKind(((0.8, 1.3), (0.55, 0.8), (0.15, 0.2)), {"black": 0.95, "gray": 0.05}, "screen", "on",
        supports=("dresser",)),
    "plant": ObjectKind(((0.4, 0.8), (0.7, 1.4), (0.4, 0.8)), {"green": 1.0}, "plant", "floor",
        subtypes=("house plant",)),
    "vase": ObjectKind(((0.12, 0.2), (0.22, 0.35), (0.12, 0.2)), {"blue": 0.4, "white": 0.3, "orange": 0.3},
        "ellipsoid", "on", supports=("table", "dresser"), subtypes=("flower vase",)),
    "book": ObjectKind(((0.15, 0.25), (0.03, 0.06), (0.2, 0.28)), {"red": 0.3, "blue": 0.3, "green": 0.2, "black": 0.2},
        "box", "on", supports=("table", "nightstand", "desk"), subtypes=("text book",)),
    "desk": ObjectKind(((1.2, 1.7), (0.7, 0.78), (0.6, 0.8)), WOOD, "table", "wall", subtypes=("office desk",)),
    "monitor": ObjectKind(((0.45, 0.65), (0.38, 0.5), (0.15, 0.2)), {"black": 0.9, "white": 0.1}, "screen", "on",
        supports=("desk",), subtypes=("computer monitor",)),
    "keyboard": ObjectKind(((0.38, 0.48), (0.02, 0.04), (0.14, 0.18)), {"black": 0.7, "white": 0.3}, "box", "on",
        supports=("desk",), subtypes=("computer keyboard",)),
    "bookshelf": ObjectKind(((0.7, 1.1), (1.6, 2.0), (0.3, 0.4)), WOOD, "shelf", "wall"),
    "trash can": ObjectKind(((0.25, 0.35), (0.3, 0.45), (0.25, 0.35)), {"gray": 0.5, "black": 0.3, "blue": 0.2},
        "cylinder", "floor"),
}  # fmt: skip

SCENES: dict[str, dict[str, float]] = {
    "bathroom": {"toilet": 1, "bathtub": 0.8, "sink": 1, "mirror": 0.9, "towel": 1.2, "rug": 0.5, "bottle": 1.2,
        "window": 0.4, "ceiling lamp": 0.5, "trash can": 0.4},
    "bedroom": {"bed": 1, "pillow": 2, "nightstand": 1.3, "lamp": 1, "dresser": 0.7, "picture": 1, "window": 0.7,
        "rug": 0.5, "chair": 0.4, "book": 0.5, "ceiling lamp": 0.6, "television": 0.3},
    "kitchen": {"refrigerator": 0.9, "oven": 0.8, "counter": 1, "cabinet": 1.2, "table": 0.9, "chair": 2, "cup": 1.5,
        "plate": 1.5, "bottle": 1, "window": 0.6, "clock": 0.5, "ceiling lamp": 0.6, "trash can": 0.4},
    "living_room": {"sofa": 1, "table": 0.9, "television": 0.8, "dresser": 0.9, "pillow": 1.5, "rug": 0.6,
        "picture": 1.2, "window": 0.7, "plant": 0.8, "vase": 0.7, "book": 0.8, "lamp": 0.7, "clock": 0.4, "chair": 0.7,
        "ceiling lamp": 0.5},
    "office": {"desk": 1.2, "chair": 1.4, "monitor": 1.2, "keyboard": 1.1, "bookshelf": 0.8, "plant": 0.6,
        "picture": 0.7, "clock": 0.6, "window": 0.6, "trash can": 0.7, "cup": 0.8, "book": 1, "lamp": 0.6,
        "bottle": 0.4, "ceiling lamp": 0.4},
}  # fmt: skip
"""The mean number of objects of each kind in a scene; kinds of 1 or more are nearly always there."""

RGB: dict[str, tuple[int, int, int]] = {
    "red": (190, 35, 38), "orange": (235, 130, 30), "yellow": (236, 206, 70), "brown": (125, 80, 45),
    "green": (60, 130, 62), "blue": (55, 95, 175), "purple": (118, 62, 145), "pink": (236, 155, 180),
    "white": (240, 240, 238), "gray": (138, 138, 141), "black": (38, 38, 41),
}  # fmt: skip
"""A typical value of each of the eleven colours; objects vary around it."""
