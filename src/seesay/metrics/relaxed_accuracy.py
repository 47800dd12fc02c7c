"""Relaxed accuracy: the most probable label is in the gold set (Singh, Qasemi & Chen 2023,
R-Acc)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def top_credit(items: ScoredItems) -> FloatArray:
    """The share of gold labels among those that share the top score.

    Ties share the credit, so that equal scores give exactly chance and the order of the options
    never matters. No answer is wrong.
    """
    return np.asarray(
        (items.top & items.is_gold).sum(axis=1) / np.maximum(items.top.sum(axis=1), 1)
    )


RELAXED_ACCURACY = mean_metric(
    "relaxed_accuracy",
    "How often the most probable label is one of the gold labels.",
    top_credit,
    binary=True,
)
