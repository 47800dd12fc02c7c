"""Merges the spilled counts of all parts, slice by slice, and the sorted facts of all slices, in bounded memory.

Memory holds the distinct pairs of one slice, and there are the more slices the more pictures there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seesay.metrics.base import BoolArray, IntArray
from seesay.mining.aggregate import MAX_EXAMPLES, RelationCounts, add, empty_counts, recode
from seesay.mining.spill import SpilledCounts

MERGE_ROWS = 1 << 19
"""Rows of new pairs to read before they are merged into the others."""
RUN_ROWS = 1 << 15
"""Rows of all sorted runs in memory."""
ORDER = "order"
"""The column by which runs are sorted."""


def merge(spilled: SpilledCounts, number: int, scenes: list[str], names: list[str]) -> RelationCounts:
    """The counts of one slice of all parts, without examples. `scenes` and `names`: those of all parts, sorted."""
    keys: IntArray = np.zeros(0, dtype=np.int64)
    counts: IntArray = np.zeros(0, dtype=np.int64)
    fresh: list[tuple[IntArray, IntArray]] = []
    waiting = 0
    for stem in spilled.stems:
        part = recode(spilled.read(stem, number, examples=False), scenes, names)
        rows, is_known = find(keys, part.keys)
        counts[rows[is_known]] += part.counts[is_known]
        fresh.append((part.keys[~is_known], part.counts[~is_known]))
        waiting += len(fresh[-1][0])
        if waiting > max(len(keys), MERGE_ROWS):
            (keys, counts), fresh, waiting = _sum_by_key([(keys, counts), *fresh]), [], 0
    keys, counts = _sum_by_key([(keys, counts), *fresh])
    starts = np.zeros(len(keys) + 1, dtype=np.int64)
    return replace(empty_counts(spilled.labels), scenes=scenes, names=names, keys=keys, counts=counts, starts=starts)


def _sum_by_key(pieces: Sequence[tuple[IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    keys, counts = (np.concatenate(column) for column in zip(*pieces, strict=True))
    order = np.argsort(keys, kind="stable")  # fast, since the pieces are sorted
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[starts], np.add.reduceat(counts[order], starts) if len(starts) else counts


def with_examples(counts: RelationCounts, rows: IntArray, spilled: SpilledCounts, number: int) -> RelationCounts:
    """Some rows of the merged counts of a slice, with their examples.

    Parts are read in the order of their smallest ids, until none can have a smaller example of any key.
    """
    chosen = counts.select(rows)
    wanted, complete = replace(chosen, counts=np.zeros_like(chosen.counts)), []
    fresh: list[RelationCounts] = []
    for smallest, stem in sorted((spilled.smallest_id(stem), stem) for stem in spilled.stems):
        if sum(len(part.keys) for part in fresh) >= len(wanted.keys):
            wanted, fresh = add([wanted, *fresh]), []
            is_open = _may_have_smaller(wanted, smallest)
            complete.append(wanted.select(np.flatnonzero(~is_open)))
            wanted = wanted.select(np.flatnonzero(is_open))
            if not len(wanted.keys):
                break
        part = recode(spilled.read(stem, number, examples=True), counts.scenes, counts.names)
        fresh.append(part.select(np.flatnonzero(find(wanted.keys, part.keys)[1])))
    return replace(add([*complete, wanted, *fresh]), counts=chosen.counts)


def _may_have_smaller(counts: RelationCounts, smallest: str) -> BoolArray:
    """The keys that lack examples or have a larger one than `smallest`."""
    result = np.diff(counts.starts) < MAX_EXAMPLES
    full = np.flatnonzero(~result)
    last = counts.examples.take(pa.array(counts.starts[full + 1] - 1)).cast(pa.string())
    result[full] = pc.greater(last, smallest).to_numpy(zero_copy_only=False)
    return result


def find(ordered: IntArray, wanted: IntArray) -> tuple[IntArray, BoolArray]:
    """Where each wanted key is in sorted keys, and whether it is there at all."""
    if not len(ordered):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    rows = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return rows, ordered[rows] == wanted


def sorted_tables(runs: Sequence[Path]) -> Iterator[pa.Table]:
    """The rows of all runs, each sorted by `ORDER`, in order, in tables of some thousand rows."""
    with ExitStack() as stack:
        readers = [pa.ipc.open_file(stack.enter_context(pa.OSFile(str(path)))) for path in runs]
        batches = [map(reader.get_batch, range(reader.num_record_batches)) for reader in readers]
        heads = [(head, run) for run in batches if (head := next(run, None)) is not None]
        while heads:
            limit = min(head.column(ORDER)[-1].as_py() for head, _ in heads)
            taken, left = [], []
            for head, run in heads:
                cut = int(np.searchsorted(head.column(ORDER).to_numpy(), limit, side="right"))
                taken.append(head.slice(0, cut))
                rest = head.slice(cut) if cut < head.num_rows else next(run, None)
                if rest is not None:
                    left.append((rest, run))
            heads = left
            table = pa.Table.from_batches(taken)
            yield table.drop_columns([ORDER]).take(pa.array(np.argsort(table[ORDER].to_numpy(), kind="stable")))
