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
    """The regions of a batch, picture by picture. y grows downwards; unknown depths are NaN."""

    ids: pa.Array
    """The ids of the pictures."""
    scenes: IntArray
    """The scene of each picture, as an index into `scene_names`."""
    scene_names: list[str]
    offsets: IntArray
    """Where each picture's regions begin; the last element is where those of the last one end."""
    names: IntArray
    """The name of each region, as an index into `vocabulary`; −1 for none."""
    vocabulary: list[str]
    area: FloatArray
    """The area of the box."""
    top: FloatArray
    """The y of the highest point."""
    lowest: FloatArray
    """The y of the lowest point."""
    centroid: FloatArray
    """The y of the centre of area."""
    corner_mean: FloatArray
    """The mean y of the corners."""
    distance: FloatArray
    """The mean distance of each region: metres, or 1 − nearness."""
    nearness: FloatArray
    """The mean inverse depth of each region, from 0 to 1."""
    nearest: FloatArray
    """The distance of each picture's nearest point."""
    farthest: FloatArray
    """The distance of each picture's farthest point."""

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class PictureBlock:
    """Pictures with similarly many regions, as columns of arrays that are padded below.

    Operations run along memory, over pictures: a picture has too few regions to amortise the call
    of an operation.
    """

    pictures: IntArray
    """(B,): the index of each picture."""
    regions: IntArray
    """(n, B): the indices of its regions."""
    mask: BoolArray
    """(n, B): false in the padding."""

    def take(self, values: FloatArray) -> FloatArray:
        """Return a value of every region, NaN in the padding."""
        return np.where(self.mask, values[self.regions], np.nan)

    def take_names(self, names: IntArray) -> IntArray:
        """Return the name index of every region, −1 in the padding."""
        return np.where(self.mask, names[self.regions], -1).astype(np.int32)


def flatten(table: pa.Table | pa.RecordBatch) -> RegionArrays:
    """Return the regions of a batch with the columns of `records.SCHEMA`.

    Depths are those of the columns of `DEPTHS`, where it has them.
    """
    region_lists = single_chunk(table.column("regions"))
    regions = region_lists.flatten()
    offsets = flat_offsets(region_lists)
    boxes = _floats(regions.field("box").flatten()).reshape(-1, 4)
    _, box_top, box_width, box_height = boxes.T
    polygons = single_chunk(regions.field("polygon"))
    top, lowest, centroid, corner_mean = _heights(polygons, box_top, box_top + box_height)
    names, vocabulary = _name_indices(regions)
    scenes, scene_names = encode_words(single_chunk(table.column("scene")))

    def depths(name: str) -> FloatArray:
        is_per_region = pa.types.is_list(DEPTHS.field(name).type)
        if name not in table.schema.names:
            return np.full(len(regions) if is_per_region else len(table), np.nan)
        column = single_chunk(table.column(name))
        return _floats(column.flatten() if is_per_region else column)

    return RegionArrays(
        ids=single_chunk(table.column("id")),
        scenes=scenes,
        scene_names=scene_names.to_pylist(),
        offsets=offsets,
        names=names,
        vocabulary=vocabulary,
        area=box_width * box_height,
        top=top,
        lowest=lowest,
        centroid=centroid,
        corner_mean=corner_mean,
        distance=depths("distances"),
        nearness=depths("nearness"),
        nearest=depths("nearest"),
        farthest=depths("farthest"),
    )


def with_names_of(regions: RegionArrays, table: pa.Table) -> RegionArrays:
    """Return these regions with the names that a table gives them."""
    names, vocabulary = _name_indices(single_chunk(table.column("regions")).flatten())
    return replace(regions, names=names, vocabulary=vocabulary)


def _name_indices(regions: pa.StructArray) -> tuple[IntArray, list[str]]:
    """Return the name of every region as an index into the vocabulary, −1 for none."""
    names, words = encode_words(regions.field("name"))
    vocabulary = words.to_pylist()
    # The empty name comes first in the alphabet: without it all others move down by one.
    if vocabulary and not vocabulary[0]:
        return names - 1, vocabulary[1:]
    return names, vocabulary


def blocks(regions: RegionArrays, minimum: int = 2) -> Iterator[PictureBlock]:
    """Yield the pictures with `minimum` regions or more, grouped by their number of regions.

    A block holds as many pictures as its pairs of regions fit into `BLOCK`, at least one.
    """
    counts = np.diff(regions.offsets)
    order = np.argsort(counts, kind="stable")
    order = order[np.searchsorted(counts[order], minimum) :]
    while len(order):
        smallest = int(counts[order[0]])
        largest = int(counts[order[-1]])
        # Few pictures have exactly the same number of regions; padding by an eighth makes blocks
        # of many pictures, and wastes little.
        width = min(smallest + max(1, smallest // 8), largest)
        end = np.searchsorted(counts[order], width, side="right")
        pictures = order[: min(end, max(1, BLOCK // width**2))]
        order = order[len(pictures) :]
        rows = np.arange(int(counts[pictures[-1]]))[:, None]
        mask = rows < counts[pictures]
        yield PictureBlock(
            pictures=pictures,
            regions=np.where(mask, regions.offsets[pictures] + rows, 0),
            mask=mask,
        )


def single_chunk(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks()


def _floats(array: pa.Array) -> FloatArray:
    return np.asarray(array.cast(pa.float64()).to_numpy(zero_copy_only=False))


def flat_offsets(lists: pa.Array) -> IntArray:
    """Return where each list starts in `lists.flatten()`, and where the last one ends.

    `lists.offsets` will not do: `flatten` drops what slices hide.

    >>> flat_offsets(pa.array([[9], [1, 2], [], [3]]).slice(1)).tolist()
    [0, 2, 2, 3]
    """
    lengths = pc.list_value_length(lists).to_numpy()
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def encode_words(words: pa.Array) -> tuple[IntArray, pa.Array]:
    """Return words as indices in alphabetical order, and the words.

    Alphabetical, so that comparing two indices compares the names.

    >>> indices, words = encode_words(pa.array(["cup", "bed", "cup"]))
    >>> indices.tolist(), words.to_pylist()
    ([1, 0, 1], ['bed', 'cup'])
    """
    encoded = words.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    rank = np.argsort(order)
    return rank[encoded.indices.to_numpy()], encoded.dictionary.take(order)


def _heights(
    polygons: pa.Array,
    top: FloatArray,
    bottom: FloatArray,
) -> FloatArray:
    """Return highest and lowest point, centre of area and mean of the corners of every region.

    They are those of the polygon, else of the box. All are y coordinates, which grow downwards, and
    all polygons are processed at once.

    `polygons`: lists of x, y, x, y, … of three points or more, or of none.
    `top`, `bottom`: the edges of the boxes.
    """
    middle = (top + bottom) / 2
    results = np.stack([top, bottom, middle, middle])
    starts = flat_offsets(polygons) // 2
    has_polygon = np.diff(starts) > 0
    if not has_polygon.any():
        return results
    # All corners lie one after another: `first` is where each polygon begins, `following` the next
    # corner of the same polygon.
    x, y = _floats(polygons.flatten()).reshape(-1, 2).T
    first = starts[:-1][has_polygon]
    lengths = np.diff(starts)[has_polygon]
    following = np.arange(1, len(x) + 1)
    following[first + lengths - 1] = first
    # The shoelace formula: twice the area is Σ (x y' − x' y), and the centre's height is
    # Σ (x y' − x' y)(y + y') / 6 areas. About a corner the products are rounded less.
    x = x - np.repeat(x[first], lengths)
    cross = x * y[following] - x[following] * y
    double_area = np.add.reduceat(cross, first)
    moment = np.add.reduceat(cross * (y + y[following]), first)
    corner_mean = np.add.reduceat(y, first) / lengths
    # A polygon without area, a line, has no other centre than that of its corners.
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(np.abs(double_area) > 1e-9, moment / (3 * double_area), corner_mean)
    results[:, has_polygon] = [
        np.minimum.reduceat(y, first),
        np.maximum.reduceat(y, first),
        centre,
        corner_mean,
    ]
    return results
