"""True confidence: the probability a model gives to the gold set (Singh, Qasemi & Chen 2023,
Conf)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def true_confidence(items: ScoredItems) -> FloatArray:
    """Probability summed over the gold labels; none without an answer, which counts as wrong."""
    on_gold = items.is_gold & items.answered
    return np.asarray(np.where(on_gold, items.probabilities, 0.0).sum(axis=1))


TRUE_CONFIDENCE = mean_metric(
    "true_confidence",
    "The probability, among the options, that falls on the gold labels.",
    true_confidence,
)
