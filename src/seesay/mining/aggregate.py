"""Counts of the relations that pictures show between pairs of objects, independent of the parts and their order.

A relation (scene, first name, second name, label; the names in alphabetical order) is packed into one integer, so
counting is sorting. Each part is counted on its own and keeps a few pictures as examples of each relation: those with
the smallest ids, so that they do not depend on the partitioning either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seesay.files import atomic_write
from seesay.metrics.base import BoolArray, IntArray
from seesay.mining.regions import RegionArrays, encode_words, flat_offsets, single_chunk

COLUMNS = ("scene", "a", "b", "label", "count", "examples")
MAX_EXAMPLES = 3
"""Example pictures kept for each pair and label."""
COMBINE_ROWS = 1 << 20
"""Rows of counts to read before they are combined."""
_MAX_KEY = 1 << 62
_IPC_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Relations seen in single pictures: the picture's index, two name indices (a < b), and the label of (a, b)."""

    picture: IntArray
    a: IntArray
    b: IntArray
    label: IntArray

    @classmethod
    def from_pairs(
        cls, pictures: IntArray, names: IntArray, label: IntArray, comparable: BoolArray, *, flip: Sequence[int]
    ) -> Observations:
        """From names (B, n) and arrays over their `pairs`: the comparable ones with two different names.

        `flip` maps the label of (a, b) to that of (b, a).
        """
        first, second = pairs(names.shape[1])
        a, b = np.take(names, first, axis=1), np.take(names, second, axis=1)
        valid = a != b
        valid &= comparable
        valid &= np.minimum(a, b) >= 0
        rows = np.flatnonzero(valid)
        a, b, label = a.ravel()[rows], b.ravel()[rows], label.ravel()[rows]
        label = np.where(a > b, np.asarray(flip, dtype=np.int8)[label], label)
        return cls(np.repeat(pictures, valid.sum(axis=1)), np.minimum(a, b), np.maximum(a, b), label)


@dataclass(frozen=True, slots=True, eq=False)
class RelationCounts:
    """How often each label was observed for each pair. `keys` are sorted and unique; `starts` bound their examples."""

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
        pair, label = np.divmod(self.keys, self.labels)
        rest, b = np.divmod(pair, name_count)
        scene, a = np.divmod(rest, name_count)
        return scene, a, b, label


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
    scene = regions.scenes if by_scene else np.zeros(len(regions), dtype=np.int64)
    scenes, names = regions.scene_names if by_scene else [""], regions.vocabulary
    _check_limit(scenes, names, labels << bits)
    packed = [
        (_pack_keys(scene[part.picture], part.a, part.b, part.label, len(names), labels) << bits) | rank[part.picture]
        for part in observations
    ]
    ordered = np.sort(np.concatenate(packed)) if packed else np.zeros(0, dtype=np.int64)
    unique = ordered[_group_starts(ordered)]
    counted = (unique if once_per_picture else ordered) >> bits
    groups = np.flatnonzero(_group_starts(counted))
    keys = counted[groups]
    rows, starts = _first_of_groups(np.cumsum(_group_starts(unique >> bits)) - 1, len(keys))
    examples = pa.DictionaryArray.from_arrays(order[unique[rows] & ((1 << bits) - 1)].astype(np.int32), regions.ids)
    return RelationCounts(scenes, names, labels, keys, np.diff(groups, append=len(counted)), starts, examples)


def combine(parts: Sequence[RelationCounts]) -> RelationCounts:
    """The counts of all parts together. Order and grouping of the parts change nothing."""
    labels = parts[0].labels
    parts = [part for part in parts if len(part.keys)] or [parts[0]]
    if len(parts) == 1:
        return parts[0]
    scenes = sorted(set().union(*(part.scenes for part in parts)))
    names = sorted(set().union(*(part.names for part in parts)))
    _check_limit(scenes, names, labels)
    scene_code, name_code = {s: i for i, s in enumerate(scenes)}, {n: i for i, n in enumerate(names)}
    keys = [_recode_keys(part, scene_code, name_code) for part in parts]
    merged = np.concatenate(keys)
    order = np.argsort(merged, kind="stable")
    is_start = _group_starts(merged[order])
    starts_of_groups = np.flatnonzero(is_start)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(is_start) - 1
    sums = np.add.reduceat(np.concatenate([part.counts for part in parts])[order], starts_of_groups)
    owner = np.repeat(group, np.concatenate([np.diff(part.starts) for part in parts]))
    rank, words = encode_words(
        pa.chunked_array([part.examples for part in parts]).unify_dictionaries().combine_chunks()
    )
    bits = max(1, len(words).bit_length())
    packed = np.sort((owner << bits) | rank)
    packed = packed[_group_starts(packed)]
    rows, starts = _first_of_groups(packed >> bits, len(starts_of_groups))
    examples = pa.DictionaryArray.from_arrays((packed[rows] & ((1 << bits) - 1)).astype(np.int32), words)
    return RelationCounts(scenes, names, labels, merged[order][starts_of_groups], sums, starts, examples)


def _recode_keys(part: RelationCounts, scenes: Mapping[str, int], names: Mapping[str, int]) -> IntArray:
    """A part's keys in the indices of another vocabulary; −1 for names that it does not hold."""
    scene, a, b, label = part.fields()
    new_scene = np.array([scenes.get(s, -1) for s in part.scenes], dtype=np.int64)
    new_name = np.array([names.get(n, -1) for n in part.names], dtype=np.int64)
    keys = _pack_keys(new_scene[scene], new_name[a], new_name[b], label, len(names), part.labels)
    if (new_scene >= 0).all() and (new_name >= 0).all():
        return keys
    return np.where((new_scene[scene] >= 0) & (new_name[a] >= 0) & (new_name[b] >= 0), keys, -1)


def gather(paths: Sequence[Path], labels: int, min_count: int = 1) -> RelationCounts:
    """The counts of all files together, of the pairs that were seen `min_count` times or more.

    Most pairs are rare: their examples are never read, so that memory holds only their keys and counts.
    """
    total, waiting = empty_counts(labels), 0
    parts: list[RelationCounts] = []
    for path in paths:
        parts.append(read(path, labels, examples=min_count <= 1))
        waiting += len(parts[-1].keys)
        if waiting > max(len(total.keys), COMBINE_ROWS):
            total, parts, waiting = combine([total, *parts]), [], 0
    total = combine([total, *parts])
    if min_count <= 1:
        return total
    pair = total.keys // labels
    groups = np.flatnonzero(_group_starts(pair))
    is_frequent = np.add.reduceat(total.counts, groups) >= min_count if len(groups) else np.zeros(0, dtype=bool)
    frequent = pair[groups][is_frequent]
    scenes, names = ({word: i for i, word in enumerate(words)} for words in (total.scenes, total.names))

    def read_frequent(path: Path) -> RelationCounts:
        part = read(path, labels)
        own = _recode_keys(part, scenes, names) // labels
        return _select_rows(part, np.flatnonzero(np.isin(own, frequent, assume_unique=False, kind="sort")))

    return combine([empty_counts(labels), *map(read_frequent, paths)])


def split_by_name(counts: RelationCounts, slices: int) -> list[RelationCounts]:
    """The counts split by a hash of their first name: a name falls into the same slice in every part.

    Slices are gathered one after the other, so that memory holds the pairs of one slice at a time.
    """
    slice_of_name = np.array([crc32(name.encode()) % slices for name in counts.names], dtype=np.int64)
    slice_of_pair = slice_of_name[counts.fields()[1]]
    return [_select_rows(counts, np.flatnonzero(slice_of_pair == i)) for i in range(slices)]


def _select_rows(part: RelationCounts, rows: IntArray) -> RelationCounts:
    lengths = part.starts[rows + 1] - part.starts[rows]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    taken = np.repeat(part.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
    examples = part.examples.take(pa.array(taken)).dictionary_decode().dictionary_encode()  # without unused words
    return RelationCounts(part.scenes, part.names, part.labels, part.keys[rows], part.counts[rows], starts, examples)


def empty_counts(labels: int) -> RelationCounts:
    """The counts of no pictures."""
    empty = np.zeros(0, dtype=np.int64)
    return RelationCounts([], [], labels, empty, empty, np.zeros(1, dtype=np.int64), pa.array([], _DICTIONARY))


def to_table(counts: RelationCounts) -> pa.Table:
    """The counts as a table with the columns `COLUMNS`."""
    scene, a, b, label = counts.fields()
    return pa.table(
        {
            "scene": _dictionary_array(scene, counts.scenes),
            "a": _dictionary_array(a, counts.names),
            "b": _dictionary_array(b, counts.names),
            "label": pa.array(label.astype(np.int8)),
            "count": pa.array(counts.counts),
            "examples": pa.ListArray.from_arrays(pa.array(counts.starts.astype(np.int32)), counts.examples),
        }
    )


def from_table(table: pa.Table, labels: int) -> RelationCounts:
    """The counts of such a table; its rows may be in any order."""
    table = table.unify_dictionaries()
    columns = (single_chunk(table.column(name)) for name in ("scene", "a", "b"))
    (scene, scenes), (a, a_names), (b, b_names) = map(encode_words, columns)
    names = sorted({*a_names.to_pylist(), *b_names.to_pylist()})
    index = {name: i for i, name in enumerate(names)}
    first, second = (np.array([index[w] for w in words.to_pylist()], dtype=np.int64) for words in (a_names, b_names))
    label = table.column("label").to_numpy().astype(np.int64)
    keys = _pack_keys(scene, first[a], second[b], label, len(names), labels)
    ordered = bool((keys[1:] > keys[:-1]).all())  # as `to_table` leaves them
    order = np.arange(len(keys)) if ordered else np.argsort(keys, kind="stable")
    starts: IntArray = np.zeros(len(order) + 1, dtype=np.int64)
    examples = pa.array([], _DICTIONARY)
    if "examples" in table.column_names:
        listed = single_chunk(table.column("examples"))
        listed = (listed if ordered else listed.take(pa.array(order))).cast(pa.list_(_DICTIONARY))
        starts, examples = flat_offsets(listed), listed.flatten()
    counts = table.column("count").to_numpy()[order]
    return RelationCounts(scenes.to_pylist(), names, labels, keys[order], counts, starts, examples)


def write(counts: RelationCounts, path: Path) -> None:
    """Write counts atomically; workers may write the same part twice, each time the same."""
    table = to_table(counts)
    with (
        atomic_write(path) as unfinished,
        pa.OSFile(str(unfinished), "wb") as file,
        pa.ipc.new_file(file, table.schema, options=_IPC_OPTIONS) as writer,
    ):
        writer.write_table(table)


def read(path: Path, labels: int, *, examples: bool = True) -> RelationCounts:
    """Read what `write` wrote, with or without the examples."""
    fields = None if examples else [i for i, name in enumerate(COLUMNS) if name != "examples"]
    with pa.memory_map(str(path)) as file:
        table = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields)).read_all()
        table.validate(full=True)
        return from_table(table, labels)


def _pack_keys(scene: IntArray, a: IntArray, b: IntArray, label: IntArray, names: int, labels: int) -> IntArray:
    return ((scene.astype(np.int64) * names + a) * names + b) * labels + label


def _check_limit(scenes: Sequence[str], names: Sequence[str], rest: int) -> None:
    if max(len(scenes), 1) * len(names) ** 2 * rest > _MAX_KEY:
        raise ValueError(f"{len(names)} names in {len(scenes)} kinds of scenes are too many for one batch")


def _group_starts(ordered: IntArray) -> BoolArray:
    """Where a sorted array's value differs from the one before."""
    result = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=result[1:])
    return result


def _first_of_groups(owners: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    """The indices of the first few members of every group, from the members' sorted groups, and each group's start."""
    sizes = np.bincount(owners, minlength=groups)
    lengths = np.minimum(sizes, MAX_EXAMPLES)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return np.repeat(np.cumsum(sizes) - sizes - starts[:-1], lengths) + np.arange(starts[-1]), starts


def _dictionary_array(numbers: IntArray, words: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), pa.array(words, pa.string()))
