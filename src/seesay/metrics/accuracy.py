"""Accuracy: the most probable label is the gold one (Hagström & Johansson 2022, Memory Colors)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric
from seesay.metrics.relaxed_accuracy import top_credit


def accuracy(items: ScoredItems) -> FloatArray:
    """Return whether each item is right, ties shared.

    Items with several gold labels are refused: they need relaxed accuracy.
    """
    golds = items.is_gold.sum(axis=1)
    if (golds != 1).any():
        row = int(np.argmax(golds != 1))
        raise ValueError(
            f"accuracy needs one gold label per item, row {row} has {golds[row]}: use "
            "relaxed_accuracy"
        )
    return top_credit(items)


ACCURACY = mean_metric(
    "accuracy", "How often the most probable label is the gold label.", accuracy, binary=True
)
