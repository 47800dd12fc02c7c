"""Accuracy (Hagström & Johansson 2022), relaxed accuracy and true confidence (Singh, Qasemi & Chen 2023)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def top_credit(items: ScoredItems) -> FloatArray:
    """The share of gold labels among those that share the top score.

    Ties share the credit, so that equal scores give exactly chance and the order of the options never matters.
    """
    top = items.scores == np.nanmax(items.scores, axis=1, keepdims=True)
    return np.asarray((top & items.is_gold).sum(axis=1) / top.sum(axis=1))


def accuracy(items: ScoredItems) -> FloatArray:
    """Right or wrong, ties shared. Items with several gold labels are refused: they need relaxed accuracy."""
    golds = items.is_gold.sum(axis=1)
    if (golds != 1).any():
        row = int(np.argmax(golds != 1))
        raise ValueError(f"accuracy needs one gold label per item, row {row} has {golds[row]}: use relaxed_accuracy")
    return top_credit(items)


def true_confidence(items: ScoredItems) -> FloatArray:
    """Probability summed over the gold labels."""
    return np.asarray(np.where(items.is_gold, items.probabilities, 0.0).sum(axis=1))


ACCURACY = mean_metric("accuracy", "How often the most probable label is the gold label.", accuracy, binary=True)
RELAXED_ACCURACY = mean_metric(
    "relaxed_accuracy", "How often the most probable label is one of the gold labels.", top_credit, binary=True
)
TRUE_CONFIDENCE = mean_metric(
    "true_confidence", "The probability, among the options, that falls on the gold labels.", true_confidence
)
