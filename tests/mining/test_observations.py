"""Counts are the same whatever the parts and their order."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mining.sample_pictures import DepthRegion, facts_of, pictures, row, size_counts, table

from seesay.data.knowledge import SizeFact
from seesay.mining import sizes
from seesay.mining.choices import SizeRule
from seesay.mining.facts import EXAMPLES, Thresholds
from seesay.mining.observations import COUNTS, MAX_EXAMPLES, count
from seesay.mining.regions import flatten

REGIONS = [
    DepthRegion(name, (0.0, 0.0, side, side))
    for name, side in zip("abcdef", (1, 9, 20, 40, 70, 99), strict=True)
]


def content(*counts: pa.Table) -> list[tuple[Any, ...]]:
    """The sums of the counts of all tables, with their examples."""
    query = f"""
        SELECT scene, a, b, label, sum(count), {EXAMPLES}
        FROM counts GROUP BY scene, a, b, label ORDER BY ALL
    """
    with duckdb.connect() as connection:
        connection.register("counts", pa.concat_tables(counts).unify_dictionaries())
        return connection.execute(query).fetchall()


@pytest.mark.seconds
@settings(deadline=None)
@given(pictures(), st.randoms(), st.integers(1, 4))
def test_counts_do_not_depend_on_batches_or_order(
    batch: pa.Table, random: Random, parts: int
) -> None:
    """The facts of a folder of tables, too, are those of all pictures at once."""
    whole = size_counts(batch, "boxes")
    order = list(range(batch.num_rows))
    random.shuffle(order)
    dealt = [batch.take(pa.array(order[i::parts], pa.int64())) for i in range(parts)]
    counts = [size_counts(part, "boxes") for part in dealt if part.num_rows]
    assert content(*counts, COUNTS.empty_table()) == content(whole)
    lowest = Thresholds(1, 1, 1)
    facts = facts_of(SizeFact, lowest, *counts, COUNTS.empty_table(), workers=2).to_pylist()
    assert facts == facts_of(SizeFact, lowest, whole).to_pylist()
    assert [(fact["a"], fact["b"]) for fact in facts] == sorted(
        (fact["a"], fact["b"]) for fact in facts
    )


@pytest.mark.parametrize("part_count", [1, 2, 5, 9])
def test_examples_of_all_parts_are_the_smallest_ids(part_count: int) -> None:
    """Whichever part has them, and however rare a pair is in the parts that begin early."""
    ids = [f"{number:02d}" for number in range(40)]
    Random(part_count).shuffle(ids)
    without_a = [replace(REGIONS[0], name="g"), *REGIONS[1:]]
    rows = [row(REGIONS if int(name) % 3 else without_a, name) for name in ids]
    counts = [size_counts(table(rows[i::part_count]), "boxes") for i in range(part_count)]
    facts = facts_of(SizeFact, Thresholds(1, 1, 1), *counts).to_pylist()
    examples = {(fact["a"], fact["b"]): fact["examples"] for fact in facts}
    assert examples["a", "f"] == examples["f", "a"] == ["01", "02", "04"]
    assert examples["b", "f"] == ["00", "01", "02"]


def test_examples_are_the_smallest_ids() -> None:
    batch = table([row(REGIONS, name) for name in ("9", "10", "2", "b", "a")])
    counts = size_counts(batch, "boxes").to_pylist()
    first = counts[0]
    # a and b are of one class
    assert (first["a"], first["b"], first["label"], first["count"]) == ("a", "c", 1, 5)
    assert first["examples"] == ["10", "2", "9"]  # texts, in alphabetical order
    assert {len(row["examples"]) for row in counts} == {MAX_EXAMPLES}


def test_pictures_or_pairs_of_regions() -> None:
    regions = flatten(table([row([*REGIONS, DepthRegion("a", (0.0, 0.0, 1.0, 1.0))], "1")]))
    for pictures_only, expected in ((True, 1), (False, 2)):
        seen = sizes.compare(regions, sizes.RULES[SizeRule.BOXES])
        counts = count("sizes", seen, regions, once_per_picture=pictures_only).to_pylist()
        assert {each["b"]: each["count"] for each in counts if each["a"] == "a"}["f"] == expected
