"""Average precision beside scikit-learn's, over the options and over a whole vocabulary."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import average_precision_score
from tests.metrics.strategies import items, random_items

from seesay.metrics import ScoredItems, get
from seesay.metrics.average_precision import average_precision
from seesay.metrics.base import chance
from seesay.metrics.vocabulary_average_precision import vocabulary_average_precision


def test_by_hand() -> None:
    # Gold at places 1 and 3: (1/1 + 2/3) / 2. Gold tied with two others at the top, so at place 1,
    # 2 or 3: (1 + 1/2 + 1/3) / 3.
    scores = np.array([[4.0, 3.0, 2.0, 1.0], [2.0, 2.0, 2.0, 1.0]])
    gold = np.array([[1.0, 0, 1.0, 0], [0, 1.0, 0, 0]])
    assert average_precision(ScoredItems(scores, gold)) == pytest.approx([5 / 6, 11 / 18])


def test_as_scikit_learn() -> None:
    given_items = random_items(3, n=60, width=40, levels=None)
    rows = zip(given_items.is_gold, given_items.scores, strict=True)
    assert average_precision(given_items) == pytest.approx(
        [average_precision_score(*row) for row in rows]
    )


@given(items())
def test_ties_are_the_mean_over_their_orders(given_items: ScoredItems) -> None:
    """By scikit-learn, with labels missing and impossible: every order of labels that tie."""
    expected = []
    for gold, scores in zip(given_items.is_gold, given_items.scores, strict=True):
        offered = ~np.isnan(scores)
        levels = np.nan_to_num(scores[offered], neginf=-1e9)
        orders = {
            tuple(np.lexsort((tie_breaker, levels)))
            for tie_breaker in permutations(range(len(levels)))
        }
        ranks = [np.argsort(order) for order in sorted(orders)]
        expected.append(np.mean([average_precision_score(gold[offered], rank) for rank in ranks]))
    assert average_precision(given_items) == pytest.approx(expected)


@pytest.mark.parametrize("levels", [None, 30])
def test_whole_vocabulary_needs_only_ranks_of_gold_options(levels: int | None) -> None:
    vocabulary = random_items(5, n=20, width=300, levels=levels)
    options = np.arange(300) % 3 == 0
    gold = np.where(options, vocabulary.gold, 0.0)
    gold[:, 0] = 1.0
    ranks = (vocabulary.scores[:, None, :] >= vocabulary.scores[:, :, None]).sum(axis=2)
    items = ScoredItems(vocabulary.scores[:, options], gold[:, options], ranks[:, options])
    # of a vocabulary only ranks are known, by which words that tie share a threshold
    rows = zip(gold > 0, vocabulary.scores, strict=True)
    expected = [average_precision_score(*row) for row in rows]
    assert vocabulary_average_precision(items) == pytest.approx(expected)


def test_unknown_ranks_leave_an_item_out() -> None:
    gold = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    items = ScoredItems(np.zeros((2, 3)), gold, np.array([[2, 8, 0], [0, 3, 1]]))
    # (1/2 + 2/8) / 2; the second item's first gold option has no rank.
    assert vocabulary_average_precision(items) == pytest.approx([0.375, np.nan], nan_ok=True)
    assert get("vocabulary_average_precision")(items) == 0.375
    assert np.isnan(get("vocabulary_average_precision")(ScoredItems(np.zeros((2, 3)), gold)))


@pytest.mark.parametrize("gold", [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]])
def test_chance_is_the_mean_over_all_orders(gold: list[int]) -> None:
    orders = np.array(list(permutations(range(4))), dtype=np.float64)
    expected = average_precision(
        ScoredItems(orders, np.array([gold] * len(orders), dtype=np.float64))
    ).mean()
    one = ScoredItems(
        np.array([[0.0, 1.0, 2.0, 3.0, np.nan]]), np.array([[*gold, 0]], dtype=np.float64)
    )
    assert chance(get("average_precision"), one) == pytest.approx(expected)
