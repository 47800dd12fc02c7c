"""Winoground's scores: the four scores of a pair in every order, worked out by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from seesay import metrics
from seesay.metrics import ScoredItems
from seesay.metrics.group_score import GROUP_SCORE, IMAGE_SCORE, TEXT_SCORE

NAN = float("nan")


def pair(scores: list[float], twin: list[float]) -> ScoredItems:
    """A question whose first label is right, and its twin, whose second one is."""
    return ScoredItems(
        np.array([scores]),
        np.array([[1.0, 0.0]]),
        twin=np.array([twin]),
        twin_gold=np.array([[0.0, 1.0]]),
    )


def test_all_24_orders_of_four_scores_as_winoground_defines_them() -> None:
    """s(caption, picture): c0_i0 and c1_i1 belong together (Thrush et al. 2022, section 3.2)."""
    right = {"text": 0, "image": 0, "group": 0}
    for c0_i0, c1_i0, c0_i1, c1_i1 in permutations([-1.0, -2.0, -3.0, -4.0]):
        items = pair([c0_i0, c1_i0], [c0_i1, c1_i1])
        text = c0_i0 > c1_i0 and c1_i1 > c0_i1
        image = c0_i0 > c0_i1 and c1_i1 > c1_i0
        assert TEXT_SCORE(items) == text
        assert IMAGE_SCORE(items) == image
        assert GROUP_SCORE(items) == (text and image)
        right["text"] += text
        right["image"] += image
        right["group"] += text and image
    assert right == {"text": 6, "image": 6, "group": 4}  # of 24: a quarter, a quarter, a sixth


@pytest.mark.parametrize(
    ("metric", "chance"), [(TEXT_SCORE, 1 / 4), (IMAGE_SCORE, 1 / 4), (GROUP_SCORE, 1 / 6)]
)
def test_chance_is_that_of_the_24_orders(
    metric: metrics.Metric[ScoredItems], chance: float
) -> None:
    items = pair([-1.0, -2.0], [-2.0, -1.0])
    assert metrics.chance(metric, items) == pytest.approx(chance)


def test_ties_are_wrong_and_a_question_without_a_twin_does_not_count() -> None:
    assert TEXT_SCORE(pair([-1.0, -1.0], [-2.0, -1.0])) == 0
    assert IMAGE_SCORE(pair([-1.0, -2.0], [-1.0, -0.5])) == 0
    assert np.isnan(GROUP_SCORE(pair([-1.0, -2.0], [NAN, NAN])))
    alone = ScoredItems(np.array([[-1.0, -2.0]]), np.array([[1.0, 0.0]]))
    assert np.isnan(TEXT_SCORE(alone))


def test_a_pair_gives_both_of_its_questions_the_same_score() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        here, there = generator.normal(size=(2, 2)).tolist()
        first = pair(here, there)
        second = ScoredItems(
            np.array([there]),
            np.array([[0.0, 1.0]]),
            twin=np.array([here]),
            twin_gold=np.array([[1.0, 0.0]]),
        )
        for metric in (TEXT_SCORE, IMAGE_SCORE, GROUP_SCORE):
            assert metric(first) == metric(second)
