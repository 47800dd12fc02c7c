"""Pictures of rooms by ray casting: each solid is intersected with the rays of the pixels that it
may cover.

Rays have length 1 along the camera's axis, so that a ray's parameter is the depth of the point it
hits. Vectors of all pixels are arrays of (3, rows, columns): x, y and z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seesay.mining.rooms.kinds import KINDS, MAIN, RGB, SHAPES
from seesay.mining.rooms.sampling import Room, RoomObject

Floats = NDArray[np.float32]
Vectors = NDArray[np.floating]

LIGHT = np.array((0.35, 0.8, -0.5)) / math.hypot(0.35, 0.8, 0.5)
AMBIENT = 0.62
FOCAL = 0.85
"""Focal length in picture widths: about 61 degrees across."""
YAW, PITCH = (0, 2), (1, 2)
"""The axes in whose plane an object and the camera are turned."""
_CORNERS = np.array(list(product((-0.5, 0.5), (0, 1), (-0.5, 0.5))))
_CURVED = {"box": [], "cylinder": [0, 2], "ellipsoid": [0, 1, 2]}
"""The axes along which a solid is round; along the others, two planes are its ends."""


@dataclass(frozen=True, slots=True)
class RoomView:
    """What the camera sees: colours, depth in metres, and the object index of each pixel (-1: the
    room itself).

    `covered`: the number of pixels that each object would cover if nothing hid it, inside and
    outside the frame; 0 for an object that is not in the frame at all.
    """

    rgb: NDArray[np.uint8]
    depth: Floats
    ids: NDArray[np.int16]
    covered: tuple[float, ...]


def render(room: Room, width: int, height: int, rng: np.random.Generator) -> RoomView:
    """The room as its camera sees it."""
    rays = _rays(width, height, room.pitch)
    depth, rgb = _shell(room, rays)
    ids = np.full((height, width), -1, np.int16)
    _shadows(room, rays, depth, rgb)
    covered = []
    for i, item in enumerate(room.objects):
        window, inside = _window(room, item, width, height)
        near, shade = _render_object(room, item, rays[:, *window])
        covered.append(float(np.isfinite(near).sum()) / max(inside, 1e-6))
        closer = near < depth[window]
        depth[window][closer] = near[closer]
        rgb[window][closer] = shade[closer]
        ids[window][closer] = i
    rgb *= _grain(width, height, int(rng.integers(16)))
    return RoomView(np.clip(rgb, 0, 255).astype(np.uint8), depth, ids, tuple(covered))


def _rays(width: int, height: int, pitch: float) -> Floats:
    """Directions of the pixels' rays in the room, each 1 long along the camera's axis."""
    x = (np.arange(width, dtype=np.float32) + 0.5 - width / 2) / (FOCAL * width)
    y = -(np.arange(height, dtype=np.float32) + 0.5 - height / 2) / (FOCAL * width)
    return _turned(np.stack(np.broadcast_arrays(x, y[:, None], np.float32(1))), pitch, PITCH)


def _turned(vectors: Vectors, angle: float, axes: tuple[int, int]) -> Vectors:
    """Vectors turned by an angle in the plane of two axes."""
    first, second = axes
    cos = math.cos(angle)
    sin = math.sin(angle)
    turned = vectors.copy()
    turned[first] = vectors[first] * cos - vectors[second] * sin
    turned[second] = vectors[first] * sin + vectors[second] * cos
    return turned


def _column(vector: ArrayLike) -> Floats:
    """One vector for all pixels."""
    return np.asarray(vector, np.float32)[:, None, None]


@lru_cache(maxsize=64)
def _grain(width: int, height: int, which: int) -> Floats:
    """Sensor noise: a few patterns that are reused."""
    noise = np.random.default_rng(which).normal(1, 0.02, (height, width, 1))
    return noise.astype(np.float32)


def _shell(room: Room, rays: Floats) -> tuple[Floats, Floats]:
    """Depth and colour of the empty room: floor, ceiling, back wall and side walls."""
    ex, ey, _ = room.eye
    half = room.size[0] / 2
    top = room.size[1]
    back = room.size[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = (
            np.where(
                rays > 0, _column((half - ex, top - ey, back)), _column((-half - ex, -ey, back))
            )
            / rays
        )
    depth = np.fmin.reduce(reach)
    at_side, at_end, _ = depth == reach
    on_floor = at_end & (rays[1] < 0)
    on_ceiling = at_end & (rays[1] > 0)
    x, y, z = _column(room.eye) + depth * rays
    shade = np.where(at_side, np.float32(0.86), np.float32(1)) - np.float32(0.03) * z
    wall = np.asarray(room.wall, np.float32)
    rgb: Floats = shade[..., None] * wall
    rgb[on_ceiling] = (shade[on_ceiling] * 1.06)[:, None] * np.minimum(wall * 0.3 + 170, 245)
    fx = x[on_floor]
    fz = z[on_floor]
    if room.boards:  # boards run away from the camera, each a little different
        board = np.floor(fx / 0.14)
        seam = (fx / 0.14 - board < 0.06) | ((fz + 0.37 * board) % 1.1 < 0.015)
        tone = 1 + 0.09 * np.sin(board * 12.9) + 0.03 * np.sin(fz * 23 + board * 5)
    else:
        seam = (fx % 0.45 < 0.018) | (fz % 0.45 < 0.018)
        tone = 1 + 0.05 * np.sin(np.floor(fx / 0.45) * 7.1 + np.floor(fz / 0.45) * 3.7)
    tone = np.where(seam, 0.72, tone) * shade[on_floor]
    rgb[on_floor] = tone[:, None].astype(np.float32) * np.asarray(room.floor, np.float32)
    skirting = ~at_end & (y < 0.09)
    rgb[skirting] *= 0.8
    return depth, rgb


def _shadows(room: Room, rays: Floats, depth: Floats, rgb: Floats) -> None:
    """Soft shadows on the floor under objects; without them objects seem to float."""
    height, width = depth.shape
    for item in room.objects:
        if item.lowest > 0.01 or item.size[1] < 0.1:
            continue
        x0, x1, z0, z1 = item.footprint
        patch = replace(item, size=(1.5 * (x1 - x0), 0.001, 1.5 * (z1 - z0)), turn=0.0)
        window, _ = _window(room, patch, width, height)
        x, y, z = _column(room.eye) + depth[window] * rays[:, *window]
        across = np.abs(x - item.at[0]) / (0.75 * (x1 - x0))
        away = np.abs(z - item.at[2]) / (0.75 * (z1 - z0))
        dark = np.clip(1.15 - np.maximum(across, away), 0, 0.5) * (y < 0.02)
        rgb[window] *= (1 - dark)[..., None]


def _window(
    room: Room, item: RoomObject, width: int, height: int
) -> tuple[tuple[slice, slice], float]:
    """The pixels that an object's bounding box may cover, and the share of that box which is inside
    the frame."""
    corners = _turned((_CORNERS * item.size).T, -item.turn, YAW).T + item.at - room.eye
    x, y, z = _turned(corners.T, -room.pitch, PITCH)
    if z.min() < 0.1:
        return (slice(0), slice(0)), 0.0
    focal = FOCAL * width
    places = np.stack([height / 2 - focal * y / z, width / 2 + focal * x / z])
    low = places.min(axis=1)
    high = places.max(axis=1)
    first = np.maximum(low, 0)
    last = np.minimum(high, (height, width))
    if (first >= last).any():
        return (slice(0), slice(0)), 0.0
    share = (last - first).prod() / (high - low).prod()
    rows, columns = (slice(math.floor(a), math.ceil(b)) for a, b in zip(first, last, strict=True))
    return (rows, columns), float(share)


def _render_object(room: Room, item: RoomObject, rays: Floats) -> tuple[Floats, Floats]:
    """Depth (infinite elsewhere) and colour of a single object."""
    near = np.full(rays.shape[1:], np.inf, np.float32)
    rgb = np.zeros((*near.shape, 3), np.float32)
    # Into the object's own frame: turned back, its base at the origin.
    eye, light = (
        _turned(vector, item.turn, YAW) for vector in (np.subtract(room.eye, item.at), LIGHT)
    )
    rays = _turned(rays, item.turn, YAW)
    for part in SHAPES[KINDS[item.name].shape]:
        half = np.multiply(part.size, item.size) / 2
        centre = np.multiply(part.centre, item.size)
        t, shade = _intersect(
            part.solid, _column((eye - centre) / half), rays * _column(1 / half), half, light
        )
        closer = t < near
        near[closer] = t[closer]
        color = item.rgb if part.color == MAIN else RGB[part.color]
        rgb[closer] = shade[closer][:, None] * np.asarray(color, np.float32)
    if item.color == "brown":  # wood grain
        with np.errstate(invalid="ignore"):
            x, y, _ = _column(eye) + near * rays
            grain = np.sin(y * 70 + 3 * np.sin(x * 9))
        rgb *= np.where(np.isfinite(near), 1 + 0.05 * grain, 1)[..., None]
    return near, rgb


def _intersect(
    solid: str, o: Floats, d: Floats, half: Vectors, light: Vectors
) -> tuple[Floats, Floats]:
    """Where rays o + t·d enter a unit solid (inf: they miss it), and how bright it is there.

    A solid is what several convex bodies have in common: the ray is inside after it has entered the
    last of them.
    """
    curved = _CURVED[solid]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bodies = [_slab(o[axis], d[axis], light[axis]) for axis in (1, 0, 2) if axis not in curved]
        if curved:
            bodies.insert(0, _ball(o[curved], d[curved], half[curved], light[curved]))
        entries, exits, shades = zip(*bodies, strict=True)
        near = np.maximum.reduce(entries)
        hit = (near < np.minimum.reduce(exits)) & (near > 0)
        shade = np.select([near == entry for entry in entries], shades)
    return np.where(hit, near, np.float32(np.inf)), shade.astype(np.float32)


def _slab(o: Floats, d: Floats, light: float) -> tuple[Floats, Floats, Vectors]:
    """Entry, exit and brightness of what lies between two planes across an axis."""
    a = (-1 - o) / d
    b = (1 - o) / d
    facing, averted = (AMBIENT + (1.08 - AMBIENT) * max(0.0, cosine) for cosine in (light, -light))
    return np.minimum(a, b), np.maximum(a, b), np.where(d > 0, averted, facing)


def _ball(o: Floats, d: Floats, half: Vectors, light: Vectors) -> tuple[Floats, Floats, Vectors]:
    """Entry, exit and brightness of the unit ball of any dimension (of a disc: an infinite
    cylinder); NaN where missed.

    The normal, which the brightness follows, is scaled from the unit solid to the true proportions.
    """
    a = (d * d).sum(axis=0)
    b = (o * d).sum(axis=0)
    c = (o * o).sum(axis=0) - 1
    root = np.sqrt(b * b - a * c)
    entry = (-b - root) / a
    normal = (o + entry * d) / _column(half)
    length = np.sqrt((normal * normal).sum(axis=0))
    cosine = (normal * _column(light)).sum(axis=0) / length
    return entry, (-b + root) / a, AMBIENT + np.float32(1.08 - AMBIENT) * np.maximum(cosine, 0)
