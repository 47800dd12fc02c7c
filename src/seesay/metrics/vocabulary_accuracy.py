"""Vocabulary accuracy: a gold label is the top word of the whole vocabulary (ViPhy's published
zero-shot rule)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def vocabulary_accuracy(items: ScoredItems) -> FloatArray:
    """1 where a gold option has rank 1, NaN where the model ranks no option at all.

    An option of several tokens has no rank and cannot be the top word: a question whose gold
    options are all such is answered wrongly, as the published rule has it.
    """
    if items.ranks is None or not items.ranks.any():
        return np.full(len(items), np.nan)
    right: FloatArray = (items.is_gold & (items.ranks == 1)).any(axis=1).astype(np.float64)
    return right


VOCABULARY_ACCURACY = mean_metric(
    "vocabulary_accuracy",
    "How often a gold label is the most probable word of the model's whole vocabulary.",
    vocabulary_accuracy,
    binary=True,
    whole_vocabulary=True,
)
