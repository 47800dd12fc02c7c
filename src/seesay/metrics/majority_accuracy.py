"""Accuracy where gold answers have weights, such as people's votes: against the majority, and
against each voter."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def _top(items: ScoredItems) -> FloatArray:
    """Which labels share the top score, each with its share of the choice."""
    return np.asarray(items.top / np.maximum(items.top.sum(axis=1, keepdims=True), 1))


def majority_accuracy(items: ScoredItems) -> FloatArray:
    """Return whether each item is right by the heaviest gold label.

    Any of several that are equally heavy will do; ties share the credit.

    >>> items = ScoredItems(np.array([[2.0, 1.0], [1.0, 1.0]]), np.array([[0.7, 0.3], [0.7, 0.3]]))
    >>> majority_accuracy(items).tolist(), shared_accuracy(items).tolist()
    ([1.0, 0.5], [0.7, 0.5])
    """
    heaviest = items.gold == items.gold.max(axis=1, keepdims=True)
    return np.asarray((_top(items) * heaviest).sum(axis=1))


def shared_accuracy(items: ScoredItems) -> FloatArray:
    """Return the weight of the most probable label of each item.

    It says how likely a person drawn at random gives the same answer.
    """
    return np.asarray((_top(items) * items.gold).sum(axis=1))


MAJORITY_ACCURACY = mean_metric(
    "majority_accuracy",
    "How often the most probable label is the one that most people gave.",
    majority_accuracy,
    binary=True,
)
SHARED_ACCURACY = mean_metric(
    "shared_accuracy", "The share of people who gave the most probable label.", shared_accuracy
)
