"""Trees and clusters by hand, and the laws they keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seesay.errors import UserError
from seesay.relations.clusters import k_means, together, tree
from seesay.relations.vectors import Vectors


def turned(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


WORDS = Vectors(("above", "over", "below", "under", "in"), turned(0, 4, 40, 45, 90))


def test_which_pairs_fall_together_by_hand() -> None:
    """Angles 0°, 4°, 40°, 45° and 90°: above and over join first, below and under second, then the four, then in."""
    made = tree(WORDS)
    first, second, apart = together(WORDS, [("above", "over"), ("below", "under"), ("over", "below")], made)
    assert first.cosine == pytest.approx(np.cos(np.radians(4)))
    assert (first.rank, first.pairs, first.merge, first.merges, first.alone) == (1, 10, 1, 4, True)
    assert first.distance == pytest.approx(1 - np.cos(np.radians(4)))
    assert (second.rank, second.merge, set(second.joined)) == (2, 2, {"below", "under"})
    assert (apart.rank, apart.merge, apart.alone) == (3, 3, False)
    assert set(apart.joined) == {"above", "over", "below", "under"}
    assert apart.distance == pytest.approx(np.mean([1 - np.cos(np.radians(d)) for d in (40, 45, 36, 41)]))
    assert {made.order[0], made.order[-1]} == {"in", "above"} or {made.order[0], made.order[-1]} == {"in", "over"}
    assert sorted(made.order) == sorted(WORDS.words)
    assert together(WORDS, [("above", "far")]) == []


def test_clusters_by_hand() -> None:
    assert k_means(WORDS, 3, restarts=20) == [("above", "over"), ("below", "under"), ("in",)]
    with pytest.raises(UserError, match="5 relations cannot make 6 clusters"):
        k_means(WORDS, 6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(6)))
def test_names_and_order_change_nothing(seed: int, order: list[int]) -> None:
    rows = np.random.default_rng(seed).normal(size=(6, 3))
    names = tuple("abcdef")
    vectors = Vectors(names, rows)
    moved = Vectors(tuple(names[i].upper() for i in order), rows[order])
    assert [tuple(w.upper() for w in group) for group in k_means(vectors, 3, restarts=5)] == k_means(
        moved, 3, restarts=5
    )
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    for mine, other in zip(
        together(vectors, pairs), together(moved, [(a.upper(), b.upper()) for a, b in pairs]), strict=True
    ):
        assert (mine.rank, mine.cosine, mine.distance) == pytest.approx((other.rank, other.cosine, other.distance))
        assert {word.upper() for word in mine.joined} == set(other.joined)
