"""Brier's score (Brier 1950): how far a model's probabilities are from the right answer, squared
and summed over the options. 0 is best, 2 is certainty of a wrong answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def brier(items: ScoredItems) -> FloatArray:
    """Return Σ (p − g)² over the options.

    g is 1 for the gold label, and with several of them their share of the weight.

    >>> scores = np.log([[0.7, 0.2, 0.1]])
    >>> items = ScoredItems(scores, np.array([[1.0, 0, 0]]))
    >>> round(float(brier(items)[0]), 10)  # 0.3² + 0.2² + 0.1²
    0.14
    """
    gold = items.gold / items.gold.sum(axis=1, keepdims=True)
    return np.asarray(((items.probabilities - gold) ** 2).sum(axis=1))


BRIER = replace(
    mean_metric(
        "brier",
        "Squared distance of the options' probabilities from the right answer: 0 is best, 2 is "
        "certainty of a wrong one.",
        brier,
        lower_is_better=True,
    ),
    most=2.0,
)
