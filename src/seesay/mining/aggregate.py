"""Counts of the relations that pictures show between pairs of objects, independent of the parts and their order.

A relation (scene, first name, second name, label; the names in alphabetical order) is packed into one integer, so
counting is sorting. Each part is counted on its own and keeps a few pictures as examples of each relation: those with
the smallest ids, so that they do not depend on the partitioning either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seesay.metrics.base import BoolArray, IntArray
from seesay.mining.regions import RegionArrays, encode_words

MAX_EXAMPLES = 3
"""Example pictures kept for each pair and label."""
_MAX_KEY = 1 << 62
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Relations seen in single pictures: the picture's index, two name indices (a < b), and the label of (a, b).

    Arrays of one shape, or `picture` for the last axis of the others; only what is `valid` counts.
    """

    picture: IntArray
    a: IntArray
    b: IntArray
    label: IntArray
    valid: BoolArray

    @classmethod
    def from_pairs(
        cls, pictures: IntArray, names: IntArray, label: IntArray, comparable: BoolArray, labels: int
    ) -> Observations:
        """From names (n, B) and arrays over their `pairs`: the comparable ones with two different names.

        The last of the labels is the opposite of the first, and so on.
        """
        first, second = pairs(len(names))
        a, b, is_named = names[first], names[second], names >= 0
        valid = comparable & (a != b) & is_named[first] & is_named[second]
        label = np.where(a > b, np.int8(labels - 1) - label, label)
        return cls(pictures, np.minimum(a, b), np.maximum(a, b), label, valid)


@dataclass(frozen=True, slots=True, eq=False)
class RelationCounts:
    """How often each label was observed for each pair. `keys` are sorted and unique; `starts` bound their examples.

    The dictionary of the examples is sorted.
    """

    scenes: list[str]
    names: list[str]
    labels: int
    keys: IntArray
    counts: IntArray
    starts: IntArray
    examples: pa.Array

    def fields(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Scene, first name, second name and label of every key."""
        name_count = max(len(self.names), 1)
        pair = self.keys // self.labels  # with a product this is faster than divmod
        rest = pair // name_count
        scene = rest // name_count
        return scene, rest - scene * name_count, pair - rest * name_count, self.keys - pair * self.labels

    def select(self, rows: IntArray) -> RelationCounts:
        """The counts of some rows."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        taken = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        examples = _dictionary(self.examples.indices.to_numpy()[taken], self.examples.dictionary)
        return replace(self, keys=self.keys[rows], counts=self.counts[rows], starts=starts, examples=examples)

    def example_lists(self) -> pa.ListArray:
        """The examples of every key, as indices into their dictionary."""
        return pa.ListArray.from_arrays(pa.array(self.starts.astype(np.int32)), self.examples.indices)


@lru_cache(maxsize=256)
def pairs(n: int) -> tuple[IntArray, IntArray]:
    """The indices of all pairs of n objects."""
    first, second = np.triu_indices(n, 1)
    return first, second


def count(
    observations: Iterable[Observations], regions: RegionArrays, labels: int, *, by_scene: bool, once_per_picture: bool
) -> RelationCounts:
    """Count a batch. `once_per_picture`: a relation of two names counts once, however many regions have these names."""
    bits = max(1, len(regions).bit_length())
    rank = np.empty(len(regions), dtype=np.int64)
    order = pc.sort_indices(regions.ids).to_numpy()
    rank[order] = np.arange(len(order))
    scenes, names = regions.scene_names if by_scene else [""], regions.vocabulary
    _check_limit(scenes, names, labels << bits)
    of_picture = rank + ((regions.scenes * (len(names) ** 2 * labels)) << bits) if by_scene else rank
    packed = [
        ((_pack_keys(0, part.a, part.b, part.label, len(names), labels) << bits) + of_picture[part.picture])[part.valid]
        for part in observations
    ]
    ordered = np.sort(np.concatenate(packed)) if packed else np.zeros(0, dtype=np.int64)
    unique = ordered[_group_starts(ordered)]
    keys = unique >> bits
    starts, sizes = _groups(keys)
    counts = sizes if once_per_picture else _groups(ordered >> bits)[1]
    ranks = (unique[_is_among_first(keys)] & ((1 << bits) - 1)).astype(np.int32)
    examples = pa.DictionaryArray.from_arrays(pa.array(ranks), regions.ids.take(pa.array(order)))
    return RelationCounts(scenes, names, labels, keys[starts], counts, _example_starts(sizes), examples)


def combine(parts: Sequence[RelationCounts]) -> RelationCounts:
    """The counts of all parts together. Order and grouping of the parts change nothing."""
    parts = [part for part in parts if len(part.keys)] or [parts[0]]
    if len(parts) == 1:
        return parts[0]
    scenes = sorted(set().union(*(part.scenes for part in parts)))
    names = sorted(set().union(*(part.names for part in parts)))
    return add([recode(part, scenes, names) for part in parts])


def add(parts: Sequence[RelationCounts]) -> RelationCounts:
    """The counts of parts with the same scenes and names together."""
    merged = np.concatenate([part.keys for part in parts])
    order = np.argsort(merged, kind="stable")
    is_start = _group_starts(merged[order])
    starts_of_groups = np.flatnonzero(is_start)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(is_start) - 1
    counts = np.concatenate([part.counts for part in parts])[order]
    sums = np.add.reduceat(counts, starts_of_groups) if len(order) else counts
    owner = np.repeat(group, np.concatenate([np.diff(part.starts) for part in parts]))
    rank, words = encode_words(
        pa.chunked_array([part.examples for part in parts]).unify_dictionaries().combine_chunks()
    )
    bits = max(1, len(words).bit_length())
    packed = np.sort((owner << bits) | rank)
    packed = packed[_group_starts(packed)]
    owner = packed >> bits
    starts = _example_starts(np.bincount(owner, minlength=len(starts_of_groups)))
    examples = _dictionary(packed[_is_among_first(owner)] & ((1 << bits) - 1), words)
    return replace(parts[0], keys=merged[order][starts_of_groups], counts=sums, starts=starts, examples=examples)


def recode(part: RelationCounts, scenes: list[str], names: list[str]) -> RelationCounts:
    """The same counts in the indices of sorted scenes and names that hold the part's own; keys stay sorted."""
    if part.scenes == scenes and part.names == names:
        return part
    _check_limit(scenes, names, part.labels)
    own_scenes, own_names = (
        pc.index_in(pa.array(own, pa.string()), pa.array(words, pa.string())).to_numpy(zero_copy_only=False)
        for own, words in ((part.scenes, scenes), (part.names, names))
    )
    scene, a, b, label = part.fields()
    keys = _pack_keys(own_scenes[scene], own_names[a], own_names[b], label, len(names), part.labels)
    return replace(part, scenes=scenes, names=names, keys=keys)


def empty_counts(labels: int) -> RelationCounts:
    """The counts of no pictures."""
    empty = np.zeros(0, dtype=np.int64)
    return RelationCounts([], [], labels, empty, empty, np.zeros(1, dtype=np.int64), pa.array([], _DICTIONARY))


def _pack_keys(scene: IntArray | int, a: IntArray, b: IntArray, label: IntArray, names: int, labels: int) -> IntArray:
    pair = a * (np.int32 if names * names * labels < 1 << 31 else np.int64)(names) + b
    key = pair * pair.dtype.type(labels) + label
    return key + np.asarray(scene, dtype=np.int64) * (names * names * labels)


def _check_limit(scenes: Sequence[str], names: Sequence[str], rest: int) -> None:
    if max(len(scenes), 1) * len(names) ** 2 * rest > _MAX_KEY:
        raise ValueError(f"{len(names)} names in {len(scenes)} kinds of scenes are too many for one batch")


def _group_starts(ordered: IntArray) -> BoolArray:
    """Where a sorted array's value differs from the one before."""
    result = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=result[1:])
    return result


def _groups(ordered: IntArray) -> tuple[IntArray, IntArray]:
    """Where the groups of equal values in a sorted array start, and their sizes."""
    starts = np.flatnonzero(_group_starts(ordered))
    return starts, np.diff(starts, append=len(ordered))


def _is_among_first(ordered: IntArray) -> BoolArray:
    """Which values are among the first few of their group, in a sorted array: fewer equal ones come before."""
    result = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[MAX_EXAMPLES:], ordered[:-MAX_EXAMPLES], out=result[MAX_EXAMPLES:])
    return result


def _example_starts(sizes: IntArray) -> IntArray:
    """Where the examples of groups of these sizes start."""
    return np.concatenate([[0], np.cumsum(np.minimum(sizes, MAX_EXAMPLES))])


def _dictionary(indices: IntArray, words: pa.Array) -> pa.DictionaryArray:
    """Words by their indices, without those that are not used."""
    used = np.zeros(len(words), dtype=bool)
    used[indices] = True
    compact = (np.cumsum(used, dtype=np.int32) - 1)[indices].astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(compact), words.filter(pa.array(used)))
