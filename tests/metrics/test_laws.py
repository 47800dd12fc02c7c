"""What holds of every metric."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.strategies import items

from seesay.metrics import METRICS, ScoredItems, get
from seesay.metrics.base import IntArray

# mean_score is of scores that another program gave, on a scale of its own: no probabilities
OTHER_LAWS = ("accuracy", "mean_score")
NAMES = [
    name
    for name, metric in METRICS.items()
    if not metric.whole_vocabulary and name not in OTHER_LAWS
]
LOWEST = {"spearman": -1.0, "kendall": -1.0}
HIGHEST = {"brier": 2.0}


def permuted(given_items: ScoredItems, rows: IntArray, labels: IntArray) -> ScoredItems:
    return ScoredItems(given_items.scores[rows][:, labels], given_items.gold[rows][:, labels])


@given(items(), st.integers(0, 1000), st.sampled_from(NAMES))
def test_order_of_items_and_labels_changes_nothing(
    given_items: ScoredItems, seed: int, name: str
) -> None:
    rng = np.random.default_rng(seed)
    n, width = given_items.scores.shape
    other = permuted(given_items, rng.permutation(n), rng.permutation(width))
    assert get(name)(other) == pytest.approx(get(name)(given_items), abs=1e-9, nan_ok=True)


@given(items(), st.integers(-800, 800), st.sampled_from(NAMES))
def test_a_constant_added_to_all_scores_changes_nothing(
    given_items: ScoredItems, eighths: int, name: str
) -> None:
    other = ScoredItems(given_items.scores + eighths / 8, given_items.gold)
    assert get(name)(other) == pytest.approx(get(name)(given_items), abs=1e-9, nan_ok=True)


@given(items(), st.sampled_from(NAMES))
def test_bounds(given_items: ScoredItems, name: str) -> None:
    value = get(name)(given_items)
    assert (
        np.isnan(value) or LOWEST.get(name, 0.0) - 1e-12 <= value <= HIGHEST.get(name, 1.0) + 1e-12
    )


@given(items(), st.sampled_from(NAMES))
def test_labels_that_nobody_offers_change_nothing(given_items: ScoredItems, name: str) -> None:
    blank = np.full((len(given_items), 1), np.nan)
    wider = ScoredItems(
        np.hstack([blank, given_items.scores]), np.hstack([np.zeros_like(blank), given_items.gold])
    )
    assert get(name)(wider) == pytest.approx(get(name)(given_items), abs=1e-9, nan_ok=True)


@given(items(), st.sampled_from([name for name in NAMES if METRICS[name].is_mean]))
def test_a_mean_metric_is_the_mean_of_its_items(given_items: ScoredItems, name: str) -> None:
    alone = [get(name)(given_items.take(np.array([row]))) for row in range(len(given_items))]
    defined = [value for value in alone if not np.isnan(value)]
    expected = np.mean(defined) if defined else np.nan
    assert get(name)(given_items) == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(items(gaps=False, single=True))
def test_a_perfect_model_is_perfect(given_items: ScoredItems) -> None:
    perfect = ScoredItems(np.where(given_items.is_gold, 0.0, -np.inf), given_items.gold)
    for name in (
        "accuracy",
        "relaxed_accuracy",
        "true_confidence",
        "macro_f1",
        "macro_f1_space",
        "average_precision",
    ):
        assert get(name)(perfect) == 1.0
    for name in ("spearman", "kendall"):
        assert get(name)(perfect) == pytest.approx(1.0)
    assert get("jensen_shannon")(perfect) == pytest.approx(0.0, abs=1e-12)
