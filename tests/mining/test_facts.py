"""From counts to facts: ViPhy's published thresholds."""

from __future__ import annotations

import errno
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mining.sample_pictures import counted, facts_of

from seesay.data import knowledge
from seesay.data.knowledge import PlaceFact, SizeFact
from seesay.mining.facts import PUBLISHED, Thresholds, transitive_sizes, without_subtypes
from seesay.mining.queries import open_database


def test_sizes_need_a_hundred_pictures_and_a_majority_of_seven_in_ten() -> None:
    counts = counted(
        ("", "bus", "cup", 0, 70),
        ("", "bus", "cup", 1, 30),
        ("", "bus", "dog", 0, 69),
        ("", "bus", "dog", 1, 31),
        ("", "cup", "dog", 1, 99),
        ("", "cup", "elk", 1, 100),
    )
    assert knowledge.from_table(facts_of(SizeFact, PUBLISHED, counts), SizeFact) == [
        SizeFact("bus", "cup", 70, 30, (">",), ("0.jpg",)),
        SizeFact("cup", "bus", 30, 70, ("<",), ("0.jpg",)),
        SizeFact("cup", "elk", 0, 100, ("<",), ("1.jpg",)),
        SizeFact("elk", "cup", 100, 0, (">",), ("1.jpg",)),
    ]
    assert set(
        without_subtypes(facts_of(SizeFact, PUBLISHED, counts), {"elk"})["a"].to_pylist()
    ) == {
        "bus",
        "cup",
    }
    more = knowledge.from_table(facts_of(SizeFact, Thresholds(size=99), counts), SizeFact)
    assert ("cup", "dog") in {(fact.a, fact.b) for fact in more}


def test_places_need_ten_of_a_relation_and_a_hundred_in_all() -> None:
    counts = counted(
        ("kitchen", "lamp", "sink", 0, 95),
        ("kitchen", "lamp", "sink", 1, 9),
        ("kitchen", "lamp", "sink", 2, 12),
        ("office", "lamp", "sink", 0, 95),
        ("office", "lamp", "sink", 2, 9),
        ("office", "door", "lamp", 1, 60),
        ("office", "door", "lamp", 2, 40),
        ("office", "door", "sink", 0, 40),
        ("office", "door", "sink", 1, 30),
        ("office", "door", "sink", 2, 30),
    )
    # kitchen: 95 + 12 (the 9 count as none), 0.89 and 0.11; office's lamp and sink: 95 in all;
    # its door and sink: 0.4, 0.3, 0.3, each typical (0.2 or more), so they are dropped
    assert knowledge.from_table(facts_of(PlaceFact, PUBLISHED, counts), PlaceFact) == [
        PlaceFact("kitchen", "lamp", "sink", 95, 0, 12, (">",), ("0.jpg",)),
        PlaceFact("kitchen", "sink", "lamp", 12, 0, 95, ("<",), ("0.jpg",)),
        PlaceFact("office", "door", "lamp", 0, 60, 40, ("=", "<"), ("1.jpg",)),
        PlaceFact("office", "lamp", "door", 40, 60, 0, (">", "="), ("1.jpg",)),
    ]


def test_transitive_sizes() -> None:
    def smaller(a: str, b: str) -> list[SizeFact]:
        return [SizeFact(a, b, 0, 100, ("<",)), SizeFact(b, a, 100, 0, (">",))]

    chain = smaller("ant", "cat") + smaller("cat", "dog") + smaller("dog", "elk")
    assert {(fact.a, fact.b) for fact in transitive_sizes(chain)} == {
        ("ant", "dog"),
        ("ant", "elk"),
        ("cat", "elk"),
    }
    assert {fact.typical for fact in transitive_sizes(chain)} == {("<",)}
    # ant < cat < dog < ant: what is in the circle follows both ways
    direct = chain + smaller("dog", "ant")
    assert {(fact.a, fact.b) for fact in transitive_sizes(direct)} == {
        ("ant", "elk"),
        ("cat", "elk"),
    }
    assert transitive_sizes([]) == []


@given(
    st.sets(
        st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] != pair[1])
    )
)
def test_transitive_closure_equals_walking_the_chains(
    direct: set[tuple[int, int]],
) -> None:
    direct -= {(b, a) for a, b in direct if a < b}  # one answer per pair
    names = "abcdefghijkl"
    reached, longer = set[tuple[int, int]](), direct
    while longer != reached:
        reached = longer
        longer = reached | {(a, c) for a, b in reached for other, c in direct if other == b}
    fresh = {(a, b) for a, b in reached if (b, a) not in reached and (a, b) not in direct}
    inferred = transitive_sizes([SizeFact(names[a], names[b], 0, 9, ("<",)) for a, b in direct])
    assert [(fact.a, fact.b) for fact in inferred] == sorted((names[a], names[b]) for a, b in fresh)


@pytest.mark.parametrize(
    ("error", "number"),
    [
        ("IOException", errno.ENOSPC),
        ("OutOfMemoryException", errno.ENOMEM),
    ],
)
def test_full_disk_is_not_reported_as_damage(error: str, number: int, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="temporary") as raised, open_database(tmp_path):
        raise getattr(duckdb, error)(
            "No space left on device" if number == errno.ENOSPC else "too much"
        )
    assert raised.value.errno == number
