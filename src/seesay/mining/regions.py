"""A batch of annotated pictures as flat arrays, one element per region, so that rules are array
operations.

Depth comes in further columns (`DEPTHS`), whatever its source: a model, files of true depth, or a
generator. Far is large in `distances`; near is large in `nearness`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

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

`distances`: each region's mean distance, in metres if the source is metric, else 1 − nearness.
`nearness`: each region's mean inverse depth, scaled over the whole picture: 0 its farthest point, 1
its nearest. `nearest`, `farthest`: the range of distances in the whole picture.
"""
BLOCK = 1 << 19
"""Pairs of regions in memory at once."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionArrays:
    """The regions of a batch. y grows downwards; unknown depths are NaN; an unnamed region has name
    −1."""

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
class PictureBlock:
    """Pictures with similarly many regions: indices of pictures (B,) and regions (n, B), padded
    where not `mask`.

    Operations run along memory, over pictures: a picture has too few regions to amortise the call
    of an operation.
    """

    pictures: IntArray
    regions: IntArray
    mask: BoolArray

    def take(self, values: FloatArray) -> FloatArray:
        """A value of every region, NaN in the padding."""
        return np.where(self.mask, values[self.regions], np.nan)

    def take_names(self, names: IntArray) -> IntArray:
        """The name index of every region, −1 in the padding."""
        return np.where(self.mask, names[self.regions], -1).astype(np.int32)


def flatten(table: pa.Table | pa.RecordBatch) -> RegionArrays:
    """The regions of a batch with the columns of `records.SCHEMA`, and those of `DEPTHS` where it
    has them."""
    listed = single_chunk(table.column("regions"))
    regions = listed.flatten()
    offsets = flat_offsets(listed)
    boxes = _floats(regions.field("box").flatten()).reshape(-1, 4)
    top = boxes[:, 1]
    bottom = boxes[:, 1] + boxes[:, 3]
    upper, lowest, centroid, corner_mean = _outlines(
        single_chunk(regions.field("polygon")), top, bottom
    )
    names, vocabulary = _name_indices(regions)
    scenes, scene_names = encode_words(single_chunk(table.column("scene")))

    def depths(name: str) -> FloatArray:
        per_region = pa.types.is_list(DEPTHS.field(name).type)
        if name not in table.schema.names:
            return np.full(len(regions) if per_region else len(table), np.nan)
        if per_region:
            return _per_region(table, name, offsets)
        return _floats(single_chunk(table.column(name)))

    return RegionArrays(
        ids=single_chunk(table.column("id")),
        scenes=scenes,
        scene_names=scene_names.to_pylist(),
        offsets=offsets,
        names=names,
        vocabulary=vocabulary,
        area=boxes[:, 2] * boxes[:, 3],
        top=upper,
        lowest=lowest,
        centroid=centroid,
        corner_mean=corner_mean,
        distance=depths("distances"),
        nearness=depths("nearness"),
        nearest=depths("nearest"),
        farthest=depths("farthest"),
    )


def with_names_of(regions: RegionArrays, table: pa.Table) -> RegionArrays:
    """The same regions, named as in this table."""
    names, vocabulary = _name_indices(single_chunk(table.column("regions")).flatten())
    return replace(regions, names=names, vocabulary=vocabulary)


def _name_indices(regions: pa.StructArray) -> tuple[IntArray, list[str]]:
    """The name of every region as an index into the vocabulary, −1 for none."""
    names, words = encode_words(regions.field("name"))
    vocabulary = words.to_pylist()
    if vocabulary and not vocabulary[0]:  # "" comes first
        names = names - 1
        vocabulary = vocabulary[1:]
    return names, vocabulary


def blocks(regions: RegionArrays, minimum: int = 2) -> Iterator[PictureBlock]:
    """The pictures with `minimum` regions or more, grouped by their number of regions."""
    counts = np.diff(regions.offsets)
    order = np.argsort(counts, kind="stable")
    order = order[np.searchsorted(counts[order], minimum) :]
    while len(order):
        smallest = int(counts[order[0]])
        width = min(smallest + max(1, smallest // 8), int(counts[order[-1]]))
        pictures = order[: np.searchsorted(counts[order], width, side="right")]
        pictures = pictures[: max(1, BLOCK // width**2)]
        order = order[len(pictures) :]
        columns = np.arange(int(counts[pictures[-1]]))
        mask = columns[:, None] < counts[pictures]
        yield PictureBlock(
            pictures, np.where(mask, regions.offsets[pictures] + columns[:, None], 0), mask
        )


def single_chunk(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.ChunkedArray):
        if column.num_chunks != 1:
            return column.combine_chunks()
        return column.chunk(0)
    return column


def _floats(array: pa.Array) -> FloatArray:
    return np.asarray(array.cast(pa.float64()).to_numpy(zero_copy_only=False))


def flat_offsets(listed: pa.Array) -> IntArray:
    """Where each list starts in `listed.flatten()`, which drops what null lists and slices hide."""
    lengths = pc.fill_null(pc.list_value_length(listed), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _per_region(table: pa.Table | pa.RecordBatch, name: str, offsets: IntArray) -> FloatArray:
    """The values of a list column, one per region; a picture whose list is missing gets NaNs."""
    column = single_chunk(table.column(name))
    own = flat_offsets(column)
    values = _floats(column.flatten())
    if np.array_equal(own, offsets):
        return values
    lengths = np.diff(own)
    expected = np.diff(offsets)
    wrong = np.flatnonzero((lengths != expected) & (lengths != 0))
    if len(wrong):
        raise ValueError(
            f"{name}: picture {table.column('id')[int(wrong[0])]} does not have one value per "
            "region"
        )
    result = np.full(int(offsets[-1]), np.nan)
    result[np.repeat(lengths == expected, expected)] = values
    return result


def encode_words(words: pa.Array) -> tuple[IntArray, pa.Array]:
    """Words as indices in alphabetical order, and the words; null is the empty word."""
    if pa.types.is_dictionary(words.type):
        encoded = words
    else:
        encoded = pc.fill_null(words, "").dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[encoded.indices.to_numpy(zero_copy_only=False)], encoded.dictionary.take(
        pa.array(order)
    )


def _outlines(polygons: pa.Array, top: FloatArray, bottom: FloatArray) -> list[FloatArray]:
    """Highest and lowest point, centroid of the area and mean of the corners: of the polygon, else
    of the box."""
    offsets = flat_offsets(polygons)
    has_polygon = np.diff(offsets) >= 6
    results = [top.copy(), bottom.copy(), (top + bottom) / 2, (top + bottom) / 2]
    if not has_polygon.any():
        return results
    flat = _floats(polygons.flatten())
    starts = offsets[:-1][has_polygon]
    ends = offsets[1:][has_polygon]
    lengths = (ends - starts) // 2
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    of = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(int(lengths.sum())) - first[of]
    x = flat[starts[of] + 2 * place]
    y = flat[starts[of] + 2 * place + 1]
    following = np.where(place + 1 == lengths[of], first[of], np.arange(len(of)) + 1)
    # cross products about a corner are rounded less
    x = x - x[first][of]
    y = y
    cross = x * y[following] - x[following] * y
    double = np.add.reduceat(cross, first)
    moment = np.add.reduceat(cross * (y + y[following]), first)
    corners = np.add.reduceat(y, first) / lengths
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(np.abs(double) > 1e-9, moment / (3 * double), corners)
    of_polygons = [np.minimum.reduceat(y, first), np.maximum.reduceat(y, first), centre, corners]
    for result, values in zip(results, of_polygons, strict=True):
        result[has_polygon] = values
    return results
