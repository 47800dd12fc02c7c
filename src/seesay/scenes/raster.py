"""A scene as pixels, equal to the published raster.

Things never overlap, so a picture is painted by pasting small masks into an array of palette
indices: 0 is the background, 1 … 5 the colors, and every step down in brightness adds 5.

The published PNGs are 1478 x 1478: a figure of 1478.4 pixels drawn with the nearest color. At 1024
and 1478 this module gives exactly the published pixels; at any other size every pixel is the mean
of the area that it covers. It is computed in whole numbers, so that the same scene gives the same
bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import gcd

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.scenes.defaults import PUBLISHED as PUBLISHED
from seesay.scenes.world import (
    CANVAS,
    LEVELS,
    RGB,
    SCENE_COLORS,
    WIDE,
    Scene,
    SceneObject,
    anchor,
    brightness,
)

_LARGEST = 8192

Bytes = NDArray[np.uint8]


@lru_cache(maxsize=512)
def mask(shape: str, radius: int, turn: int) -> tuple[int, int, NDArray[np.bool_]]:
    """Where the shape's first row and column lie from its stored point, and which pixels it covers
    from there."""
    if shape == "circle":
        line = np.arange(-radius + 1, radius)
        return -radius + 1, -radius + 1, line[:, None] ** 2 + line[None, :] ** 2 < radius * radius
    if shape in ("square", "rectangle"):
        down, right = anchor(shape, radius, turn)
        return -down, -right, np.ones((2 * down, 2 * right), dtype=bool)
    if turn == WIDE:
        row, column = np.ogrid[: 2 * radius - 1, : 4 * radius]
        inside = (column > row) & (column <= 4 * radius - 1 - row)
        inside[0] = True
        return -2 * radius, -2 * radius, inside
    row, column = np.ogrid[1 : 4 * radius, : 2 * radius]
    return -2 * radius + 1, -2 * radius, column < np.minimum(row, 4 * radius - row)


@lru_cache(maxsize=16)
def palette(levels: int = 1) -> Bytes:
    """RGB of every index, for pictures whose objects use the brightest `levels` steps."""
    rows: list[tuple[int, ...]] = [(0, 0, 0)]
    for dim in range(levels):
        shine = brightness(LEVELS - dim)
        rows += [tuple(part * shine // 255 for part in RGB[color]) for color in SCENE_COLORS]
    table = np.array(rows, dtype=np.uint8)
    table.setflags(write=False)
    return table


def index_of(obj: SceneObject) -> int:
    """The object's place in the palette."""
    return 1 + SCENE_COLORS.index(obj.color) + len(SCENE_COLORS) * (LEVELS - obj.level)


@lru_cache(maxsize=1)
def _published_sources() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which canvas row and column every row and column of the published picture shows.

    The figure was drawn into 1479 pixels by a renderer that counts in 256ths of a canvas pixel, and
    lost its first row. Rows are rounded to a 256th each; columns are stepped along the row by a
    line interpolator in whole 256ths. Checked on all published example pictures.
    """
    drawn = PUBLISHED + 1
    at = np.arange(1, drawn)
    rows = (2 * (2 * at + 1) * CANVAS * 256 // (2 * drawn) + 1) // 2 // 256
    first = (CANVAS * 256 + drawn) // (2 * drawn)
    step, rest = divmod(CANVAS * 256, drawn)
    at = np.arange(PUBLISHED)
    columns = (first + step * at + (rest * (at + 1) - 1) // drawn) // 256
    return np.minimum(rows, CANVAS - 1), np.minimum(columns, CANVAS - 1)


@lru_cache(maxsize=1)
def _published_starts() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the run of every canvas row and column begins in the published picture."""
    rows, columns = _published_sources()
    edges = np.arange(CANVAS + 1)
    return np.searchsorted(rows, edges), np.searchsorted(columns, edges)


def patches(scene: Scene, size: int) -> Iterator[tuple[int, int, NDArray[np.bool_], int]]:
    """For every object: the first row and column of its patch, the pixels it covers there, and its
    palette index."""
    if size not in (CANVAS, PUBLISHED):
        raise ValueError(
            f"palette pictures have {CANVAS} or {PUBLISHED} pixels per side, not {size}: use `rgb`"
        )
    for obj in scene.objects:
        top, left, covered = _placed(obj)
        if size == PUBLISHED:
            rows, columns = covered.shape
            (down, across), (down_at, across_at) = _published_sources(), _published_starts()
            north = down_at[top]
            south = down_at[top + rows]
            west = across_at[left]
            east = across_at[left + columns]
            covered = covered.take(down[north:south] - top, axis=0).take(
                across[west:east] - left, axis=1
            )
            top = int(north)
            left = int(west)
        yield top, left, covered, index_of(obj)


def paint(scene: Scene, size: int = CANVAS) -> Bytes:
    """The scene as palette indices, at the canvas' own size or at the published one."""
    picture = np.zeros((size, size), dtype=np.uint8)
    for top, left, covered, index in patches(scene, size):
        window = picture[top : top + covered.shape[0], left : left + covered.shape[1]]
        np.copyto(window, np.uint8(index), where=covered)
    return picture


def paint_changes(scene: Scene, size: int, out: Bytes) -> None:
    """What each row adds to the one above it (modulo 256), two pixels per byte, into (size, size /
    2) bytes.

    A PNG of up to 16 colors holds this, the left pixel in the upper half. Objects do not overlap,
    so the changes of each can be added; most rows change nothing, and a straight edge changes two
    rows.
    """
    out[:] = 0
    for obj in scene.objects:
        top, left, covered = _placed(obj)
        straight = obj.shape in ("square", "rectangle")
        if straight:
            edges = np.array([top, top + len(covered)])
        else:
            edges = np.arange(top, top + len(covered) + 1)
        covered = covered[: len(edges) - 1]
        if size == PUBLISHED:
            _, across = _published_sources()
            down_at, across_at = _published_starts()
            west = across_at[left]
            east = across_at[left + covered.shape[1]]
            covered = covered.take(across[west:east] - left, axis=1)
            edges = down_at[edges]
            left = int(west)
            if edges[0] == edges[1]:  # the canvas' first row is lost
                covered = covered[1:]
                edges = edges[1:]
        odd = left % 2
        index = index_of(obj)
        rows, columns = covered.shape
        # an empty row before and after
        pairs = np.zeros((rows + 2, (columns + odd + 1) // 2, 2), dtype=np.uint8)
        pairs.reshape(rows + 2, -1)[1:-1, odd : odd + columns] = covered
        halves = pairs[..., 0] * np.uint8(index << 4) | pairs[..., 1] * np.uint8(index)
        inside = edges < size
        out[edges[inside], left // 2 : left // 2 + halves.shape[1]] += np.subtract(
            halves[1:], halves[:-1]
        )[inside]


def rgb(scene: Scene, size: int, out: Bytes | None = None) -> Bytes:
    """The scene as an RGB picture of any size (rows, columns, 3)."""
    check_size(size)
    if out is None:
        out = np.empty((size, size, 3), dtype=np.uint8)
    if size in (CANVAS, PUBLISHED):
        np.take(palette(_levels(scene)), paint(scene, size), axis=0, out=out)
    else:
        _average(scene, size, out)
    return out


def _average(scene: Scene, size: int, out: Bytes) -> None:
    """Every pixel the mean of the area it covers.

    In parts of which a canvas pixel has `part` a side and a picture pixel `unit`, all edges are
    whole numbers. How much of a mask lies above and left of a point is linear in both directions
    inside a canvas pixel, so that its table of sums, read between its entries, is exact. `unit`
    divides 1024, so the mean is a shift.
    """
    part, unit, edges = _grid(size)
    total = np.zeros((3, size, size), dtype=np.int32)
    colors = palette(_levels(scene)).tolist()
    windows = []
    for obj in scene.objects:
        top, left, covered = _placed(obj)
        rows, columns = covered.shape
        first_row, down = _crossed(edges, top, rows, part, unit)
        first_column, across = _crossed(edges, left, columns, part, unit)
        if obj.shape in ("square", "rectangle"):
            covers = ((down[1:] - down[:-1])[:, None] * (across[1:] - across[:-1])).astype(np.int32)
        else:
            covers = _covered(_sums(obj.shape, obj.radius, obj.turn), down, across, part)
        window = (
            slice(first_row, first_row + len(covers)),
            slice(first_column, first_column + covers.shape[1]),
        )
        windows.append(window)
        for channel, strength in enumerate(colors[index_of(obj)]):
            if strength:
                # a pixel may touch two objects
                total[channel, *window] += covers * np.int32(strength)
    shift = 2 * (unit.bit_length() - 1)
    half = np.int32(1 << (shift - 1) if shift else 0)
    out[:] = 0
    for rows_of, columns_of in windows:
        means = total[:, rows_of, columns_of] + half >> np.int32(shift)
        out[rows_of, columns_of] = means.transpose(1, 2, 0)


@lru_cache(maxsize=4)
def _grid(size: int) -> tuple[int, int, NDArray[np.int64]]:
    """Parts of a canvas pixel, parts of a picture pixel, and every picture pixel's edge in
    parts."""
    shared = gcd(size, CANVAS)
    return size // shared, CANVAS // shared, np.arange(size + 1) * (CANVAS // shared)


def _crossed(
    edges: NDArray[np.int64], start: int, length: int, part: int, unit: int
) -> tuple[int, NDArray[np.int64]]:
    """The first picture pixel that a mask touches; for its edge and the ones after it, the mask's
    parts before it."""
    first = start * part // unit
    last = -(-(start + length) * part // unit)
    inside = edges[first : last + 1] - start * part
    inside[0], inside[-1] = 0, length * part
    return first, inside


def _covered(
    sums: NDArray[np.int64], down: NDArray[np.int64], across: NDArray[np.int64], part: int
) -> NDArray[np.int32]:
    """How many parts of every picture pixel the mask covers."""
    (row, below), (column, beside) = np.divmod(down, part), np.divmod(across, part)
    at = row[:, None] * sums.shape[1] + column
    upper = sums.take(at) * (part - beside) + sums.take(at + 1) * beside
    at += sums.shape[1]
    lower = sums.take(at) * (part - beside) + sums.take(at + 1) * beside
    within = upper * (part - below)[:, None] + lower * below[:, None]
    strips = within[1:] - within[:-1]
    return np.asarray((strips[:, 1:] - strips[:, :-1]).astype(np.int32))


@lru_cache(maxsize=512)
def _sums(shape: str, radius: int, turn: int) -> NDArray[np.int64]:
    """How many of the mask's pixels lie above and left of every grid point; the last row and column
    stand twice."""
    covered = mask(shape, radius, turn)[2]
    return np.pad(
        np.pad(covered.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0))),
        ((0, 1), (0, 1)),
        mode="edge",
    )


def check_size(size: int) -> None:
    """Refuse sizes that no picture can have."""
    if not 8 <= size <= _LARGEST:
        raise UserError(f"A picture has 8 to {_LARGEST} pixels per side, not {size}.")


def _placed(obj: SceneObject) -> tuple[int, int, NDArray[np.bool_]]:
    down, right, covered = mask(obj.shape, obj.radius, obj.turn)
    top = obj.row + down
    left = obj.column + right
    rows, columns = covered.shape
    if top < 0 or left < 0 or top + rows > CANVAS or left + columns > CANVAS:
        raise UserError(
            f"A {obj.color} {obj.shape} at ({obj.row}, {obj.column}) leaves the canvas."
        )
    return top, left, covered


def _levels(scene: Scene) -> int:
    return 1 + LEVELS - min((obj.level for obj in scene.objects), default=LEVELS)
