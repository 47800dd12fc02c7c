"""Counts are the same whatever the parts and their order."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mining.sample_pictures import DepthRegion, pictures, row, size_counts, table, to_table

from seesay.mining import sizes
from seesay.mining.aggregate import MAX_EXAMPLES, RelationCounts, combine, count, empty_counts
from seesay.mining.choices import SizeRule
from seesay.mining.merge import ORDER, merge, sorted_tables, with_examples
from seesay.mining.regions import flatten
from seesay.mining.spill import SpilledCounts, write_batches

REGIONS = [
    DepthRegion(name, (0.0, 0.0, side, side)) for name, side in zip("abcdef", (1, 9, 20, 40, 70, 99), strict=True)
]


def content(counts: RelationCounts) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = to_table(counts).to_pylist()
    return rows


@settings(deadline=None)
@given(pictures(), st.randoms(), st.integers(1, 4))
def test_any_partition_in_any_order_gives_the_same(batch: pa.Table, random: object, parts: int) -> None:
    whole = size_counts(batch, "boxes")
    order = list(range(batch.num_rows))
    random.shuffle(order)  # type: ignore[attr-defined]
    dealt = [batch.take(pa.array(order[i::parts], pa.int64())) for i in range(parts)]
    counts = [size_counts(part, "boxes") for part in dealt if part.num_rows]
    assert content(combine(counts)) == content(whole)
    nested = counts[0]
    for other in counts[1:]:
        nested = combine([other, nested, empty_counts(2)])
    assert content(nested) == content(whole)


def test_examples_are_the_smallest_ids() -> None:
    batch = table([row(REGIONS, name) for name in ("9", "10", "2", "b", "a")])
    counts = size_counts(batch, "boxes")
    first = content(counts)[0]
    assert (first["a"], first["b"], first["label"], first["count"]) == ("a", "c", 1, 5)  # a and b are of one class
    assert first["examples"] == ["10", "2", "9"]  # texts, in alphabetical order
    assert len(counts.examples) == MAX_EXAMPLES * len(counts.keys)


def test_pictures_or_pairs_of_regions() -> None:
    regions = flatten(table([row([*REGIONS, DepthRegion("a", (0.0, 0.0, 1.0, 1.0))], "1")]))
    for pictures_only, expected in ((True, 1), (False, 2)):
        seen = sizes.compare(regions, sizes.RULES[SizeRule.BOXES])
        counts = count(seen, regions, 2, by_scene=False, once_per_picture=pictures_only)
        assert {r["b"]: r["count"] for r in content(counts) if r["a"] == "a"}["f"] == expected


def test_a_part_comes_back_from_disk_slice_by_slice(tmp_path: Path) -> None:
    counts = size_counts(table([row(REGIONS, str(i)) for i in range(7)]), "boxes")
    for each in (counts, empty_counts(2)):
        spilled = SpilledCounts(tmp_path, ["part"], "sizes", 2, 3)
        spilled.write(each, "part")
        pieces = [spilled.read("part", number, examples=True) for number in range(3)]
        assert content(combine(pieces)) == content(each)
        assert [piece.keys.tolist() for piece in pieces] == [
            spilled.read("part", number, examples=False).keys.tolist() for number in range(3)
        ]
    assert {path.name for path in tmp_path.iterdir()} == {"part.sizes.3-slices.arrow", "part.sizes.words.arrow"}


@settings(deadline=None)
@given(st.lists(pictures(), min_size=1, max_size=4), st.integers(1, 5), st.randoms())
def test_merging_slices_of_parts_is_counting_all_at_once(batches: list[pa.Table], slices: int, random: Random) -> None:
    """Parts hold pictures of the same ids, so that examples of a key come from several parts, in any order."""
    with TemporaryDirectory() as name:
        counts = [size_counts(batch, "boxes") for batch in batches]
        stems = [f"part-{i}" for i in range(len(counts))]
        random.shuffle(stems)
        spilled = SpilledCounts(Path(name), stems, "sizes", 2, slices)
        for stem, part in zip(stems, counts, strict=True):
            spilled.write(part, stem)
        words = spilled.words()
        merged = [merge(spilled, number, *words) for number in range(slices)]
        pairs = [{(row["a"], row["b"]) for row in content(each)} for each in merged]
        assert sum(map(len, pairs)) == len(set().union(*pairs))
        complete = [with_examples(each, np.arange(len(each.keys)), spilled, i) for i, each in enumerate(merged)]
        assert content(combine(complete)) == content(combine(counts))


@given(st.lists(st.lists(st.integers(0, 50), min_size=1), min_size=1, max_size=5), st.integers(1, 4))
def test_sorted_runs_are_merged_in_order(runs: list[list[int]], rows: int) -> None:
    with TemporaryDirectory() as name:
        paths = [Path(name) / f"{i}.arrow" for i in range(len(runs))]
        for path, run in zip(paths, runs, strict=True):
            each = pa.table({"value": sorted(run), ORDER: sorted(run)})
            write_batches(path, each.schema, each.to_batches(rows))
        merged = [value for each in sorted_tables(paths) for value in each["value"].to_pylist()]
        assert merged == sorted(value for run in runs for value in run)
