"""Counts of parts on disk, in slices by pair: a slice of all parts can be merged without reading the others.

A part has two Arrow files per kind of counts: the counts, one record batch per slice, and the words that they refer to
(batches of scenes, names and picture ids).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa

from seesay.files import atomic_write
from seesay.metrics.base import IntArray
from seesay.mining.aggregate import RelationCounts, empty_counts
from seesay.mining.regions import flat_offsets

_COUNTS = pa.schema([("key", pa.int64()), ("count", pa.int32()), ("examples", pa.list_(pa.int32()))])
_WORDS = pa.schema([("word", pa.string())])
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True, slots=True)
class SpilledCounts:
    """The counts of one kind, spilled by several parts. Files say in how many slices."""

    folder: Path
    stems: Sequence[str]
    kind: str
    labels: int
    slices: int

    def write(self, counts: RelationCounts, stem: str) -> None:
        """Write the counts of a part atomically; workers may write the same part twice, each time the same."""
        slice_of_pair = _slices_of_pairs(counts, self.slices)
        order = np.argsort(slice_of_pair, kind="stable")
        examples = counts.example_lists().take(pa.array(order))
        columns = [pa.array(counts.keys[order]), pa.array(counts.counts[order].astype(np.int32)), examples]
        whole = pa.record_batch(columns, schema=_COUNTS)
        ends = np.cumsum(np.bincount(slice_of_pair, minlength=self.slices)).tolist()
        batches = [whole.slice(start, end - start) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
        words = (counts.scenes, counts.names, counts.examples.dictionary)
        word_batches = [pa.record_batch([pa.array(column, pa.string())], schema=_WORDS) for column in words]
        write_batches(self._counts_path(stem), _COUNTS, batches)
        write_batches(self._words_path(stem), _WORDS, word_batches)

    def exists(self, stem: str) -> bool:
        """Whether the counts of a part are there."""
        return self._counts_path(stem).is_file() and self._words_path(stem).is_file()

    def words(self) -> tuple[list[str], list[str]]:
        """The scenes and the names of all parts, sorted."""
        words: tuple[set[str], set[str]] = (set(), set())
        for stem in self.stems:
            for own, column in zip(words, self._words(stem, 0, 1), strict=True):
                own.update(column.to_pylist())
        return sorted(words[0]), sorted(words[1])

    def smallest_id(self, stem: str) -> str:
        """No example of a part is smaller than this."""
        (ids,) = self._words(stem, 2)
        return ids[0].as_py() if len(ids) else ""

    def read(self, stem: str, number: int, *, examples: bool) -> RelationCounts:
        """One slice of a part, with or without its examples."""
        fields = None if examples else [0, 1]
        (batch,) = _read_batches(self._counts_path(stem), [number], fields)
        keys, counts = (batch.column(i).to_numpy() for i in (0, 1))
        starts: IntArray = np.zeros(len(keys) + 1, dtype=np.int64)
        scenes, names, *ids = self._words(stem, 0, 1, *([2] if examples else []))
        listed = empty_counts(self.labels).examples
        if examples:
            starts, indices = flat_offsets(batch.column(2)), batch.column(2).flatten()
            listed = pa.DictionaryArray.from_arrays(indices, ids[0])
        return RelationCounts(scenes.to_pylist(), names.to_pylist(), self.labels, keys, counts, starts, listed)

    def _words(self, stem: str, *numbers: int) -> list[pa.Array]:
        return [batch.column(0) for batch in _read_batches(self._words_path(stem), numbers)]

    def _counts_path(self, stem: str) -> Path:
        return self.folder / f"{stem}.{self.kind}.{self.slices}-slices.arrow"

    def _words_path(self, stem: str) -> Path:
        return self.folder / f"{stem}.{self.kind}.words.arrow"


def write_batches(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write an Arrow file atomically, batch by batch."""
    with (
        atomic_write(path) as unfinished,
        pa.OSFile(str(unfinished), "wb") as file,
        pa.ipc.new_file(file, schema, options=_OPTIONS) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


def _read_batches(path: Path, numbers: Sequence[int], fields: list[int] | None = None) -> list[pa.RecordBatch]:
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
        batches = [reader.get_batch(number) for number in numbers]
    for batch in batches:
        batch.validate(full=True)
    return batches


def _slices_of_pairs(counts: RelationCounts, slices: int) -> IntArray:
    """The slice of every key, by a hash of the two names: a pair falls into the same slice in every part."""
    hashes = np.array([crc32(name.encode()) for name in counts.names], dtype=np.int64)
    _, a, b, _ = counts.fields()
    return np.asarray((31 * hashes[a] + hashes[b]) % slices).astype(np.uint16)
