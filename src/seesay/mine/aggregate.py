"""Counts of what pictures say of pairs of things, combined part by part: the same whatever the parts and their order.

A pair and what is said of it is one whole number (scene, first name, second name, label, in alphabetical order of
names), so counting is sorting. Each part's counts are combined before they travel, with the few pictures that are kept
as examples: those with the smallest ids, so that no partitioning changes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seesay.metrics.base import BoolArray, IntArray
from seesay.mine.regions import Regions, codes, flat_offsets, whole

COLUMNS = ("scene", "a", "b", "label", "count", "examples")
EXAMPLES = 3
"""Pictures kept for each pair and label."""
HELD = 1 << 20
"""Rows of counts that are read before they are combined."""
_LIMIT = 1 << 62
_FAST = pa.ipc.IpcWriteOptions(compression="lz4")
_WORD = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What pictures say of pairs: the picture's number, the names' numbers (a < b), the label for (a, b)."""

    picture: IntArray
    a: IntArray
    b: IntArray
    label: IntArray

    @classmethod
    def of(cls, pictures: IntArray, names: IntArray, label: IntArray, told: BoolArray, *, flip: Sequence[int]) -> Seen:
        """From names (B, n) and arrays over their `pairs`: those told, named, of different names.

        `flip`: what a label is from the other one's side.
        """
        first, second = pairs(names.shape[1])
        a, b = np.take(names, first, axis=1), np.take(names, second, axis=1)
        both = a != b
        both &= told
        both &= np.minimum(a, b) >= 0
        kept = np.flatnonzero(both)
        a, b, label = a.ravel()[kept], b.ravel()[kept], label.ravel()[kept]
        label = np.where(a > b, np.asarray(flip, dtype=np.int8)[label], label)
        return cls(np.repeat(pictures, both.sum(axis=1)), np.minimum(a, b), np.maximum(a, b), label)


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How often each label was given to each pair. `keys` are sorted, each once; `starts` bounds a key's examples."""

    scenes: list[str]
    names: list[str]
    labels: int
    keys: IntArray
    counts: IntArray
    starts: IntArray
    examples: pa.Array

    def fields(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Scene, first name, second name and label of every key."""
        many = max(len(self.names), 1)
        pair, label = np.divmod(self.keys, self.labels)
        rest, b = np.divmod(pair, many)
        scene, a = np.divmod(rest, many)
        return scene, a, b, label


@lru_cache(maxsize=256)
def pairs(n: int) -> tuple[IntArray, IntArray]:
    """The numbers of all pairs of n things."""
    first, second = np.triu_indices(n, 1)
    return first, second


def count(seen: Iterable[Seen], regions: Regions, labels: int, *, scenes: bool, pictures: bool) -> Counts:
    """Count a batch. `pictures`: a picture says a thing of two names once, however many regions bear them."""
    bits = max(1, len(regions).bit_length())
    rank = np.empty(len(regions), dtype=np.int64)
    order = pc.sort_indices(regions.ids).to_numpy()
    rank[order] = np.arange(len(order))
    scene = regions.scenes if scenes else np.zeros(len(regions), dtype=np.int64)
    scene_names, names = regions.scene_names if scenes else [""], regions.vocabulary
    _check(scene_names, names, labels << bits)
    packed = [
        (_key(scene[part.picture], part.a, part.b, part.label, len(names), labels) << bits) | rank[part.picture]
        for part in seen
    ]
    every = np.sort(np.concatenate(packed)) if packed else np.zeros(0, dtype=np.int64)
    once = every[_changes(every)]
    told = (once if pictures else every) >> bits
    where = np.flatnonzero(_changes(told))
    keys = told[where]
    shown, starts = _first(np.cumsum(_changes(once >> bits)) - 1, len(keys))
    examples = pa.DictionaryArray.from_arrays(order[once[shown] & ((1 << bits) - 1)].astype(np.int32), regions.ids)
    return Counts(scene_names, names, labels, keys, np.diff(where, append=len(told)), starts, examples)


def combine(parts: Sequence[Counts]) -> Counts:
    """The counts of all parts together. Order and grouping of the parts change nothing."""
    labels = parts[0].labels
    parts = [part for part in parts if len(part.keys)] or [parts[0]]
    if len(parts) == 1:
        return parts[0]
    scenes = sorted(set().union(*(part.scenes for part in parts)))
    names = sorted(set().union(*(part.names for part in parts)))
    _check(scenes, names, labels)
    scene_code, name_code = {s: i for i, s in enumerate(scenes)}, {n: i for i, n in enumerate(names)}
    keys = [_recoded(part, scene_code, name_code) for part in parts]
    together = np.concatenate(keys)
    order = np.argsort(together, kind="stable")
    changes = _changes(together[order])
    where = np.flatnonzero(changes)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(changes) - 1
    summed = np.add.reduceat(np.concatenate([part.counts for part in parts])[order], where)
    owner = np.repeat(group, np.concatenate([np.diff(part.starts) for part in parts]))
    rank, words = codes(pa.chunked_array([part.examples for part in parts]).unify_dictionaries().combine_chunks())
    bits = max(1, len(words).bit_length())
    packed = np.sort((owner << bits) | rank)
    packed = packed[_changes(packed)]
    shown, starts = _first(packed >> bits, len(where))
    examples = pa.DictionaryArray.from_arrays((packed[shown] & ((1 << bits) - 1)).astype(np.int32), words)
    return Counts(scenes, names, labels, together[order][where], summed, starts, examples)


def _recoded(part: Counts, scenes: Mapping[str, int], names: Mapping[str, int]) -> IntArray:
    """A part's keys in the numbers of a larger vocabulary; −1 for names that it does not hold."""
    scene, a, b, label = part.fields()
    new_scene = np.array([scenes.get(s, -1) for s in part.scenes], dtype=np.int64)
    new_name = np.array([names.get(n, -1) for n in part.names], dtype=np.int64)
    keys = _key(new_scene[scene], new_name[a], new_name[b], label, len(names), part.labels)
    if (new_scene >= 0).all() and (new_name >= 0).all():
        return keys
    return np.where((new_scene[scene] >= 0) & (new_name[a] >= 0) & (new_name[b] >= 0), keys, -1)


def gather(paths: Sequence[Path], labels: int, least: int = 1) -> Counts:
    """The counts of all files together, of the pairs that were seen `least` times or more.

    Most pairs are rare: their examples are never read, and memory holds their numbers alone.
    """
    held, waiting = nothing(labels), 0
    parts: list[Counts] = []
    for path in paths:
        parts.append(read(path, labels, examples=least <= 1))
        waiting += len(parts[-1].keys)
        if waiting > max(len(held.keys), HELD):
            held, parts, waiting = combine([held, *parts]), [], 0
    held = combine([held, *parts])
    if least <= 1:
        return held
    pair = held.keys // labels
    where = np.flatnonzero(_changes(pair))
    often = np.add.reduceat(held.counts, where) >= least if len(where) else np.zeros(0, dtype=bool)
    kept = pair[where][often]
    scenes, names = ({word: i for i, word in enumerate(words)} for words in (held.scenes, held.names))
    return combine([nothing(labels), *(_only(read(path, labels), kept, scenes, names) for path in paths)])


def _only(part: Counts, kept: IntArray, scenes: Mapping[str, int], names: Mapping[str, int]) -> Counts:
    """A part's counts of the pairs that are kept."""
    own = _recoded(part, scenes, names) // part.labels
    return _rows(part, np.flatnonzero(np.isin(own, kept, assume_unique=False, kind="sort")))


def sliced(counts: Counts, slices: int) -> list[Counts]:
    """The counts in so many pieces by their first name, the same piece for a name in every part.

    All pairs of a piece are gathered before the next one, so that memory holds a piece of them at a time.
    """
    piece = np.array([crc32(name.encode()) % slices for name in counts.names], dtype=np.int64)
    of_pair = piece[counts.fields()[1]]
    return [_rows(counts, np.flatnonzero(of_pair == i)) for i in range(slices)]


def _rows(part: Counts, rows: IntArray) -> Counts:
    """Some rows of the counts."""
    many = part.starts[rows + 1] - part.starts[rows]
    starts = np.concatenate([[0], np.cumsum(many)])
    shown = np.repeat(part.starts[rows] - starts[:-1], many) + np.arange(starts[-1])
    examples = part.examples.take(pa.array(shown)).dictionary_decode().dictionary_encode()  # without unused words
    return Counts(part.scenes, part.names, part.labels, part.keys[rows], part.counts[rows], starts, examples)


def nothing(labels: int) -> Counts:
    """The counts of no pictures."""
    none = np.zeros(0, dtype=np.int64)
    return Counts([], [], labels, none, none, np.zeros(1, dtype=np.int64), pa.array([], _WORD))


def to_table(counts: Counts) -> pa.Table:
    """As a table that people and other programs can read."""
    scene, a, b, label = counts.fields()
    return pa.table(
        {
            "scene": _words(scene, counts.scenes),
            "a": _words(a, counts.names),
            "b": _words(b, counts.names),
            "label": pa.array(label.astype(np.int8)),
            "count": pa.array(counts.counts),
            "examples": pa.ListArray.from_arrays(pa.array(counts.starts.astype(np.int32)), counts.examples),
        }
    )


def from_table(table: pa.Table, labels: int) -> Counts:
    """From such a table; its rows may come in any order."""
    table = table.unify_dictionaries()
    (scene, scenes), (a, some), (b, others) = (codes(whole(table.column(name))) for name in ("scene", "a", "b"))
    names = sorted({*some.to_pylist(), *others.to_pylist()})
    place = {name: i for i, name in enumerate(names)}
    first, second = (np.array([place[w] for w in words.to_pylist()], dtype=np.int64) for words in (some, others))
    label = table.column("label").to_numpy().astype(np.int64)
    keys = _key(scene, first[a], second[b], label, len(names), labels)
    ordered = bool((keys[1:] > keys[:-1]).all())  # as `to_table` leaves them
    order = np.arange(len(keys)) if ordered else np.argsort(keys, kind="stable")
    starts: IntArray = np.zeros(len(order) + 1, dtype=np.int64)
    examples = pa.array([], _WORD)
    if "examples" in table.column_names:
        listed = whole(table.column("examples"))
        listed = (listed if ordered else listed.take(pa.array(order))).cast(pa.list_(_WORD))
        starts, examples = flat_offsets(listed), listed.flatten()
    counts = table.column("count").to_numpy()[order]
    return Counts(scenes.to_pylist(), names, labels, keys[order], counts, starts, examples)


def write(counts: Counts, path: Path) -> None:
    """Write counts whole or not at all; workers may write the same part twice, each time the same."""
    table = to_table(counts)
    part = path.with_name(f".{path.name}.{uuid4().hex}")
    with pa.OSFile(str(part), "wb") as file, pa.ipc.new_file(file, table.schema, options=_FAST) as writer:
        writer.write_table(table)
    part.replace(path)


def read(path: Path, labels: int, *, examples: bool = True) -> Counts:
    """What `write` wrote, with or without the examples."""
    some = None if examples else [i for i, name in enumerate(COLUMNS) if name != "examples"]
    with pa.memory_map(str(path)) as file:
        table = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=some)).read_all()
        return from_table(table, labels)


def _key(scene: IntArray, a: IntArray, b: IntArray, label: IntArray, names: int, labels: int) -> IntArray:
    return ((scene.astype(np.int64) * names + a) * names + b) * labels + label


def _check(scenes: Sequence[str], names: Sequence[str], rest: int) -> None:
    if max(len(scenes), 1) * len(names) ** 2 * rest > _LIMIT:
        raise ValueError(f"{len(names)} names in {len(scenes)} kinds of scenes are too many for one batch")


def _changes(ordered: IntArray) -> BoolArray:
    """Where a sorted array's value differs from the one before."""
    result = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=result[1:])
    return result


def _first(owners: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    """The places of the first few of each of so many groups in the sorted array, and where each group's begin."""
    sizes = np.bincount(owners, minlength=groups)
    many = np.minimum(sizes, EXAMPLES)
    starts = np.concatenate([[0], np.cumsum(many)])
    return np.repeat(np.cumsum(sizes) - sizes - starts[:-1], many) + np.arange(starts[-1]), starts


def _words(numbers: IntArray, words: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), pa.array(words, pa.string()))
