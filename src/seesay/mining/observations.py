"""Relations that pictures show between pairs of objects, and how often a batch of pictures shows
each.

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
LABELS = {"sizes": len(SIZES), "places": len(PLACES), "colors": len(COLORS) + 1}
"""Number of labels by kind of counts. The last label of colours counts answers, since one may name
two colours."""
_WORDS = pa.dictionary(pa.int32(), pa.string())
COUNTS = pa.schema(
    [
        ("kind", _WORDS),
        ("scene", _WORDS),
        ("a", _WORDS),
        ("b", _WORDS),
        ("label", pa.int8()),
        ("count", pa.int32()),
        ("examples", pa.list_(_WORDS)),
    ]
)
"""How often each label was observed for a pair of names, in alphabetical order, in a kind of
scenes."""


class Observations(NamedTuple):
    """Relations seen in single pictures, each array with one element per relation: the picture's
    index, the indices of two names (a ≤ b), and the label of (a, b)."""

    picture: IntArray
    a: IntArray
    b: IntArray
    label: IntArray


@lru_cache(maxsize=256)
def pairs(n: int) -> tuple[IntArray, IntArray]:
    """The indices of all pairs of n objects."""
    first, second = np.triu_indices(n, 1)
    return first, second


def observe_pairs(
    pictures: IntArray, names: IntArray, label: IntArray, comparable: BoolArray, labels: int
) -> Observations:
    """From names (n, B) and arrays over their `pairs`: the comparable ones with two different
    names.

    The last of the labels is the opposite of the first, and so on.
    """
    first, second = pairs(len(names))
    a = names[first]
    b = names[second]
    is_named = names >= 0
    valid = comparable & (a != b) & is_named[first] & is_named[second]
    label = np.where(a > b, np.int8(labels - 1) - label, label)
    picture = np.broadcast_to(pictures, valid.shape)
    return Observations(
        picture[valid], np.minimum(a, b)[valid], np.maximum(a, b)[valid], label[valid]
    )


def count(
    kind: str,
    observations: Iterable[Observations],
    regions: RegionArrays,
    *,
    by_scene: bool = False,
    once_per_picture: bool = False,
) -> pa.Table:
    """Count a batch, sorted by the first name.

    `once_per_picture`: a relation of two names counts once, however many regions have these names.
    """
    columns = list(zip(*observations, strict=True))
    if not columns:
        return COUNTS.empty_table()
    picture, a, b, label = map(np.concatenate, columns)
    order = pc.sort_indices(regions.ids).to_numpy()
    rank = np.argsort(order)
    scene = regions.scenes[picture] if by_scene else np.zeros_like(picture)
    scenes = regions.scene_names if by_scene else [""]
    # Sorting integers is the fastest way to group them, and puts a relation's pictures in the order
    # of their ids
    shape = (
        len(regions.vocabulary),
        len(regions.vocabulary),
        len(scenes),
        LABELS[kind],
        len(regions),
    )
    packed = np.ravel_multi_index((a, b, scene, label, rank[picture]), shape)
    seen, times = np.unique(packed, return_counts=True)
    relation = seen // len(regions)
    starts = np.flatnonzero(np.diff(relation, prepend=-1))
    pictures = np.diff(starts, append=len(seen))
    counts = pictures if once_per_picture else np.add.reduceat(times, starts)
    is_example = np.arange(len(seen)) - np.repeat(starts, pictures) < MAX_EXAMPLES
    ids = _words(seen[is_example] % len(regions), regions.ids.take(pa.array(order)))
    ends_of_examples = np.cumsum(np.minimum(pictures, MAX_EXAMPLES))
    offsets = pa.array(np.concatenate([[0], ends_of_examples]).astype(np.int32))
    a, b, scene, label, _ = np.unravel_index(seen[starts], shape)
    names = pa.array(regions.vocabulary, pa.string())
    return pa.Table.from_arrays(
        [
            _words(np.zeros_like(starts), pa.array([kind])),
            _words(scene, pa.array(scenes, pa.string())),
            _words(a, names),
            _words(b, names),
            pa.array(label.astype(np.int8)),
            pa.array(counts.astype(np.int32)),
            pa.ListArray.from_arrays(offsets, ids),
        ],
        schema=COUNTS,
    )


def _words(indices: IntArray, words: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32)), words)
