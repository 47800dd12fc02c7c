"""Accuracy, relaxed accuracy, true confidence and the whole-vocabulary rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.metrics.strategies import items

from seesay.metrics import ScoredItems, get

SCORES = np.log([[0.5, 0.3, 0.2], [0.2, 0.4, 0.4], [0.1, 0.1, 0.8]])


def test_ties_share_the_credit() -> None:
    # Right; tied between a gold and another label: 1/2; wrong. (1 + 1/2 + 0) / 3.
    assert get("accuracy")(ScoredItems(SCORES, np.eye(3)[[0, 1, 0]])) == pytest.approx(0.5)


def test_relaxed_accuracy_by_hand() -> None:
    # Gold sets {1}, {1, 2}, {0, 2}: wrong, right though tied, right.
    gold = np.array([[0, 1.0, 0], [0, 0.6, 0.4], [0.5, 0, 0.5]])
    assert get("relaxed_accuracy")(ScoredItems(SCORES, gold)) == pytest.approx(2 / 3)


def test_true_confidence_by_hand() -> None:
    # 0.3 + (0.4 + 0.4) + (0.1 + 0.8) = 2.0 over three items; the weights of the gold labels play no
    # part.
    gold = np.array([[0, 1.0, 0], [0, 0.6, 0.4], [0.5, 0, 0.5]])
    assert get("true_confidence")(ScoredItems(SCORES, gold)) == pytest.approx(2 / 3)


def test_accuracy_refuses_several_gold_labels() -> None:
    with pytest.raises(ValueError, match="row 1 has 2: use relaxed_accuracy"):
        get("accuracy")(ScoredItems(SCORES[:2], np.array([[1.0, 0, 0], [1.0, 1.0, 0]])))


@given(items(single=True))
def test_accuracy_is_relaxed_accuracy_of_one_gold_label(given_items: ScoredItems) -> None:
    assert get("accuracy")(given_items) == get("relaxed_accuracy")(given_items)


def test_vocabulary_accuracy_by_hand() -> None:
    # Top word; a gold label of several tokens beside one of rank 7: wrong; of several tokens alone:
    # wrong as well.
    gold = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    ranks = np.array([[1, 5], [0, 7], [0, 1]])
    assert get("vocabulary_accuracy")(ScoredItems(np.zeros((3, 2)), gold, ranks)) == pytest.approx(
        1 / 3
    )
    assert np.isnan(
        get("vocabulary_accuracy")(ScoredItems(np.zeros((3, 2)), gold, np.zeros_like(ranks)))
    )
