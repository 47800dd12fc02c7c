"""Analogies by hand, their numbers as published, and the laws they keep."""

from __future__ import annotations

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import shared

from seesay.language.relations.analogy import analogies, score
from seesay.language.relations.inventory import ANTONYMS, variants
from seesay.language.relations.vectors import WordVectors

WORDS = tuple(word for pair in ANTONYMS for word in pair)
PAIRS = (("left", "right"), ("up", "down"))


def test_there_are_120_questions() -> None:
    """Facts: every ordered pair with every ordered pair that shares no word."""
    questions = analogies()
    assert len(questions) == 120
    assert questions.candidates == WORDS
    listed = {
        tuple(WORDS[i] for i in (*row, right))
        for row, right in zip(questions.questions, questions.answers, strict=True)
    }
    by_hand = {
        (a, b, c, d)
        for pair, other in permutations(ANTONYMS, 2)
        for a, b in (pair, pair[::-1])
        for c, d in (other, other[::-1])
    }
    assert listed == by_hand


def test_a_parallelogram_by_hand() -> None:
    """left (0, 0), right (1, 0), up (0, 1), down (1, 1): right − left + up = (1, 1) is down's
    vector, and the only word left to choose. With a fourth pair far off in the same direction, the
    dot product prefers that."""
    square = WordVectors(
        ("left", "right", "up", "down"), np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    )
    scores = score(analogies(pairs=PAIRS), square)
    assert scores.credit.tolist() == [1.0] * 8
    assert scores.chance == 1.0
    three = (*PAIRS, ("in", "out"))
    wide = WordVectors((*square.words, "in", "out"), np.vstack([square.rows, [[-9.0, -9], [5, 5]]]))
    questions = analogies(pairs=three)
    scores = score(questions, wide)
    first = questions.questions.tolist().index(
        [0, 1, 2]
    )  # left : right = up : ?; (1, 1)·out = 10 beats (1, 1)·down = 2
    assert scores.credit[first] == 0.0
    assert scores.chance == pytest.approx(1 / 3)


def test_equal_vectors_get_chance() -> None:
    scores = score(analogies(), WordVectors(WORDS, np.ones((12, 3))))
    assert scores.accuracy == pytest.approx(1 / 9)
    assert scores.chance == pytest.approx(1 / 9)


def test_phrases_of_the_right_word_are_right() -> None:
    """`left` in two phrases: both are questions, either is right, and neither may answer where one
    is questions."""
    phrases = {
        "left": ("left", "to the left of"),
        "right": ("right",),
        "up": ("up",),
        "down": ("down",),
    }
    questions = analogies(phrases, PAIRS)
    # 4 with left as a or b (x 2), 2 with left as c (x 2), 2 with left as d
    assert len(questions) == 14
    rows = np.array([[0.0, 0], [0.0, 0.1], [1, 0], [0, 1], [1, 1]])
    assert score(questions, WordVectors(questions.candidates, rows)).accuracy == 1.0


@given(st.integers(0, 10**6), st.permutations(range(12)), st.floats(0.1, 10))
def test_turning_scaling_and_order_change_nothing(
    seed: int, order: list[int], scale: float
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, 5))
    turned, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    before = score(analogies(), WordVectors(WORDS, rows)).credit
    moved = WordVectors(tuple(WORDS[i] for i in order), (scale * rows @ turned)[order])
    assert score(analogies(), moved).credit.tolist() == before.tolist()


def test_85744_analogies_in_about_a_second() -> None:
    """With every published phrase: 85,744 (Ghanimifard & Dobnik 2019)."""
    phrases, simple = np.load(shared("spatial_relations/composit2simple.npy"), allow_pickle=False)
    known = dict(zip(map(str, phrases), map(str, simple), strict=True))
    questions = analogies(variants(known, known))
    assert len(questions) == 85_744
    rows = np.random.default_rng(0).normal(size=(len(questions.candidates), 97))
    begun = time.process_time()
    scores = score(questions, WordVectors(questions.candidates, rows))
    assert time.process_time() - begun < 3
    assert 0 < scores.accuracy < 1
