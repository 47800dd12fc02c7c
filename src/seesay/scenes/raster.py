"""A scene as pixels, equal to the published raster.

Objects never overlap, so a picture is painted by pasting small masks into an array of palette
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
Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]


@lru_cache(maxsize=512)
def mask(shape: str, radius: int, turn: int) -> tuple[int, int, Mask]:
    """Return the offset of the shape's first row and column from its stored point, and its mask."""
    if shape == "circle":
        line = np.arange(-radius + 1, radius)
        # strict: the published circles lack the four pixels at a distance of exactly r
        inside = line[:, None] ** 2 + line[None, :] ** 2 < radius * radius
        return -radius + 1, -radius + 1, inside
    if shape in ("square", "rectangle"):
        down, right = anchor(shape, radius, turn)
        return -down, -right, np.ones((2 * down, 2 * right), dtype=bool)
    if turn == WIDE:
        row, column = np.ogrid[: 2 * radius - 1, : 4 * radius]
        inside = (column > row) & (column <= 4 * radius - 1 - row)
        # the base has one pixel more than the steps below it would give
        inside[0] = True
        return -2 * radius, -2 * radius, inside
    row, column = np.ogrid[1 : 4 * radius, : 2 * radius]
    inside = column < np.minimum(row, 4 * radius - row)
    return -2 * radius + 1, -2 * radius, inside


@lru_cache(maxsize=16)
def palette(levels: int = 1) -> Bytes:
    """Return RGB by index, for pictures whose objects use the brightest `levels` steps."""
    rows: list[tuple[int, ...]] = [(0, 0, 0)]
    for dim in range(levels):
        strongest = brightness(LEVELS - dim)
        for color in SCENE_COLORS:
            rows.append(tuple(part * strongest // 255 for part in RGB[color]))
    table = np.array(rows, dtype=np.uint8)
    # the cache hands out this very array: nobody may change it
    table.setflags(write=False)
    return table


def index_of(obj: SceneObject) -> int:
    """Return the object's place in the palette."""
    return 1 + SCENE_COLORS.index(obj.color) + len(SCENE_COLORS) * (LEVELS - obj.level)


@lru_cache(maxsize=1)
def _published_sources() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which canvas row and column every row and column of the published picture shows.

    The figure was drawn into 1479 pixels by a renderer that counts in 256ths of a canvas pixel, and
    lost its first row. Rows are rounded to a 256th each; columns are stepped along the row by a
    line interpolator in whole 256ths. Checked on all published example pictures.
    """
    figure = PUBLISHED + 1
    row = np.arange(1, figure)
    # the middle of each row in 256ths, rounded to the nearest
    rows = (2 * (2 * row + 1) * CANVAS * 256 // (2 * figure) + 1) // 2 // 256
    first = (CANVAS * 256 + figure) // (2 * figure)
    step, remainder = divmod(CANVAS * 256, figure)
    column = np.arange(PUBLISHED)
    # the interpolator adds one to a step whenever the remainders make up a whole 256th
    carried = (remainder * (column + 1) - 1) // figure
    columns = (first + step * column + carried) // 256
    return np.minimum(rows, CANVAS - 1), np.minimum(columns, CANVAS - 1)


@lru_cache(maxsize=1)
def _published_starts() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where the run of every canvas row and column begins in the published picture."""
    rows, columns = _published_sources()
    edges = np.arange(CANVAS + 1)
    return np.searchsorted(rows, edges), np.searchsorted(columns, edges)


def patches(scene: Scene, size: int) -> Iterator[tuple[int, int, Mask, int]]:
    """Yield for every object the first row and column of its patch, its mask, and its palette
    index.
    """
    if size not in (CANVAS, PUBLISHED):
        raise ValueError(
            f"palette pictures have {CANVAS} or {PUBLISHED} pixels per side, not {size}: use `rgb`"
        )
    for obj in scene.objects:
        top, left, covered = _locate(obj)
        if size == PUBLISHED:
            top, left, covered = _enlarge(top, left, covered)
        yield top, left, covered, index_of(obj)


def _enlarge(top: int, left: int, covered: Mask) -> tuple[int, int, Mask]:
    """Return the place and the mask of an object in the published picture."""
    rows, columns = covered.shape
    row_sources, column_sources = _published_sources()
    row_starts, column_starts = _published_starts()
    north = row_starts[top]
    south = row_starts[top + rows]
    west = column_starts[left]
    east = column_starts[left + columns]
    covered = covered.take(row_sources[north:south] - top, axis=0)
    covered = covered.take(column_sources[west:east] - left, axis=1)
    return int(north), int(west), covered


def paint(scene: Scene, size: int = CANVAS) -> Bytes:
    """Return the scene as palette indices, at the canvas' own size or at the published one."""
    picture = np.zeros((size, size), dtype=np.uint8)
    for top, left, covered, index in patches(scene, size):
        rows, columns = covered.shape
        window = picture[top : top + rows, left : left + columns]
        np.copyto(window, np.uint8(index), where=covered)
    return picture


def paint_changes(scene: Scene, size: int, out: Bytes) -> None:
    """Write what each row adds to the one above it (modulo 256) into (size, size / 2) bytes.

    Each byte has two pixels. A PNG of up to 16 colors holds this, the left pixel in the upper half.
    Objects do not overlap, so the changes of each can be added; most rows change nothing, and a
    straight edge changes two rows.
    """
    out[:] = 0
    for obj in scene.objects:
        left, edges, covered = _edges(obj, size)
        halves = _pack_pairs(covered, left % 2, index_of(obj))
        changes = np.subtract(halves[1:], halves[:-1])
        # an object at the lower border ends below the last row, where nothing changes any more
        inside = edges < size
        first = left // 2
        out[edges[inside], first : first + halves.shape[1]] += changes[inside]


def _edges(obj: SceneObject, size: int) -> tuple[int, NDArray[np.intp], Mask]:
    """Return an object's first column, the rows at which its mask changes, and the mask from each
    of them on; after the last row nothing follows.
    """
    top, left, covered = _locate(obj)
    bottom = top + len(covered)
    if obj.shape in ("square", "rectangle"):
        edges = np.array([top, bottom])
    else:
        edges = np.arange(top, bottom + 1)
    covered = covered[: len(edges) - 1]
    if size == PUBLISHED:
        _, column_sources = _published_sources()
        row_starts, column_starts = _published_starts()
        west = column_starts[left]
        east = column_starts[left + covered.shape[1]]
        covered = covered.take(column_sources[west:east] - left, axis=1)
        edges = row_starts[edges]
        left = int(west)
        # the canvas' first row is lost in the published picture: it has no place to change
        if edges[0] == edges[1]:
            covered = covered[1:]
            edges = edges[1:]
    return left, edges, covered


def _pack_pairs(covered: Mask, odd: int, index: int) -> Bytes:
    """Return the mask in the object's palette index, two pixels per byte.

    `odd` pixels come before it in its first byte. There is an empty row before and one after, so
    that differences of rows have the object's first and last edge too.
    """
    rows, columns = covered.shape
    pairs = np.zeros((rows + 2, (columns + odd + 1) // 2, 2), dtype=np.uint8)
    pairs.reshape(rows + 2, -1)[1:-1, odd : odd + columns] = covered
    upper = pairs[..., 0] * np.uint8(index << 4)
    lower = pairs[..., 1] * np.uint8(index)
    return upper | lower


def rgb(scene: Scene, size: int, out: Bytes | None = None) -> Bytes:
    """Return the scene as an RGB picture of any size (rows, columns, 3)."""
    check_size(size)
    if out is None:
        out = np.empty((size, size, 3), dtype=np.uint8)
    if size in (CANVAS, PUBLISHED):
        # exact pixels at these two sizes; means at all others
        np.take(palette(_levels(scene)), paint(scene, size), axis=0, out=out)
    else:
        _average(scene, size, out)
    return out


def _average(scene: Scene, size: int, out: Bytes) -> None:
    """Write the picture with every pixel the mean of the area it covers.

    In parts of which a canvas pixel has `part` a side and a picture pixel `unit`, all edges are
    whole numbers. How much of a mask lies above and left of a point is linear in both directions
    inside a canvas pixel, so that its table of sums, read between its entries, is exact. `unit`
    divides 1024, so the mean is a shift.
    """
    _, unit, _ = _grid(size)
    total = np.zeros((3, size, size), dtype=np.int32)
    colors = palette(_levels(scene)).tolist()
    windows = []
    for obj in scene.objects:
        window, covers = _coverage(obj, size)
        windows.append(window)
        for channel, strength in enumerate(colors[index_of(obj)]):
            if strength:
                # added, not written: a pixel may touch two objects
                total[channel, *window] += covers * np.int32(strength)
    shift = 2 * (unit.bit_length() - 1)
    half = np.int32(1 << (shift - 1) if shift else 0)
    out[:] = 0
    for rows, columns in windows:
        means = total[:, rows, columns] + half >> np.int32(shift)
        out[rows, columns] = means.transpose(1, 2, 0)


def _coverage(obj: SceneObject, size: int) -> tuple[tuple[slice, slice], NDArray[np.int32]]:
    """Return the picture pixels that an object touches, and how many parts of each it covers."""
    part, _, _ = _grid(size)
    top, left, covered = _locate(obj)
    rows, columns = covered.shape
    first_row, down = _crossed(size, top, rows)
    first_column, across = _crossed(size, left, columns)
    if obj.shape in ("square", "rectangle"):
        heights = down[1:] - down[:-1]
        widths = across[1:] - across[:-1]
        covers = (heights[:, None] * widths).astype(np.int32)
    else:
        covers = _covered(_sums(obj.shape, obj.radius, obj.turn), down, across, part)
    window = (
        slice(first_row, first_row + covers.shape[0]),
        slice(first_column, first_column + covers.shape[1]),
    )
    return window, covers


@lru_cache(maxsize=4)
def _grid(size: int) -> tuple[int, int, Ints]:
    """Return the parts of a canvas pixel and of a picture pixel, and every picture pixel's edge."""
    shared = gcd(size, CANVAS)
    unit = CANVAS // shared
    return size // shared, unit, np.arange(size + 1) * unit


def _crossed(size: int, start: int, length: int) -> tuple[int, Ints]:
    """Return the first picture pixel that a mask touches, and the mask's parts before each edge.

    The edges are that pixel's and all after it, up to the first behind the mask.
    """
    part, unit, edges = _grid(size)
    first = start * part // unit
    # rounded up: two minus signs turn floor division into ceiling division
    last = -(-(start + length) * part // unit)
    inside = edges[first : last + 1] - start * part
    inside[0] = 0
    inside[-1] = length * part
    return first, inside


def _covered(sums: Ints, down: Ints, across: Ints, part: int) -> NDArray[np.int32]:
    """Return how many parts of every picture pixel the mask covers."""
    row, below = np.divmod(down, part)
    column, beside = np.divmod(across, part)
    # bilinear interpolation in the table of sums: first along the columns, then along the rows
    corner = row[:, None] * sums.shape[1] + column
    upper = sums.take(corner) * (part - beside) + sums.take(corner + 1) * beside
    corner += sums.shape[1]
    lower = sums.take(corner) * (part - beside) + sums.take(corner + 1) * beside
    within = upper * (part - below)[:, None] + lower * below[:, None]
    strips = within[1:] - within[:-1]
    return np.asarray((strips[:, 1:] - strips[:, :-1]).astype(np.int32))


@lru_cache(maxsize=512)
def _sums(shape: str, radius: int, turn: int) -> Ints:
    """Return how many of the mask's pixels lie above and left of every grid point.

    The last row and column are doubled, so that interpolation at the far edge finds a neighbour.
    """
    covered = mask(shape, radius, turn)[2]
    sums = covered.cumsum(axis=0).cumsum(axis=1)
    sums = np.pad(sums, ((1, 0), (1, 0)))
    return np.pad(sums, ((0, 1), (0, 1)), mode="edge")


def check_size(size: int) -> None:
    """Refuse sizes that no picture can have."""
    if not 8 <= size <= _LARGEST:
        raise UserError(f"A picture has 8 to {_LARGEST} pixels per side, not {size}.")


def _locate(obj: SceneObject) -> tuple[int, int, Mask]:
    """Return an object's first row, first column and mask; refuse one that leaves the canvas."""
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
    """Return how many steps of brightness the scene's palette needs."""
    return 1 + LEVELS - min((obj.level for obj in scene.objects), default=LEVELS)
