"""Counts are the same whatever the parts and their order."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mining.sample_pictures import DepthRegion, as_view, pictures, row, size_counts, table

from seesay.data.knowledge import SizeFact
from seesay.mining import sizes
from seesay.mining.choices import SizeRule
from seesay.mining.facts import EXAMPLES, Thresholds, pair_facts
from seesay.mining.observations import COUNTS, MAX_EXAMPLES, count
from seesay.mining.queries import open_tables
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
    return as_view(*counts).execute(query).fetchall()


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
    with TemporaryDirectory() as name:
        paths = [Path(name) / f"{i}.parquet" for i in range(len(counts))]
        for path, part in zip(paths, counts, strict=True):
            pq.write_table(part, path)
        with open_tables("counts", paths, workers=2) as connection:
            facts = [
                fact
                for facts in pair_facts(connection, SizeFact, lowest)
                for fact in facts.to_pylist()
            ]
    at_once = [
        fact for facts in pair_facts(as_view(whole), SizeFact, lowest) for fact in facts.to_pylist()
    ]
    assert facts == at_once
    assert [(fact["a"], fact["b"]) for fact in facts] == sorted(
        (fact["a"], fact["b"]) for fact in facts
    )


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
