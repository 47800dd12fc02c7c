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
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from seesay.mining.masks import Window
from seesay.mining.rooms.kinds import KINDS, MAIN, RGB, SHAPES
from seesay.mining.rooms.sampling import Room, RoomObject

Floats = NDArray[np.float32]
Vectors = NDArray[np.floating]

LIGHT = np.array((0.35, 0.8, -0.5)) / math.hypot(0.35, 0.8, 0.5)
"""The direction towards the light, of length 1."""
AMBIENT = 0.62
"""The brightness of a surface that the light does not reach."""
FULL = 1.08
"""The brightness of a surface that faces the light."""
FOCAL = 0.85
"""Focal length in picture widths: about 61 degrees across."""
YAW, PITCH = (0, 2), (1, 2)
"""The axes in whose plane an object and the camera are turned."""
BOARD = 0.14
"""The width of a floor board in metres."""
TILE = 0.45
"""The side of a floor tile in metres."""
_CORNERS = np.array(list(product((-0.5, 0.5), (0, 1), (-0.5, 0.5))))
_CURVED = {
    "box": [],
    "cylinder": [0, 2],
    "ellipsoid": [0, 1, 2],
}
"""The axes along which a solid is round; along the others, two planes are its ends."""
_OUTSIDE = ((slice(0), slice(0)), 0.0)
"""The window of an object that is not in the frame."""


@dataclass(frozen=True, slots=True)
class RoomView:
    """What the camera sees."""

    rgb: NDArray[np.uint8]
    depth: Floats
    """Metres along the camera's axis."""
    ids: NDArray[np.int16]
    """The index of the object that a pixel shows; -1 is the room itself."""
    covered: tuple[float, ...]
    """The number of pixels that each object would cover if nothing hid it, inside and outside the
    frame; 0 for an object that is not in the frame at all."""


def render(
    room: Room,
    width: int,
    height: int,
    rng: Generator,
) -> RoomView:
    """Return the room as its camera sees it.

    `width`, `height`: the picture's size in pixels. `rng` draws the noise of the sensor.
    """
    rays = _rays(width, height, room.pitch)
    depth, rgb = _render_shell(room, rays)
    ids = np.full((height, width), -1, np.int16)
    _darken_floor(room, rays, depth, rgb)
    covered = []
    for i, item in enumerate(room.objects):
        window, share = _window(room, item, width, height)
        near, colors = _render_object(room, item, rays[:, *window])
        # The visible part is scaled up to the whole object as if its box were evenly filled.
        covered.append(float(np.isfinite(near).sum()) / max(share, 1e-6))
        closer = near < depth[window]
        depth[window][closer] = near[closer]
        rgb[window][closer] = colors[closer]
        ids[window][closer] = i
    rgb *= _sensor_noise(width, height, int(rng.integers(16)))
    return RoomView(
        rgb=np.clip(rgb, 0, 255).astype(np.uint8),
        depth=depth,
        ids=ids,
        covered=tuple(covered),
    )


def _rays(width: int, height: int, pitch: float) -> Floats:
    """Return the directions of the pixels' rays, each 1 long along the camera's axis.

    Rays go through the middles of pixels; rows count downwards, y upwards.
    """
    focal = FOCAL * width
    x = (np.arange(width, dtype=np.float32) + 0.5 - width / 2) / focal
    y = -(np.arange(height, dtype=np.float32) + 0.5 - height / 2) / focal
    rays = np.stack(np.broadcast_arrays(x, y[:, None], np.float32(1)))
    return _turn(rays, pitch, PITCH)


def _turn(vectors: Vectors, angle: float, axes: tuple[int, int]) -> Vectors:
    """Return vectors turned by an angle in the plane of two axes.

    `vectors`: (3,) or (3, …). `angle`: in radians, from the first axis to the second.
    """
    first, second = axes
    cos = math.cos(angle)
    sin = math.sin(angle)
    turned = vectors.copy()
    turned[first] = vectors[first] * cos - vectors[second] * sin
    turned[second] = vectors[first] * sin + vectors[second] * cos
    return turned


def _column(vector: ArrayLike) -> Floats:
    """Return one vector in the shape of all pixels' vectors."""
    return np.asarray(vector, np.float32)[:, None, None]


@lru_cache(maxsize=64)
def _sensor_noise(width: int, height: int, pattern: int) -> Floats:
    """Return one of a few patterns of noise: drawing new noise for each picture is slow."""
    noise = np.random.default_rng(pattern).normal(1, 0.02, (height, width, 1))
    return noise.astype(np.float32)


def _render_shell(room: Room, rays: Floats) -> tuple[Floats, Floats]:
    """Return depth and colour of the empty room: floor, ceiling, back wall and side walls.

    The shading is a guess at a lamp in the middle: side walls are darker, and all is darker the
    farther away it is.
    """
    eye_x, eye_y, _ = room.eye
    width, height, back = room.size
    high_walls = _column((width / 2 - eye_x, height - eye_y, back))
    low_walls = _column((-width / 2 - eye_x, -eye_y, back))
    # Along each axis a ray can only meet the wall that it goes towards; the nearest of the three
    # walls is the one that it hits. A ray parallel to a wall divides by 0, and never reaches it.
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(rays > 0, high_walls, low_walls) / rays
    depth = np.fmin.reduce(reach)
    on_side, on_end, _ = depth == reach
    on_floor = on_end & (rays[1] < 0)
    on_ceiling = on_end & (rays[1] > 0)
    x, y, z = _column(room.eye) + depth * rays
    shade = np.where(on_side, np.float32(0.86), np.float32(1)) - np.float32(0.03) * z
    wall = np.asarray(room.wall, np.float32)
    rgb: Floats = shade[..., None] * wall
    ceiling_shade = shade[on_ceiling] * 1.06
    rgb[on_ceiling] = ceiling_shade[:, None] * np.minimum(wall * 0.3 + 170, 245)
    floor_tones = _board_tones if room.boards else _tile_tones
    tone = floor_tones(x[on_floor], z[on_floor]) * shade[on_floor]
    rgb[on_floor] = tone[:, None].astype(np.float32) * np.asarray(room.floor, np.float32)
    skirting = ~on_end & (y < 0.09)
    rgb[skirting] *= 0.8
    return depth, rgb


def _board_tones(x: Floats, z: Floats) -> Vectors:
    """Return the brightness of boards, each a little different, that run away from the camera."""
    board = np.floor(x / BOARD)
    along = x / BOARD - board < 0.06
    # The ends of neighbouring boards are staggered.
    across = (z + 0.37 * board) % 1.1 < 0.015
    tone = 1 + 0.09 * np.sin(board * 12.9) + 0.03 * np.sin(z * 23 + board * 5)
    return np.where(along | across, 0.72, tone)


def _tile_tones(x: Floats, z: Floats) -> Vectors:
    """Return the brightness of tiles, each a little different, and of the seams between them."""
    seam = (x % TILE < 0.018) | (z % TILE < 0.018)
    tone = 1 + 0.05 * np.sin(np.floor(x / TILE) * 7.1 + np.floor(z / TILE) * 3.7)
    return np.where(seam, 0.72, tone)


def _darken_floor(
    room: Room,
    rays: Floats,
    depth: Floats,
    rgb: Floats,
) -> None:
    """Draw soft shadows on the floor under objects; without them objects seem to float.

    `depth` and `rgb` are those of the empty room; `rgb` is changed. A shadow is the object's
    footprint, half as large again, and fades towards its edge.
    """
    height, width = depth.shape
    for item in room.objects:
        if item.lowest > 0.01 or item.size[1] < 0.1:
            continue
        x0, x1, z0, z1 = item.footprint
        half_x = 0.75 * (x1 - x0)
        half_z = 0.75 * (z1 - z0)
        patch = replace(item, size=(2 * half_x, 0.001, 2 * half_z), turn=0.0)
        window, _ = _window(room, patch, width, height)
        x, y, z = _column(room.eye) + depth[window] * rays[:, *window]
        across = np.abs(x - item.at[0]) / half_x
        away = np.abs(z - item.at[2]) / half_z
        # Not on the walls behind the object.
        on_floor = y < 0.02
        dark = np.clip(1.15 - np.maximum(across, away), 0, 0.5) * on_floor
        rgb[window] *= (1 - dark)[..., None]


def _window(
    room: Room,
    item: RoomObject,
    width: int,
    height: int,
) -> tuple[Window, float]:
    """Return the pixels that an object's bounding box may cover, and the share of it in the frame.

    Only these pixels' rays are cast: most objects cover a small part of a picture. The share is
    that of the projected box's area, and 0 for an object that is not in the frame at all.
    """
    corners = _turn((_CORNERS * item.size).T, -item.turn, YAW).T + item.at - room.eye
    x, y, z = _turn(corners.T, -room.pitch, PITCH)
    # Behind the camera, or so near that the projection has no bounds.
    if z.min() < 0.1:
        return _OUTSIDE
    focal = FOCAL * width
    pixels = np.stack([height / 2 - focal * y / z, width / 2 + focal * x / z])
    low = pixels.min(axis=1)
    high = pixels.max(axis=1)
    first = np.maximum(low, 0)
    last = np.minimum(high, (height, width))
    if (first >= last).any():
        return _OUTSIDE
    share = (last - first).prod() / (high - low).prod()
    rows, columns = (
        slice(math.floor(start), math.ceil(end)) for start, end in zip(first, last, strict=True)
    )
    return (rows, columns), float(share)


def _render_object(
    room: Room,
    item: RoomObject,
    rays: Floats,
) -> tuple[Floats, Floats]:
    """Return depth (infinite elsewhere) and colour of a single object.

    `rays`: those of its window only.
    """
    near = np.full(rays.shape[1:], np.inf, np.float32)
    rgb = np.zeros((*near.shape, 3), np.float32)
    # In the object's frame, turned back and with its base at the origin, its parts are aligned
    # with the axes.
    eye = _turn(np.subtract(room.eye, item.at), item.turn, YAW)
    light = _turn(LIGHT, item.turn, YAW)
    rays = _turn(rays, item.turn, YAW)
    for part in SHAPES[KINDS[item.name].shape]:
        half = np.multiply(part.size, item.size) / 2
        centre = np.multiply(part.centre, item.size)
        # Scaling space makes every part a unit solid. It does not change the parameter t, which
        # therefore remains the depth.
        unit_eye = _column((eye - centre) / half)
        t, shade = _intersect(
            part.solid,
            unit_eye,
            rays * _column(1 / half),
            half,
            light,
        )
        closer = t < near
        near[closer] = t[closer]
        color = item.rgb if part.color == MAIN else RGB[part.color]
        rgb[closer] = shade[closer][:, None] * np.asarray(color, np.float32)
    if item.color == "brown":
        rgb *= _wood_grain(_column(eye), rays, near)[..., None]
    return near, rgb


def _wood_grain(eye: Floats, rays: Floats, depth: Floats) -> Vectors:
    """Return the brightness of wood on an object, and 1 around it.

    Rings run across the height, bent along the width. All in the object's frame.
    """
    # Depth is infinite around the object.
    with np.errstate(invalid="ignore"):
        x, y, _ = eye + depth * rays
        grain = np.sin(y * 70 + 3 * np.sin(x * 9))
    return np.where(np.isfinite(depth), 1 + 0.05 * grain, 1)


def _intersect(
    solid: str,
    eye: Floats,
    rays: Floats,
    half: Vectors,
    light: Vectors,
) -> tuple[Floats, Floats]:
    """Return where rays eye + t·ray enter a unit solid, and how bright it is there.

    t is inf where a ray misses it. A solid is what several convex bodies have in common: the ray is
    inside after it has entered the last of them, until it leaves the first.

    `eye`, `rays`: scaled so that the solid reaches from −1 to 1 along every axis.
    `half`: half the solid's true size, which undoes the scaling for normals.
    `light`: the direction towards the light.
    """
    curved = _CURVED[solid]
    bodies = []
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if curved:
            bodies.append(_intersect_ball(eye[curved], rays[curved], half[curved], light[curved]))
        # Where a ray enters two bodies at once, at an edge, the first of the list gives the shade:
        # the top and the bottom come before the sides.
        for axis in (1, 0, 2):
            if axis not in curved:
                bodies.append(_intersect_slab(eye[axis], rays[axis], light[axis]))
        entries, exits, shades = zip(*bodies, strict=True)
        near = np.maximum.reduce(entries)
        is_hit = (near < np.minimum.reduce(exits)) & (near > 0)
        shade = np.select([near == entry for entry in entries], shades)
    return np.where(is_hit, near, np.float32(np.inf)), shade.astype(np.float32)


def _intersect_slab(
    eye: Floats,
    rays: Floats,
    light: float,
) -> tuple[Floats, Floats, Vectors]:
    """Return entry, exit and brightness of what lies between two planes across an axis.

    `eye`, `rays`, `light`: their components along this axis. The planes are at −1 and 1; the one
    that a ray meets first faces against it.
    """
    low = (-1 - eye) / rays
    high = (1 - eye) / rays
    shade = AMBIENT + (FULL - AMBIENT) * np.maximum(0.0, np.where(rays > 0, -light, light))
    return np.minimum(low, high), np.maximum(low, high), shade


def _intersect_ball(
    eye: Floats,
    rays: Floats,
    half: Vectors,
    light: Vectors,
) -> tuple[Floats, Floats, Vectors]:
    """Return entry, exit and brightness of the unit ball of any dimension; NaN where missed.

    The ball of two dimensions is a disc, the section of an infinite cylinder. The normal, which
    the brightness follows, is scaled from the unit solid to the true proportions.
    """
    # |eye + t·ray|² = 1 is a quadratic equation in t: a t² + 2 b t + c = 0.
    a = (rays * rays).sum(axis=0)
    b = (eye * rays).sum(axis=0)
    c = (eye * eye).sum(axis=0) - 1
    root = np.sqrt(b * b - a * c)
    entry = (-b - root) / a
    leaving = (-b + root) / a
    normal = (eye + entry * rays) / _column(half)
    length = np.sqrt((normal * normal).sum(axis=0))
    cosine = (normal * _column(light)).sum(axis=0) / length
    shade = AMBIENT + np.float32(FULL - AMBIENT) * np.maximum(cosine, 0)
    return entry, leaving, shade
