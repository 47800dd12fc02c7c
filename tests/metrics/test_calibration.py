"""Brier's score and the expected calibration error, by hand and beside scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from seesay.metrics import Resamples, ScoredItems, get


def test_brier_beside_scikit_learn() -> None:
    """Two options: scikit-learn's loss is that of the positive class alone, half of the sum over
    both."""
    sklearn = pytest.importorskip("sklearn.metrics")
    draw = np.random.default_rng(0)
    share = draw.uniform(0.01, 0.99, 200)
    right = draw.integers(0, 2, 200)
    items = ScoredItems(np.log(np.stack([1 - share, share], axis=1)), np.eye(2)[right])
    assert get("brier")(items) == pytest.approx(
        2 * sklearn.brier_score_loss(right, share), abs=1e-12
    )


def test_calibration_error_by_hand() -> None:
    """Two choices at 0.7, one right: |1 − 1.4|; one at 0.95, right: |1 − 0.95|; together 0.45 over
    three items."""
    shares = np.array([[0.7, 0.3], [0.7, 0.3], [0.95, 0.05]])
    items = ScoredItems(np.log(shares), np.array([[1.0, 0], [0, 1.0], [1.0, 0]]))
    assert get("expected_calibration_error")(items) == pytest.approx(0.45 / 3)


def test_a_calibrated_model_has_no_error() -> None:
    """Of ten choices at 0.8, eight are right."""
    items = ScoredItems(np.log(np.tile([0.8, 0.2], (10, 1))), np.eye(2)[[0] * 8 + [1] * 2])
    assert get("expected_calibration_error")(items) == pytest.approx(0, abs=1e-12)


def test_intervals_are_clustered() -> None:
    """Copies of a question say nothing new: the interval is as wide as without them."""
    draw = np.random.default_rng(1)
    shares = draw.dirichlet([1, 1, 1], 40)
    items = ScoredItems(np.log(shares), np.eye(3)[draw.integers(0, 3, 40)])
    metric = get("expected_calibration_error")
    once = Resamples([str(i) for i in range(40)], 400).interval(
        metric.stats(items)[None], metric.value
    )
    copied = items.take(np.repeat(np.arange(40), 5))
    objects = [str(i) for i in np.repeat(np.arange(40), 5)]
    five = Resamples(objects, 400).interval(metric.stats(copied)[None], metric.value)
    assert (five.value, five.low, five.high) == pytest.approx((once.value, once.low, once.high))
