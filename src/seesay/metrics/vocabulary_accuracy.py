"""Vocabulary accuracy: a gold label is the top word of the whole vocabulary (ViPhy's published zero-shot rule)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, Items, mean_metric


def vocabulary_accuracy(items: Items) -> FloatArray:
    """1 where a gold option has rank 1, NaN where the rank of no gold option is known.

    An option of several tokens has no rank and cannot be the top word.
    """
    if items.ranks is None:
        return np.full(len(items), np.nan)
    known = (items.is_gold & (items.ranks > 0)).any(axis=1)
    return np.where(known, (items.is_gold & (items.ranks == 1)).any(axis=1), np.nan)


VOCABULARY_ACCURACY = mean_metric(
    "vocabulary_accuracy",
    "How often a gold label is the most probable word of the model's whole vocabulary.",
    vocabulary_accuracy,
    binary=True,
    whole_vocabulary=True,
)
