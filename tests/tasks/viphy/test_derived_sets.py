"""The derived sets obey their definitions, whatever the table; on the published one they have the
published size."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import shared

from seesay.data import viphy
from seesay.data.knowledge import SizeFact, SubtypeFact
from seesay.data.splits import split
from seesay.tasks.viphy.derived_sets import chains, smaller_pairs, transitive, with_subtypes

NAMES = st.sampled_from("abcdefgh")


@st.composite
def tables(draw: st.DrawFn) -> list[SizeFact]:
    pairs = draw(
        st.lists(
            st.tuples(NAMES, NAMES, st.sampled_from("<>")).filter(lambda p: p[0] != p[1]),
            max_size=25,
        )
    )
    once = {frozenset((a, b)): SizeFact(a, b, 0, 0, (label,)) for a, b, label in pairs}
    return list(once.values())


def is_smaller(fact: SizeFact) -> tuple[str, str]:
    return (fact.a, fact.b) if fact.typical == ("<",) else (fact.b, fact.a)


@given(tables(), st.integers(0, 9))
def test_transitive_pairs_follow_from_a_third_thing_and_are_not_known(
    facts: list[SizeFact], seed: int
) -> None:
    known_pairs = {is_smaller(fact) for fact in facts}
    names = {name for pair in known_pairs for name in pair}
    derived = transitive(facts, seed=seed)
    implied = {
        (a, c)
        for a in names
        for c in names
        if any((a, b) in known_pairs and (b, c) in known_pairs for b in names)
    }
    right = {
        (a, c)
        for a, c in implied
        if a != c and {(a, c), (c, a)}.isdisjoint(known_pairs) and (c, a) not in implied
    }
    assert {is_smaller(fact) for fact in derived} == right
    assert len(derived) == len(right)
    labels = Counter(fact.typical for fact in derived)
    assert 0 <= labels["<",] - labels[">",] <= 1
    assert derived == transitive(facts, seed=seed)
    assert len(transitive(facts, size=2, seed=seed)) == min(2, len(derived))


@given(tables())
def test_chains_match_their_definition(facts: list[SizeFact]) -> None:
    known_pairs = {is_smaller(fact) for fact in facts}
    names = sorted({name for pair in known_pairs for name in pair})
    expected = {
        (a, b, c)
        for a in names
        for b in names
        for c in names
        if (a, b) in known_pairs and (b, c) in known_pairs and (a, c) not in known_pairs and a != c
    }
    derived = list(chains(facts))
    assert set(derived) == expected
    assert len(derived) == len(expected)


@given(
    tables(), st.dictionaries(NAMES, st.sets(st.sampled_from(["x", "y", "z"]))), st.integers(0, 9)
)
def test_subtypes_take_the_place_of_their_things(
    facts: list[SizeFact], kinds: dict[str, set[str]], seed: int
) -> None:
    subtypes = [SubtypeFact(name, name, 9) for name in kinds]
    subtypes += [
        SubtypeFact(name, f"{kind} {name}", 1)
        for name, some in kinds.items()
        for kind in sorted(some)
    ]
    derived = with_subtypes(facts, subtypes, seed)
    can = [fact for fact in facts if kinds.get(fact.a) and kinds.get(fact.b)]
    assert [(fact.a.split()[-1], fact.b.split()[-1], fact.typical) for fact in derived] == [
        (fact.a, fact.b, fact.typical) for fact in can
    ]
    assert all(fact.a.split()[0] in kinds[fact.a.split()[-1]] for fact in derived)
    assert derived == with_subtypes(facts, subtypes, seed)


def test_the_published_table_has_the_published_chains() -> None:
    facts, _ = viphy.read(shared("viphy/results/size.csv"), SizeFact)
    known_pairs = smaller_pairs(facts)
    pool = Counter((a, c) for a, _, c in chains(facts))
    assert pool.total() == 548_857  # what the published transitive set was drawn from
    # known, the other way round
    assert sum(times for (a, c), times in pool.items() if (c, a) in known_pairs) == 507
    published, bad = viphy.read(shared("viphy/dataset/size_trans/test.csv"), SizeFact)
    assert (len(published), len(bad)) == (18_286, 1_714)
    assert all((fact.a, fact.b) in pool for fact in published)
    derived = transitive(facts)
    assert len({(fact.a, fact.b) for fact in derived}) == 20_000
    assert all(
        is_smaller(fact) in pool and is_smaller(fact)[::-1] not in known_pairs for fact in derived
    )


def test_the_published_subtype_set_has_the_pairs_that_ours_has() -> None:
    facts, _ = viphy.read(shared("viphy/results/size.csv"), SizeFact)
    subtypes, _ = viphy.read(shared("viphy/data/object_subtypes_o100_s10.json"), SubtypeFact)
    published, bad = viphy.read(shared("viphy/dataset/size_sub/test.csv"), SizeFact)
    assert (len(published), bad) == (23_926, [])
    derived = with_subtypes(split(facts)["test"], subtypes)
    # Row by row the same pair of things, with another draw of subtypes.
    assert [(f.larger, f.smaller, f.typical) for f in derived] == [
        (f.larger, f.smaller, f.typical) for f in published
    ]
    kinds: dict[str, set[str]] = {}
    for subtype in subtypes:
        kinds.setdefault(subtype.object, set()).add(subtype.subtype)
    things = [f for f in split(facts)["test"] if kinds[f.a] - {f.a} and kinds[f.b] - {f.b}]
    for pairs in (derived, published):
        for fact, thing in zip(pairs, things, strict=True):
            assert fact.a in kinds[thing.a] - {thing.a}
            assert fact.b in kinds[thing.b] - {thing.b}
