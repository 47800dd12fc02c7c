"""Relations that pictures show between pairs of objects, and their counts over a batch of pictures.

A few pictures are kept as examples of each relation: those with the smallest ids, so that they do
not depend on how the pictures are divided into batches.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seesay.data.knowledge import COLORS, PLACES, SIZES
from seesay.metrics.base import BoolArray, IntArray
from seesay.mining.regions import RegionArrays

MAX_EXAMPLES = 3
"""Example pictures kept for each pair and label."""
LABELS = {
    "sizes": len(SIZES),
    "places": len(PLACES),
    "colors": len(COLORS) + 1,
}
"""Number of labels by kind of counts. The last label of colours counts answers, since one may name
two colours."""
_WORDS = pa.dictionary(pa.int32(), pa.string())
COUNTS = pa.schema(
    [
        ("scene", _WORDS),
        ("a", _WORDS),
        ("b", _WORDS),
        ("label", pa.int8()),
        ("count", pa.int32()),
        ("examples", pa.list_(_WORDS)),
    ]
)
"""How often each label was observed for a pair of names, in alphabetical order, in a kind of
scenes. There is a table of each kind of counts."""

SMALLEST_ID = "smallest_id"
"""What the file of a table of counts says of its pictures, among the notes on its columns."""
WORDS_NOTE = "words"
"""What it says of its names and scenes: a list in JSON, since it takes long to read the columns."""
WORDS = ("scene", "a", "b")
"""The columns of words, which make a pair."""


class Observations(NamedTuple):
    """Relations seen in single pictures: arrays with one element per relation."""

    picture: IntArray
    """The index of the picture."""
    a: IntArray
    """The index of the first name."""
    b: IntArray
    """The index of the second name, not less than the first."""
    label: IntArray
    """The label of (a, b)."""


@lru_cache(maxsize=256)
def pairs(n: int) -> tuple[IntArray, IntArray]:
    """Return the indices of all pairs of n objects.

    >>> first, second = pairs(3)
    >>> first.tolist(), second.tolist()
    ([0, 0, 1], [1, 2, 2])
    """
    return np.triu_indices(n, 1)


def observe_pairs(
    pictures: IntArray,
    names: IntArray,
    label: IntArray,
    comparable: BoolArray,
    labels: int,
) -> Observations:
    """Return the comparable pairs of regions with two different names.

    `pictures`: (B,), the index of each picture.
    `names`: (n, B), the name of each region; −1 for none.
    `label`, `comparable`: over the `pairs` of the rows of `names`.
    `labels`: how many labels there are; the last is the opposite of the first, and so on.
    """
    first, second = pairs(len(names))
    a = names[first]
    b = names[second]
    valid = comparable & (a != b) & (a >= 0) & (b >= 0)
    # In alphabetical order a pair has one entry, whichever of the two comes first in a picture.
    label = np.where(a > b, np.int8(labels - 1) - label, label)
    picture = np.broadcast_to(pictures, valid.shape)
    return Observations(
        picture=picture[valid],
        a=np.minimum(a, b)[valid],
        b=np.maximum(a, b)[valid],
        label=label[valid],
    )


def count(
    kind: str,
    observations: Iterable[Observations],
    regions: RegionArrays,
    *,
    by_scene: bool = False,
    once_per_picture: bool = False,
) -> pa.Table:
    """Count the relations of a batch, sorted by the first name.

    `kind`: "sizes", "places" or "colors".
    `by_scene`: whether relations are counted for each scene apart.
    `once_per_picture`: a relation of two names counts once, however many regions have these names.
    """
    columns = list(zip(*observations, strict=True))
    if not columns:
        return COUNTS.empty_table()
    picture, a, b, label = map(np.concatenate, columns)
    order = pc.sort_indices(regions.ids).to_numpy()
    rank = np.argsort(order)
    if by_scene:
        scene = regions.scenes[picture]
        scenes = regions.scene_names
    else:
        scene = np.zeros_like(picture)
        scenes = [""]
    # Sorting integers is the fastest way to group them: a relation in a picture is one integer. The
    # picture's rank comes last, which puts a relation's pictures in the order of their ids.
    shape = (len(regions.vocabulary), len(regions.vocabulary), len(scenes), LABELS[kind])
    bits = len(regions).bit_length()
    packed = np.sort(np.ravel_multi_index((a, b, scene, label), shape) << bits | rank[picture])
    distinct = packed[group_starts(packed)]
    relation = distinct >> bits
    starts = group_starts(relation)
    pictures = np.diff(starts, append=len(distinct))
    counts = pictures
    if not once_per_picture:
        counts = np.diff(group_starts(packed >> bits), append=len(packed))
    is_example = np.ones(len(distinct), dtype=bool)
    is_example[MAX_EXAMPLES:] = relation[MAX_EXAMPLES:] != relation[:-MAX_EXAMPLES]
    example_ranks = distinct[is_example] & (1 << bits) - 1
    ids = _words(example_ranks, regions.ids.take(pa.array(order)))
    example_ends = np.cumsum(np.minimum(pictures, MAX_EXAMPLES))
    offsets = pa.array(np.concatenate([[0], example_ends]).astype(np.int32))
    a, b, scene, label = np.unravel_index(relation[starts], shape)
    names = pa.array(regions.vocabulary, pa.string())
    return pa.Table.from_arrays(
        [
            _words(scene, pa.array(scenes, pa.string())),
            _words(a, names),
            _words(b, names),
            pa.array(label.astype(np.int8)),
            pa.array(counts.astype(np.int32)),
            pa.ListArray.from_arrays(offsets, ids),
        ],
        schema=COUNTS,
    )


def group_starts(keys: IntArray) -> IntArray:
    """Return where the groups of equal keys begin.

    >>> group_starts(np.array([4, 4, 7])).tolist()
    [0, 2]
    """
    is_start = np.ones(len(keys), dtype=bool)
    is_start[1:] = keys[1:] != keys[:-1]
    return np.flatnonzero(is_start)


def _words(indices: IntArray, words: pa.Array) -> pa.DictionaryArray:
    """Return the words at these indices, each stored once."""
    return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32)), words)
