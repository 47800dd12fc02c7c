"""A batch of annotated pictures, flat: one row a region, so that rules run over whole batches in array operations.

Depth is given as columns beside the annotation's (`DEPTHS`), made by whoever knows the depth: a model, files of true
depth, or a generator. Far is large in `distances`; near is large in `nearness`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seesay.metrics.base import BoolArray, FloatArray, IntArray

DEPTHS = pa.schema(
    [
        ("distances", pa.list_(pa.float64())),
        ("nearness", pa.list_(pa.float64())),
        ("nearest", pa.float64()),
        ("farthest", pa.float64()),
    ]
)
"""What a source of depth adds to a picture.

`distances`: each region's mean distance, in metres where the source is metric, else 1 − nearness.
`nearness`: each region's mean inverse depth, scaled over the whole picture: 0 its farthest point, 1 its nearest.
`nearest`, `farthest`: the range of distances in the whole picture.
"""
BLOCK = 1 << 19
"""Pairs of regions held at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """The regions of a batch. y grows downwards; unknown depths are NaN; an unnamed region has name −1."""

    ids: pa.Array
    scenes: IntArray
    scene_names: list[str]
    offsets: IntArray
    names: IntArray
    vocabulary: list[str]
    area: FloatArray
    top: FloatArray
    lowest: FloatArray
    centroid: FloatArray
    corner_mean: FloatArray
    distance: FloatArray
    nearness: FloatArray
    nearest: FloatArray
    farthest: FloatArray

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Pictures with about equally many regions: their numbers (B,), their regions' numbers (B, n), which are there."""

    pictures: IntArray
    regions: IntArray
    there: BoolArray

    def take(self, values: FloatArray) -> FloatArray:
        """A value of every region, NaN in the padding."""
        return np.where(self.there, values[self.regions], np.nan)

    def named(self, names: IntArray) -> IntArray:
        """The name of every region as a number, −1 in the padding."""
        return np.where(self.there, names[self.regions], -1).astype(np.int32)


def flatten(table: pa.Table | pa.RecordBatch) -> Regions:
    """The regions of a batch with the columns of `records.SCHEMA`, and those of `DEPTHS` where it has them."""
    listed = whole(table.column("regions"))
    regions = listed.flatten()
    offsets = flat_offsets(listed)
    boxes = _floats(regions.field("box").flatten()).reshape(-1, 4)
    top, bottom = boxes[:, 1], boxes[:, 1] + boxes[:, 3]
    middle = (top + bottom) / 2
    upper, lowest, centroid, corners = _outlines(whole(regions.field("polygon")), top, bottom, middle)
    names, words = codes(regions.field("name"))
    vocabulary = words.to_pylist()
    if vocabulary and not vocabulary[0]:  # "" comes first
        names, vocabulary = names - 1, vocabulary[1:]
    scenes, scene_names = codes(whole(table.column("scene")))
    known = set(table.schema.names)
    unknown = np.full(len(regions), np.nan)
    return Regions(
        ids=whole(table.column("id")),
        scenes=scenes,
        scene_names=scene_names.to_pylist(),
        offsets=offsets,
        names=names,
        vocabulary=vocabulary,
        area=boxes[:, 2] * boxes[:, 3],
        top=upper,
        lowest=lowest,
        centroid=centroid,
        corner_mean=corners,
        distance=_beside(table, "distances", offsets) if "distances" in known else unknown,
        nearness=_beside(table, "nearness", offsets) if "nearness" in known else unknown,
        nearest=_floats(whole(table.column("nearest"))) if "nearest" in known else np.full(len(table), np.nan),
        farthest=_floats(whole(table.column("farthest"))) if "farthest" in known else np.full(len(table), np.nan),
    )


def blocks(regions: Regions, minimum: int = 2) -> Iterator[Block]:
    """The pictures with `minimum` regions or more, those with similarly many together."""
    counts = np.diff(regions.offsets)
    order = np.argsort(counts, kind="stable")
    order = order[np.searchsorted(counts[order], minimum) :]
    while len(order):
        smallest = int(counts[order[0]])
        width = min(smallest + max(1, smallest // 8), int(counts[order[-1]]))
        some = order[: np.searchsorted(counts[order], width, side="right")]
        some = some[: max(1, BLOCK // width**2)]
        order = order[len(some) :]
        width = int(counts[some[-1]])
        places = np.arange(width)
        there = places < counts[some, None]
        yield Block(some, np.where(there, regions.offsets[some, None] + places, 0), there)


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column


def _floats(array: pa.Array) -> FloatArray:
    return np.asarray(array.cast(pa.float64()).to_numpy(zero_copy_only=False))


def flat_offsets(listed: pa.Array) -> IntArray:
    """Where each list begins in `listed.flatten()`, which leaves out what null lists and slices hide."""
    lengths = pc.fill_null(pc.list_value_length(listed), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _beside(table: pa.Table | pa.RecordBatch, name: str, offsets: IntArray) -> FloatArray:
    """A list column with a value for every region; a picture whose list is missing gets NaNs."""
    column = whole(table.column(name))
    own, values = flat_offsets(column), _floats(column.flatten())
    if np.array_equal(own, offsets):
        return values
    lengths, wanted = np.diff(own), np.diff(offsets)
    wrong = np.flatnonzero((lengths != wanted) & (lengths != 0))
    if len(wrong):
        raise ValueError(f"{name}: picture {table.column('id')[int(wrong[0])]} has not one value a region")
    result = np.full(int(offsets[-1]), np.nan)
    result[np.repeat(lengths == wanted, wanted)] = values
    return result


def codes(words: pa.Array) -> tuple[IntArray, pa.Array]:
    """Words as numbers in alphabetical order, and the words; null is the empty word."""
    coded = words if pa.types.is_dictionary(words.type) else pc.fill_null(words, "").dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[coded.indices.to_numpy(zero_copy_only=False)], coded.dictionary.take(pa.array(order))


def _outlines(
    polygons: pa.Array, top: FloatArray, bottom: FloatArray, middle: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Highest and lowest point, centroid (of the area) and mean of the corners: the polygon's, else the box's."""
    offsets = flat_offsets(polygons)
    has = np.diff(offsets) >= 6
    if not has.any():
        return top, bottom, middle, middle
    flat = _floats(polygons.flatten())
    starts, ends = offsets[:-1][has], offsets[1:][has]
    lengths = (ends - starts) // 2
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    of = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(int(lengths.sum())) - first[of]
    x, y = flat[starts[of] + 2 * place], flat[starts[of] + 2 * place + 1]
    following = np.where(place + 1 == lengths[of], first[of], np.arange(len(of)) + 1)
    x, y = x - x[first][of], y  # cross products about a corner lose less to rounding
    cross = x * y[following] - x[following] * y
    double = np.add.reduceat(cross, first)
    moment = np.add.reduceat(cross * (y + y[following]), first)
    corners = np.add.reduceat(y, first) / lengths
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(np.abs(double) > 1e-9, moment / (3 * double), corners)
    results = [top.copy(), bottom.copy(), middle.copy(), middle.copy()]
    found = [np.minimum.reduceat(y, first), np.maximum.reduceat(y, first), centre, corners]
    for result, values in zip(results, found, strict=True):
        result[has] = values
    return results[0], results[1], results[2], results[3]
