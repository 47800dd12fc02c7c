"""Analogies by hand, their numbers as published, and the laws they keep."""

from __future__ import annotations

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import shared

from seesay.data.relations import ANTONYMS, variants
from seesay.relations.analogy import analogies, answer
from seesay.relations.vectors import Vectors

WORDS = tuple(word for pair in ANTONYMS for word in pair)
PAIRS = (("left", "right"), ("up", "down"))


def test_there_are_120_questions() -> None:
    """Facts: every ordered pair with every ordered pair that shares no word."""
    asked = analogies()
    assert len(asked) == 120
    assert asked.candidates == WORDS
    told = {tuple(WORDS[i] for i in (*row, right)) for row, right in zip(asked.asked, asked.right, strict=True)}
    by_hand = {
        (a, b, c, d)
        for one, other in permutations(ANTONYMS, 2)
        for a, b in (one, one[::-1])
        for c, d in (other, other[::-1])
    }
    assert told == by_hand


def test_a_parallelogram_by_hand() -> None:
    """left (0, 0), right (1, 0), up (0, 1), down (1, 1): right − left + up = (1, 1) is down's vector, and the only
    word left to choose. With a fourth pair far off in the same direction, the dot product prefers that."""
    square = Vectors(("left", "right", "up", "down"), np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]]))
    found = answer(analogies(pairs=PAIRS), square)
    assert found.credit.tolist() == [1.0] * 8
    assert found.chance == 1.0
    three = (*PAIRS, ("in", "out"))
    wide = Vectors((*square.words, "in", "out"), np.vstack([square.rows, [[-9.0, -9], [5, 5]]]))
    asked = analogies(pairs=three)
    found = answer(asked, wide)
    first = asked.asked.tolist().index([0, 1, 2])  # left : right = up : ?; (1, 1)·out = 10 beats (1, 1)·down = 2
    assert found.credit[first] == 0.0
    assert found.chance == pytest.approx(1 / 3)


def test_equal_vectors_get_chance() -> None:
    found = answer(analogies(), Vectors(WORDS, np.ones((12, 3))))
    assert found.accuracy == pytest.approx(1 / 9)
    assert found.chance == pytest.approx(1 / 9)


def test_phrases_of_the_right_word_are_right() -> None:
    """`left` in two phrases: both are asked, either is right, and neither may answer where one is asked."""
    phrases = {"left": ("left", "to the left of"), "right": ("right",), "up": ("up",), "down": ("down",)}
    asked = analogies(phrases, PAIRS)
    assert len(asked) == 14  # 4 with left as a or b (x 2), 2 with left as c (x 2), 2 with left as d
    rows = np.array([[0.0, 0], [0.0, 0.1], [1, 0], [0, 1], [1, 1]])
    assert answer(asked, Vectors(asked.candidates, rows)).accuracy == 1.0


@given(st.integers(0, 10**6), st.permutations(range(12)), st.floats(0.1, 10))
def test_turning_scaling_and_order_change_nothing(seed: int, order: list[int], scale: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, 5))
    turned, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    before = answer(analogies(), Vectors(WORDS, rows)).credit
    moved = Vectors(tuple(WORDS[i] for i in order), (scale * rows @ turned)[order])
    assert answer(analogies(), moved).credit.tolist() == before.tolist()


def test_85744_analogies_in_about_a_second() -> None:
    """With every published phrase: 85,744 (Ghanimifard & Dobnik 2019)."""
    phrases, simple = np.load(shared("spatial_relations/composit2simple.npy"), allow_pickle=False)
    known = dict(zip(map(str, phrases), map(str, simple), strict=True))
    asked = analogies(variants(known, known))
    assert len(asked) == 85_744
    rows = np.random.default_rng(0).normal(size=(len(asked.candidates), 97))
    begun = time.process_time()
    found = answer(asked, Vectors(asked.candidates, rows))
    assert time.process_time() - begun < 3
    assert 0 < found.accuracy < 1
