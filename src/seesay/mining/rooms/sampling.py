"""Random rooms: the objects, their places, and the camera.

World coordinates are metres: x to the right, y up from the floor, z away from the camera, which is
at z = 0.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from seesay.mining.rooms.kinds import KINDS, RGB, SCENES, Stand

Point = tuple[float, float, float]

GAP = 0.1
"""Metres between furniture and the back wall, so that a cupboard does not swallow what hangs on the
wall."""
SPACING = 0.05
"""Metres that are left free beside an object in a row."""
SEAT_HEIGHT = {"bed": 0.5, "sofa": 0.5}
"""The share of an object's height at which things lie on it; 1 for all others, their top."""
FLOOR_ATTEMPTS = 12
SUPPORT_ATTEMPTS = 6
BOARDS_RGB = (150, 112, 78)
TILES_RGB = (165, 160, 155)
ROOM_WORDS = {"kitchen", "bathroom", "office"}
"""Words of a subtype ("kitchen chair") that name the scene in which it occurs."""


@dataclass(frozen=True, slots=True)
class RoomObject:
    """An object in a room."""

    name: str
    """The name of its kind."""
    subtype: str
    """What a caption may call it more exactly, else its name."""
    color: str
    """One of the eleven colours."""
    rgb: Point
    """The shade of that colour, from 0 to 255."""
    size: Point
    """Width, height and depth."""
    at: Point
    """The middle of its base."""
    turn: float = 0.0
    """Its yaw in radians."""
    support: int | None = None
    """The index of the object that it stands on; None for the floor, a wall or the ceiling."""

    @property
    def frontal_area(self) -> float:
        """Width times height in square metres.

        ViPhy's size rule (box area scaled by depth) approximates this area.
        """
        return self.size[0] * self.size[1]

    @property
    def lowest(self) -> float:
        """The height of its lowest point above the floor, in metres."""
        return self.at[1]

    @property
    def centroid(self) -> float:
        """The height of its middle above the floor, in metres."""
        return self.at[1] + self.size[1] / 2

    @property
    def footprint(self) -> tuple[float, float, float, float]:
        """The range of x and of z that it covers on the floor.

        It is the bounding rectangle of the turned object: objects are kept apart by it, which is on
        the safe side.
        """
        cos = abs(math.cos(self.turn))
        sin = abs(math.sin(self.turn))
        width, _, depth = self.size
        half_x = (width * cos + depth * sin) / 2
        half_z = (width * sin + depth * cos) / 2
        x, _, z = self.at
        return x - half_x, x + half_x, z - half_z, z + half_z


@dataclass(frozen=True, slots=True)
class Room:
    """A room, its objects, and the pinhole camera that looks into it."""

    scene: str
    size: Point
    """Width, height and depth."""
    eye: Point
    """Where the camera is."""
    pitch: float
    """How far the camera looks down, in radians."""
    wall: Point
    """The colour of the walls."""
    floor: Point
    """The colour of the floor."""
    boards: bool
    """Whether the floor has boards; else it has tiles."""
    objects: tuple[RoomObject, ...]


def sample_room(rng: Generator, scene: str) -> Room:
    """Return a random room of this scene.

    The order of the draws is part of the format: seed and index identify a room.
    """
    size = (
        rng.uniform(4.2, 5.2),
        rng.uniform(2.5, 2.8),
        rng.uniform(4.4, 6.0),
    )
    by_stand: defaultdict[Stand, list[RoomObject]] = defaultdict(list)
    for name, mean in SCENES[scene].items():
        # A mean of 1.3 is one object, and a second one in three rooms out of ten.
        count = int(mean) + (rng.random() < mean % 1)
        by_stand[KINDS[name].stand] += [_sample_object(rng, scene, name) for _ in range(count)]
    objects: list[RoomObject] = []
    _place_along_walls(rng, by_stand["wall"], size, objects)
    for item in by_stand["floor"]:
        _place_on_floor(rng, item, size, objects)
    _hang_on_back_wall(rng, by_stand["hung"], size, objects)
    for item in by_stand["ceiling"]:
        at = (
            rng.uniform(-1, 1),
            size[1] - item.size[1],
            rng.uniform(3.2, size[2] - 0.6),
        )
        objects.append(replace(item, at=at))
    # Last, since their supports must have a place before them.
    for item in by_stand["on"]:
        _place_on_support(rng, item, objects)
    light = rng.uniform(185, 235)
    boards = bool(rng.random() < 0.6)
    eye = (rng.uniform(-0.5, 0.5), rng.uniform(1.4, 1.65), 0.0)
    pitch = rng.uniform(0.12, 0.2)
    wall = _point(light + rng.uniform(-18, 18, 3))
    floor_rgb = np.array(BOARDS_RGB if boards else TILES_RGB)
    floor = _point(floor_rgb + rng.uniform(-20, 20))
    return Room(scene, size, eye, pitch, wall, floor, boards, tuple(objects))


def _sample_object(
    rng: Generator,
    scene: str,
    name: str,
) -> RoomObject:
    """Return an object of this kind without a place.

    A subtype that names a room ("kitchen chair") is used only in that room.
    """
    kind = KINDS[name]
    color = str(rng.choice(list(kind.colors), p=list(kind.colors.values())))
    # The brightness varies more than the hue, or a red cup would sometimes be orange.
    varied = np.array(RGB[color]) + rng.uniform(-10, 10) + rng.uniform(-6, 6, 3)
    rgb = _point(np.clip(varied, 8, 248))
    size = _point([rng.uniform(*side) for side in kind.size])
    subtypes = [
        subtype
        for subtype in kind.subtypes
        if ROOM_WORDS.isdisjoint(subtype.split()) or scene in subtype
    ]
    subtype = str(rng.choice(subtypes)) if subtypes else name
    return RoomObject(name, subtype, color, rgb, size, at=(0.0, 0.0, 0.0))


def _pack_row(
    rng: Generator,
    objects: Sequence[RoomObject],
    length: float,
) -> list[tuple[RoomObject, float]]:
    """Put objects side by side in a row, in random order and with random gaps.

    Returns those that fit, each with the place of its middle; the row's own middle is at 0.
    """
    row = []
    free = length
    for i in rng.permutation(len(objects)):
        needed = objects[i].size[0] + SPACING
        if needed < free:
            row.append(objects[i])
            free -= needed
    # A Dirichlet draw divides the free length into gaps, all divisions being equally likely; the
    # last gap is behind the last object.
    gaps = rng.dirichlet(np.ones(len(row) + 1)) * free
    places = []
    x = -length / 2
    for item, gap in zip(row, gaps, strict=False):
        x += gap + item.size[0] / 2
        places.append((item, float(x)))
        x += item.size[0] / 2 + SPACING
    return places


def _place_along_walls(
    rng: Generator,
    furniture: list[RoomObject],
    room: Point,
    objects: list[RoomObject],
) -> None:
    """Place two out of three along the back wall, the others along the side walls.

    What does not fit along the back wall goes to the side walls too.
    """
    width, _, depth = room
    at_side = rng.random(len(furniture)) < 0.33
    for_back = [item for item, side in zip(furniture, at_side, strict=True) if not side]
    back_row = _pack_row(rng, for_back, width - 1.6)
    for item, x in back_row:
        z = depth - item.size[2] / 2 - GAP
        objects.append(replace(item, at=(x, 0.0, z)))
    at_back = [item for item, _ in back_row]
    for_sides = [item for item in furniture if item not in at_back]
    # The camera looks along the side walls: what is nearer than 2.3 m is below the frame, and the
    # last metre belongs to the furniture at the back.
    middle = (2.3 + depth - 1.0) / 2
    for sign, items in ((-1, for_sides[::2]), (1, for_sides[1::2])):
        shallow = [item for item in items if item.size[2] < 1.2]
        for item, z in _pack_row(rng, shallow, depth - 3.3):
            x = sign * (width / 2 - item.size[2] / 2 - 0.02)
            at = (x, 0.0, z + middle)
            _add_if_free(replace(item, at=at, turn=sign * math.pi / 2), objects)


def _place_on_floor(
    rng: Generator,
    item: RoomObject,
    room: Point,
    objects: list[RoomObject],
) -> None:
    """Place the object where there is space, slightly turned, or leave it out.

    No attempt puts it nearer than 2.5 m, where the camera would look over it.
    """
    for _ in range(FLOOR_ATTEMPTS):
        turned = replace(item, turn=rng.uniform(-0.5, 0.5))
        # Its base is still at the origin, so the footprint's ends are half its extent.
        _, half_x, _, half_z = turned.footprint
        across = room[0] / 2 - half_x - GAP
        deep = room[2] - half_z - GAP
        at = (
            rng.uniform(-across, across),
            0.0,
            rng.uniform(min(2.5, deep), deep),
        )
        if _add_if_free(replace(turned, at=at), objects):
            return


def _hang_on_back_wall(
    rng: Generator,
    items: Sequence[RoomObject],
    room: Point,
    objects: list[RoomObject],
) -> None:
    """Hang the objects side by side, each at a height of its kind but below the ceiling."""
    width, height, depth = room
    for item, x in _pack_row(rng, items, width - 0.6):
        low, high = KINDS[item.name].bottom
        bottom = min(rng.uniform(low, high), height - item.size[1] - 0.05)
        z = depth - item.size[2] / 2 - 0.01
        objects.append(replace(item, at=(x, bottom, z)))


def _add_if_free(item: RoomObject, objects: list[RoomObject]) -> bool:
    """Add the object unless it intersects another, and return whether it was added."""
    # A rug is thinner than 5 cm: it may lie under everything.
    solids = [other for other in objects if min(item.size[1], other.size[1]) >= 0.05]
    if any(_overlaps(item, other) for other in solids):
        return False
    objects.append(item)
    return True


def _overlaps(item: RoomObject, other: RoomObject) -> bool:
    """Return whether one object is over or under the other."""
    left, right, front, back = item.footprint
    other_left, other_right, other_front, other_back = other.footprint
    overlaps_x = left < other_right and other_left < right
    return overlaps_x and front < other_back and other_front < back


def _place_on_support(
    rng: Generator,
    item: RoomObject,
    objects: list[RoomObject],
) -> None:
    """Put the object on top of one of its supports, beside what is there, or leave it out."""
    support_names = KINDS[item.name].supports
    supports = [i for i, other in enumerate(objects) if other.name in support_names]
    for i in rng.permutation(supports):
        base = objects[i]
        spare = (base.size[0] - item.size[0]) / 2
        if spare <= 0:
            continue
        neighbours = [other for other in objects if other.support == i]
        for _ in range(SUPPORT_ATTEMPTS):
            at = _sample_place_on(rng, item, base, spare)
            moved = replace(item, at=at, turn=base.turn, support=int(i))
            if not any(_overlaps(moved, other) for other in neighbours):
                objects.append(moved)
                return


def _sample_place_on(
    rng: Generator,
    item: RoomObject,
    base: RoomObject,
    spare: float,
) -> Point:
    """Return a random place on an object, `spare` at most to the left or right of its middle."""
    across = rng.uniform(-spare, spare)
    # Rather to the front, where it can be seen.
    deep = max(0.0, base.size[2] - item.size[2]) / 2 * rng.uniform(-0.9, 0.5)
    top = SEAT_HEIGHT.get(base.name, 1.0) * base.size[1]
    cos = math.cos(base.turn)
    sin = math.sin(base.turn)
    return (
        base.at[0] + cos * across + sin * deep,
        base.at[1] + top,
        base.at[2] - sin * across + cos * deep,
    )


def _point(values: Sequence[float] | NDArray[np.float64]) -> Point:
    x, y, z = map(float, values)
    return x, y, z
