"""Pictures of rooms by ray casting: each solid is intersected with the rays of the pixels that it may cover.

Rays have length 1 along the camera's axis, so that a ray's parameter is the depth of the point it hits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from seesay.mining.rooms.kinds import KINDS, MAIN, RGB, SHAPES
from seesay.mining.rooms.sampling import Room, RoomObject

Floats = NDArray[np.float32]

LIGHT = np.array((0.35, 0.8, -0.5)) / math.hypot(0.35, 0.8, 0.5)
AMBIENT = 0.62
FOCAL = 0.85
"""Focal length in picture widths: about 61 degrees across."""


@dataclass(frozen=True, slots=True)
class RoomView:
    """What the camera sees: colours, depth in metres, and the object index of each pixel (-1: the room itself).

    `covered`: the number of pixels that each object would cover if nothing hid it, inside and outside the frame.
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
        rect, inside = _rectangle(room, item, width, height)
        if rect is None:
            covered.append(math.inf)
            continue
        near, shade = _render_object(room, item, tuple(r[rect] for r in rays))
        covered.append(float(np.isfinite(near).sum()) / max(inside, 1e-6))
        closer = near < depth[rect]
        depth[rect][closer] = near[closer]
        rgb[rect][closer] = shade[closer]
        ids[rect][closer] = i
    rgb *= _grain(width, height, int(rng.integers(16)))
    return RoomView(np.clip(rgb, 0, 255).astype(np.uint8), depth, ids, tuple(covered))


@lru_cache(maxsize=4)
def _flat_rays(width: int, height: int) -> tuple[Floats, Floats]:
    focal = FOCAL * width
    x = (np.arange(width, dtype=np.float32) + 0.5 - width / 2) / focal
    y = -(np.arange(height, dtype=np.float32) + 0.5 - height / 2) / focal
    return np.broadcast_to(x, (height, width)).copy(), np.broadcast_to(y[:, None], (height, width)).copy()


def _rays(width: int, height: int, pitch: float) -> tuple[Floats, Floats, Floats]:
    """Directions of the pixels' rays in the room, each 1 long along the camera's axis."""
    x, y = _flat_rays(width, height)
    cos, sin = np.float32(math.cos(pitch)), np.float32(math.sin(pitch))
    return x, y * cos - sin, y * sin + cos


@lru_cache(maxsize=64)
def _grain(width: int, height: int, which: int) -> Floats:
    """Sensor noise: a few patterns that are reused."""
    noise = np.random.default_rng(which).normal(1, 0.02, (height, width, 1))
    return noise.astype(np.float32)


def _shell(room: Room, rays: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats]:
    """Depth and colour of the empty room: floor, ceiling, back wall and side walls."""
    dx, dy, dz = rays
    ex, ey, _ = room.eye
    half, top, back = room.size[0] / 2, room.size[1], room.size[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        across = np.where(dx > 0, np.float32(half - ex), np.float32(-half - ex)) / dx
        up = np.where(dy > 0, np.float32(top - ey), np.float32(-ey)) / dy
        away = np.float32(back) / dz
    depth = np.fmin(np.fmin(across, up), away)
    x, z = ex + depth * dx, depth * dz
    on_floor, on_ceiling = (depth == up) & (dy < 0), (depth == up) & (dy > 0)
    shade = np.where(depth == across, np.float32(0.86), np.float32(1)) - np.float32(0.03) * z
    wall = np.asarray(room.wall, np.float32)
    rgb: Floats = shade[..., None] * wall
    rgb[on_ceiling] = (shade[on_ceiling] * 1.06)[:, None] * np.minimum(wall * 0.3 + 170, 245)
    fx, fz = x[on_floor], z[on_floor]
    if room.boards:  # boards run away from the camera, each a little different
        board = np.floor(fx / 0.14)
        seam = (fx / 0.14 - board < 0.06) | ((fz + 0.37 * board) % 1.1 < 0.015)
        tone = 1 + 0.09 * np.sin(board * 12.9) + 0.03 * np.sin(fz * 23 + board * 5)
    else:
        seam = (fx % 0.45 < 0.018) | (fz % 0.45 < 0.018)
        tone = 1 + 0.05 * np.sin(np.floor(fx / 0.45) * 7.1 + np.floor(fz / 0.45) * 3.7)
    tone = np.where(seam, 0.72, tone) * shade[on_floor]
    rgb[on_floor] = tone[:, None].astype(np.float32) * np.asarray(room.floor, np.float32)
    skirting = ~on_floor & ~on_ceiling & (ey + depth * dy < 0.09)
    rgb[skirting] *= 0.8
    return depth, rgb


def _shadows(room: Room, rays: tuple[Floats, Floats, Floats], depth: Floats, rgb: Floats) -> None:
    """Soft shadows on the floor under objects; without them objects seem to float."""
    height, width = depth.shape
    for item in room.objects:
        if item.lowest > 0.01 or item.size[1] < 0.1:
            continue
        x0, x1, z0, z1 = item.footprint
        patch = RoomObject("", "", "", (0, 0, 0), (1.5 * (x1 - x0), 0.001, 1.5 * (z1 - z0)), item.at)
        rect, _ = _rectangle(room, patch, width, height)
        if rect is None:
            continue
        dx, dy, dz = (r[rect] for r in rays)
        t = depth[rect]
        u = (room.eye[0] + t * dx - item.at[0]) / (0.75 * (x1 - x0))
        v = (t * dz - item.at[2]) / (0.75 * (z1 - z0))
        dark = np.clip(1.15 - np.maximum(np.abs(u), np.abs(v)), 0, 0.5) * (room.eye[1] + t * dy < 0.02)
        rgb[rect] *= (1 - dark)[..., None]


def _rectangle(room: Room, item: RoomObject, width: int, height: int) -> tuple[tuple[slice, slice] | None, float]:
    """The pixels that an object's bounding box may cover, and the share of that box which is inside the frame."""
    w, h, d = item.size
    cos, sin = math.cos(item.turn), math.sin(item.turn)
    corners = np.array([(x, y, z) for x in (-w / 2, w / 2) for y in (0, h) for z in (-d / 2, d / 2)])
    x = corners[:, 0] * cos + corners[:, 2] * sin + item.at[0] - room.eye[0]
    y = corners[:, 1] + item.at[1] - room.eye[1]
    z = -corners[:, 0] * sin + corners[:, 2] * cos + item.at[2] - room.eye[2]
    c, s = math.cos(room.pitch), math.sin(room.pitch)
    up, away = y * c + z * s, z * c - y * s
    if away.min() < 0.1:
        return None, 0.0
    u = width / 2 + FOCAL * width * x / away
    v = height / 2 - FOCAL * width * up / away
    left, right, top, bottom = u.min(), u.max(), v.min(), v.max()
    cut = (max(left, 0.0), min(right, float(width)), max(top, 0.0), min(bottom, float(height)))
    if cut[0] >= cut[1] or cut[2] >= cut[3]:
        return None, 0.0
    share = (cut[1] - cut[0]) * (cut[3] - cut[2]) / ((right - left) * (bottom - top))
    rows = slice(math.floor(cut[2]), math.ceil(cut[3]))
    return (rows, slice(math.floor(cut[0]), math.ceil(cut[1]))), float(share)


def _render_object(room: Room, item: RoomObject, rays: tuple[Floats, ...]) -> tuple[Floats, Floats]:
    """Depth (infinite elsewhere) and colour of a single object."""
    near = np.full(rays[0].shape, np.inf, np.float32)
    rgb = np.zeros((*rays[0].shape, 3), np.float32)
    cos, sin = math.cos(item.turn), math.sin(item.turn)
    # Into the object's own frame: turned back, its base at the origin.
    c, s = np.float32(cos), np.float32(sin)
    dx, dy, dz = rays[0] * c - rays[2] * s, rays[1], rays[0] * s + rays[2] * c
    ox, oy, oz = (room.eye[k] - item.at[k] for k in range(3))
    ox, oz = ox * cos - oz * sin, ox * sin + oz * cos
    light = (LIGHT[0] * cos - LIGHT[2] * sin, float(LIGHT[1]), LIGHT[0] * sin + LIGHT[2] * cos)
    for part in SHAPES[KINDS[item.name].shape]:
        half = tuple(p * q / 2 for p, q in zip(part.size, item.size, strict=True))
        centre = tuple(p * q for p, q in zip(part.centre, item.size, strict=True))
        o = tuple(np.float32((a - p) / h) for a, p, h in zip((ox, oy, oz), centre, half, strict=True))
        d = tuple(a * np.float32(1 / h) for a, h in zip((dx, dy, dz), half, strict=True))
        t, shade = _intersect(part.solid, o, d, half, light)
        closer = t < near
        near[closer] = t[closer]
        color = item.rgb if part.color == MAIN else RGB[part.color]
        rgb[closer] = shade[closer][:, None] * np.asarray(color, np.float32)
    if item.color == "brown":  # wood grain
        with np.errstate(invalid="ignore"):
            grain = np.sin((oy + near * dy) * 70 + 3 * np.sin((ox + near * dx) * 9))
        rgb *= np.where(np.isfinite(near), 1 + 0.05 * grain, 1)[..., None]
    return near, rgb


def _intersect(
    solid: str, o: tuple[np.float32, ...], d: tuple[Floats, ...], half: tuple[float, ...], light: tuple[float, ...]
) -> tuple[Floats, Floats]:
    """Where rays o + t·d enter a unit solid (inf: they miss it), and how bright it is there. All solids are convex."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if solid == "box":
            spans = [_slab(o[k], d[k]) for k in range(3)]
            near = np.maximum(np.maximum(spans[0][0], spans[1][0]), spans[2][0])
            far = np.minimum(np.minimum(spans[0][1], spans[1][1]), spans[2][1])
            faces = [np.where(d[k] > 0, _lit(-light[k]), _lit(light[k])) for k in range(3)]
            shade = np.where(near == spans[1][0], faces[1], np.where(near == spans[0][0], faces[0], faces[2]))
        elif solid == "cylinder":
            round_near, round_far = _ball((o[0], o[2]), (d[0], d[2]))
            slab_near, slab_far = _slab(o[1], d[1])
            near, far = np.maximum(round_near, slab_near), np.minimum(round_far, slab_far)
            side = _smooth((o[0], o[2]), (d[0], d[2]), near, (half[0], half[2]), (light[0], light[2]))
            shade = np.where(slab_near > round_near, np.where(d[1] > 0, _lit(-light[1]), _lit(light[1])), side)
        else:
            near, far = _ball(o, d)
            shade = _smooth(o, d, near, half, light)
        hit = (near < far) & (near > 0)
    return np.where(hit, near, np.float32(np.inf)), shade.astype(np.float32)


def _lit(cosine: float) -> float:
    return AMBIENT + (1.08 - AMBIENT) * max(0.0, cosine)


def _slab(o: np.float32, d: Floats) -> tuple[Floats, Floats]:
    a, b = (-1 - o) / d, (1 - o) / d
    return np.minimum(a, b), np.maximum(a, b)


def _ball(o: tuple[np.float32, ...], d: tuple[Floats, ...]) -> tuple[Floats, Floats]:
    """Entry and exit of the unit ball of any dimension (of a disc: an infinite cylinder); NaN where missed."""
    a = sum(x * x for x in d)
    b = sum(x * y for x, y in zip(o, d, strict=True))
    c = sum(x * x for x in o) - 1
    root = np.sqrt(b * b - a * c)
    return np.asarray((-b - root) / a, np.float32), np.asarray((-b + root) / a, np.float32)


def _smooth(
    o: tuple[np.float32, ...], d: tuple[Floats, ...], t: Floats, half: tuple[float, ...], light: tuple[float, ...]
) -> Floats:
    """Brightness of a round surface by its normal, scaled from the unit solid to the true proportions."""
    normal = [(a + t * b) / np.float32(h) for a, b, h in zip(o, d, half, strict=True)]
    length = np.sqrt(sum(n * n for n in normal))
    cosine = sum(n * np.float32(w) for n, w in zip(normal, light, strict=True)) / length
    return AMBIENT + np.float32(1.08 - AMBIENT) * np.maximum(cosine, 0)
