"""Macro F1 beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score
from tests.metrics.strategies import random_items

from seesay.metrics import ScoredItems, get
from seesay.metrics.typical_labels import typical_labels, typical_space_labels


def test_by_hand() -> None:
    # Typical: {0, 1}, {0}. Gold: {0}, {0, 2}. F1: 2·2/(2+2) = 1, 2·0/(1+0) = 0, 2·0/(0+1) = 0.
    scores = np.log([[0.5, 0.45, 0.05], [0.9, 0.05, 0.05]])
    assert get("macro_f1")(
        ScoredItems(scores, np.array([[1.0, 0, 0], [0.5, 0, 0.5]]))
    ) == pytest.approx(1 / 3)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("name", "rule", "width"),
    [("macro_f1", typical_labels, 11), ("macro_f1_space", typical_space_labels, 3)],
)
def test_as_scikit_learn(seed: int, name: str, rule: object, width: int) -> None:
    items = random_items(seed, n=80, width=width)
    assert callable(rule)
    expected = f1_score(
        items.is_gold, rule(items.probabilities) > 0, average="macro", zero_division=np.nan
    )
    assert get(name)(items) == pytest.approx(expected)


def test_a_label_that_does_not_occur_has_no_f1() -> None:
    scores = np.log([[0.8, 0.2 - 1e-9, 1e-9]])
    assert get("macro_f1")(ScoredItems(scores, np.array([[1.0, 0, 0]]))) == 1.0


def test_nothing_to_score_is_nan() -> None:
    assert np.isnan(get("macro_f1").value(np.zeros(9)))
