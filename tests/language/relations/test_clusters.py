"""Trees and clusters by hand, and the laws they keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seesay.errors import UserError
from seesay.language.relations.clusters import average_linkage, k_means, pair_proximity
from seesay.language.relations.vectors import WordVectors


def turned(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


WORDS = WordVectors(("above", "over", "below", "under", "in"), turned(0, 4, 40, 45, 90))


def test_pair_proximity_by_hand() -> None:
    """Angles 0°, 4°, 40°, 45° and 90°: above and over join first, below and under second, then the
    four, then in."""
    tree = average_linkage(WORDS)
    first, second, apart = pair_proximity(
        WORDS, [("above", "over"), ("below", "under"), ("over", "below")], tree
    )
    assert first.cosine == pytest.approx(np.cos(np.radians(4)))
    assert (first.rank, first.pairs, first.merge, first.merges, first.joined_directly) == (
        1,
        10,
        1,
        4,
        True,
    )
    assert first.distance == pytest.approx(1 - np.cos(np.radians(4)))
    assert (second.rank, second.merge, set(second.joined)) == (2, 2, {"below", "under"})
    assert (apart.rank, apart.merge, apart.joined_directly) == (3, 3, False)
    assert set(apart.joined) == {"above", "over", "below", "under"}
    assert apart.distance == pytest.approx(
        np.mean([1 - np.cos(np.radians(d)) for d in (40, 45, 36, 41)])
    )
    assert {tree.order[0], tree.order[-1]} == {"in", "above"} or {
        tree.order[0],
        tree.order[-1],
    } == {"in", "over"}
    assert sorted(tree.order) == sorted(WORDS.words)
    assert pair_proximity(WORDS, [("above", "far")]) == []


def test_clusters_by_hand() -> None:
    assert k_means(WORDS, 3, restarts=20) == [("above", "over"), ("below", "under"), ("in",)]
    with pytest.raises(UserError, match="5 relations cannot make 6 clusters"):
        k_means(WORDS, 6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(6)))
def test_names_and_order_change_nothing(seed: int, order: list[int]) -> None:
    rows = np.random.default_rng(seed).normal(size=(6, 3))
    names = tuple("abcdef")
    vectors = WordVectors(names, rows)
    moved = WordVectors(tuple(names[i].upper() for i in order), rows[order])
    assert [
        tuple(w.upper() for w in group) for group in k_means(vectors, 3, restarts=5)
    ] == k_means(moved, 3, restarts=5)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    for mine, other in zip(
        pair_proximity(vectors, pairs),
        pair_proximity(moved, [(a.upper(), b.upper()) for a, b in pairs]),
        strict=True,
    ):
        assert (mine.rank, mine.cosine, mine.distance) == pytest.approx(
            (other.rank, other.cosine, other.distance)
        )
        assert {word.upper() for word in mine.joined} == set(other.joined)
