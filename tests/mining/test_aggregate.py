"""Counts are the same whatever the parts and their order."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mining.sample_pictures import DepthRegion, pictures, row, size_counts, table

from seesay.mining import sizes
from seesay.mining.aggregate import (
    MAX_EXAMPLES,
    RelationCounts,
    combine,
    count,
    empty_counts,
    from_table,
    gather,
    read,
    split_by_name,
    to_table,
    write,
)
from seesay.mining.choices import SizeRule
from seesay.mining.regions import flatten

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


@settings(deadline=None)
@given(pictures())
def test_a_table_comes_back_whatever_its_order(batch: pa.Table) -> None:
    counts = size_counts(batch, "boxes")
    rows = to_table(counts)
    assert content(from_table(rows.take(pa.array(range(rows.num_rows)[::-1], pa.int64())), 2)) == content(counts)


def test_a_file_comes_back(tmp_path: Path) -> None:
    counts = size_counts(table([row(REGIONS, str(i)) for i in range(7)]), "boxes")
    for each in (counts, empty_counts(2)):
        write(each, tmp_path / "part.arrow")
        assert content(read(tmp_path / "part.arrow", 2)) == content(each)
    assert [path.name for path in tmp_path.iterdir()] == ["part.arrow"]


@given(pictures(), st.integers(1, 5))
def test_pieces_are_the_whole_and_share_no_first_name(batch: pa.Table, slices: int) -> None:
    counts = size_counts(batch, "boxes")
    pieces = split_by_name(counts, slices)
    assert content(combine([empty_counts(2), *pieces])) == content(counts)
    first = [{row["a"] for row in content(piece)} for piece in pieces]
    assert sum(map(len, first)) == len(set().union(*first))


@settings(deadline=None)
@given(st.lists(pictures(), min_size=1, max_size=3), st.integers(1, 5))
def test_gathering_files_keeps_the_frequent_pairs(batches: list[pa.Table], min_count: int) -> None:
    with TemporaryDirectory() as name:
        paths = [Path(name) / f"{i}.arrow" for i in range(len(batches))]
        counts = [size_counts(batch, "boxes") for batch in batches]
        for path, part in zip(paths, counts, strict=True):
            write(part, path)
        seen: Counter[tuple[object, object]] = Counter()
        for row in content(combine(counts)):
            seen[row["a"], row["b"]] += int(str(row["count"]))
        frequent = [row for row in content(combine(counts)) if seen[row["a"], row["b"]] >= min_count]
        assert content(gather(paths, 2, min_count)) == frequent
