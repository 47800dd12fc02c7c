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
from numpy.typing import NDArray

from seesay.mining.rooms.kinds import KINDS, RGB, SCENES, Stand

Point = tuple[float, float, float]

GAP = 0.1
"""Between furniture and the back wall, in metres, so that nothing on the wall sticks out of a
cupboard."""


@dataclass(frozen=True, slots=True)
class RoomObject:
    """An object in a room. `at`: the middle of its base; `size`: width, height, depth; `turn`: its
    yaw in radians."""

    name: str
    subtype: str
    color: str
    rgb: Point
    size: Point
    at: Point
    turn: float = 0.0
    support: int | None = None

    @property
    def frontal_area(self) -> float:
        """Width times height in square metres, which ViPhy's size rule (box area scaled by depth)
        approximates."""
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
        """The range of x and of z that it covers on the floor."""
        cos = abs(math.cos(self.turn))
        sin = abs(math.sin(self.turn))
        w = self.size[0] * cos + self.size[2] * sin
        d = self.size[0] * sin + self.size[2] * cos
        x, _, z = self.at
        return x - w / 2, x + w / 2, z - d / 2, z + d / 2


@dataclass(frozen=True, slots=True)
class Room:
    """A room, its objects, and the pinhole camera that looks into it (pitch in radians,
    downwards)."""

    scene: str
    size: Point
    eye: Point
    pitch: float
    wall: Point
    floor: Point
    boards: bool
    objects: tuple[RoomObject, ...]


def sample_room(rng: np.random.Generator, scene: str) -> Room:
    """A random room of this scene."""
    size = (rng.uniform(4.2, 5.2), rng.uniform(2.5, 2.8), rng.uniform(4.4, 6.0))
    by_stand: defaultdict[Stand, list[RoomObject]] = defaultdict(list)
    for name, mean in SCENES[scene].items():
        count = int(mean) + (rng.random() < mean % 1)
        by_stand[KINDS[name].stand] += [_sample_object(rng, scene, name) for _ in range(count)]
    objects: list[RoomObject] = []
    _along_walls(rng, by_stand["wall"], size, objects)
    for item in by_stand["floor"]:
        _on_floor(rng, item, size, objects)
    for item, x in _packed(rng, by_stand["hung"], size[0] - 0.6):
        low, high = KINDS[item.name].bottom
        bottom = min(rng.uniform(low, high), size[1] - item.size[1] - 0.05)
        objects.append(replace(item, at=(x, bottom, size[2] - item.size[2] / 2 - 0.01)))
    for item in by_stand["ceiling"]:
        at = (rng.uniform(-1, 1), size[1] - item.size[1], rng.uniform(3.2, size[2] - 0.6))
        objects.append(replace(item, at=at))
    for item in by_stand["on"]:
        _on_support(rng, item, objects)
    light = rng.uniform(185, 235)
    boards = bool(rng.random() < 0.6)
    eye = (rng.uniform(-0.5, 0.5), rng.uniform(1.4, 1.65), 0.0)
    pitch = rng.uniform(0.12, 0.2)
    wall = _point(light + rng.uniform(-18, 18, 3))
    floor = _point(np.array((150, 112, 78) if boards else (165, 160, 155)) + rng.uniform(-20, 20))
    return Room(scene, size, eye, pitch, wall, floor, boards, tuple(objects))


def _sample_object(rng: np.random.Generator, scene: str, name: str) -> RoomObject:
    kind = KINDS[name]
    color = str(rng.choice(list(kind.colors), p=list(kind.colors.values())))
    rgb = _point(
        np.clip(np.array(RGB[color]) + rng.uniform(-10, 10) + rng.uniform(-6, 6, 3), 8, 248)
    )
    size = _point([rng.uniform(*side) for side in kind.size])
    # a subtype that names a room is used only in that room
    rooms = {"kitchen", "bathroom", "office"}
    subtypes = [s for s in kind.subtypes if not rooms & set(s.split()) or scene in s]
    return RoomObject(
        name, str(rng.choice(subtypes)) if subtypes else name, color, rgb, size, (0.0, 0.0, 0.0)
    )


def _packed(
    rng: np.random.Generator, objects: Sequence[RoomObject], length: float
) -> list[tuple[RoomObject, float]]:
    """Objects side by side along a wall, in random order and with random gaps; those that do not
    fit are left out."""
    chosen = []
    free = length
    for i in rng.permutation(len(objects)):
        if objects[i].size[0] + 0.05 < free:
            chosen.append(objects[i])
            free -= objects[i].size[0] + 0.05
    gaps = rng.dirichlet(np.ones(len(chosen) + 1)) * free
    placed = []
    x = -length / 2
    for item, gap in zip(chosen, gaps, strict=False):
        x += gap + item.size[0] / 2
        placed.append((item, float(x)))
        x += item.size[0] / 2 + 0.05
    return placed


def _along_walls(
    rng: np.random.Generator, new: list[RoomObject], room: Point, objects: list[RoomObject]
) -> None:
    """Two out of three go to the back wall, the others and those that do not fit there to the side
    walls."""
    width, _, depth = room
    at_side = rng.random(len(new)) < 0.33
    back = [t for t, side in zip(new, at_side, strict=True) if not side]
    placed = _packed(rng, back, width - 1.6)
    objects += [replace(t, at=(x, 0.0, depth - t.size[2] / 2 - GAP)) for t, x in placed]
    at_back = [t for t, _ in placed]
    rest = [t for t in new if t not in at_back]
    for sign, some in ((-1, rest[::2]), (1, rest[1::2])):
        room_left = [t for t in some if t.size[2] < 1.2]
        for item, z in _packed(rng, room_left, depth - 3.3):
            at = (sign * (width / 2 - item.size[2] / 2 - 0.02), 0.0, z + (2.3 + depth - 1.0) / 2)
            _add(replace(item, at=at, turn=sign * math.pi / 2), objects)


def _on_floor(
    rng: np.random.Generator, item: RoomObject, room: Point, objects: list[RoomObject]
) -> None:
    """Anywhere in the room where there is space, slightly turned; left out after a dozen
    attempts."""
    for _ in range(12):
        turned = replace(item, turn=rng.uniform(-0.5, 0.5))
        _, right, _, back = turned.footprint
        across = room[0] / 2 - right - GAP
        deep = room[2] - back - GAP
        at = (rng.uniform(-across, across), 0.0, rng.uniform(min(2.5, deep), deep))
        if _add(replace(turned, at=at), objects):
            return


def _add(item: RoomObject, objects: list[RoomObject]) -> bool:
    """Add the object if it intersects no other; rugs may lie under everything."""
    solid = [other for other in objects if min(item.size[1], other.size[1]) >= 0.05]
    free = not any(_overlap(item, other) for other in solid)
    if free:
        objects.append(item)
    return free


def _overlap(item: RoomObject, other: RoomObject) -> bool:
    """Whether one object is over or under the other."""
    a = item.footprint
    b = other.footprint
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]


def _on_support(rng: np.random.Generator, item: RoomObject, objects: list[RoomObject]) -> None:
    """Put the object on top of one of its supports, beside what is already there."""
    names = KINDS[item.name].supports
    for i in rng.permutation([i for i, t in enumerate(objects) if t.name in names]):
        base = objects[i]
        top = {"bed": 0.5, "sofa": 0.5}.get(base.name, 1.0) * base.size[1]
        spare = (base.size[0] - item.size[0]) / 2
        for _ in range(6 if spare > 0 else 0):
            across = rng.uniform(-spare, spare)
            deep = max(0.0, base.size[2] - item.size[2]) / 2 * rng.uniform(-0.9, 0.5)
            cos = math.cos(base.turn)
            sin = math.sin(base.turn)
            at = (
                base.at[0] + cos * across + sin * deep,
                base.at[1] + top,
                base.at[2] - sin * across + cos * deep,
            )
            new = replace(item, at=at, turn=base.turn, support=int(i))
            if not any(_overlap(new, other) for other in objects if other.support == i):
                objects.append(new)
                return


def _point(values: Sequence[float] | NDArray[np.float64]) -> Point:
    x, y, z = (float(v) for v in values)
    return x, y, z
