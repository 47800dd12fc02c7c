"""Odd one out by hand, its numbers as published, and the laws it keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from seesay.language.relations.inventory import GROUPS, shown_relations, variants
from seesay.language.relations.odd_one_out import (
    DISTANCES,
    cosine_distance,
    credit,
    rank_distance,
    triples,
)
from seesay.language.relations.vectors import WordVectors

WORDS = tuple(word for group in GROUPS for word in group)


def test_there_are_528_questions_and_3456_with_phrases() -> None:
    """As published; the phrases are those of the 67 relations."""
    assert triples(WORDS).questions == 528
    assert triples(shown_relations(), variants(shown_relations())).questions == 3456
    assert triples(("left", "right", "in")).questions == 6
    assert triples(("left", "in")).questions == 0


def test_three_words_by_hand() -> None:
    """left (1, 0), right (0.8, 0.6), in (0, 1): cosines 0.8, 0 and 0.6, so distances 0.2, 1 and
    0.4. Sums: left 1.2, right 0.6, in 1.4: in is odd. With right (0, 1) and in (0.8, −0.6) the
    distances are 1, 0.2 and 1.6, the sums 1.2, 2.6 and 1.8: right is odd, and the answer wrong."""
    questions = triples(("left", "right", "in"))
    rows = np.array([[1.0, 0], [0.8, 0.6], [0, 1]])
    assert credit(questions, WordVectors(("left", "right", "in"), rows)).tolist() == [1.0]
    rows[1:] = [[0, 1], [0.8, -0.6]]
    assert credit(questions, WordVectors(("left", "right", "in"), rows)).tolist() == [0.0]
    assert credit(questions, WordVectors(("left", "right", "in"), np.eye(3))).tolist() == [
        pytest.approx(1 / 3)
    ]


def test_opposite_templates_are_near_by_ranks_alone() -> None:
    rows = np.array([[1.0, 2, 3, 4], [4, 3, 2, 1], [1, 3, 2, 4]])
    vectors = WordVectors(("left", "right", "in"), rows)
    questions = triples(vectors.words)
    # rho of the third: 1 − 6·2/60 = 0.8
    assert rank_distance(vectors)[0].tolist() == pytest.approx([0, 0, 0.2])
    assert credit(questions, vectors, rank_distance).tolist() == [1.0]
    assert credit(questions, vectors, cosine_distance).tolist() == [0.0]


@given(st.integers(0, 10**6), st.permutations(range(12)))
def test_order_and_scale_change_nothing(seed: int, order: list[int]) -> None:
    rows = np.random.default_rng(seed).normal(size=(12, 6))
    vectors = WordVectors(WORDS, rows)
    moved = WordVectors(tuple(WORDS[i] for i in order), 3 * rows[order])
    questions = triples(WORDS)
    for distance in DISTANCES.values():
        assert (
            credit(questions, moved, distance).tolist()
            == credit(questions, vectors, distance).tolist()
        )
    rho = np.abs(spearmanr(rows, axis=1).statistic)
    assert 1 - rank_distance(vectors) == pytest.approx(rho)
