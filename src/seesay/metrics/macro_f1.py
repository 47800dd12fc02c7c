"""Macro F1 over labels, predictions multi-hot after the typical-label filter (Singh, Qasemi & Chen
2023, F1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from seesay.metrics.base import FloatArray, Metric, ScoredItems, ratio
from seesay.metrics.typical_labels import typical_labels, typical_space_labels


def macro_f1(sums: FloatArray) -> FloatArray:
    """Return the mean of 2·hits / (predicted + gold) over labels.

    The last axis holds hits, predicted and gold of all labels.

    A label that is neither predicted nor gold has no F1 and is left out, so that a rare label
    missing from a resample or a slice does not count as a failure.

    >>> float(macro_f1(np.array([2.0, 1.0, 2.0, 3.0, 2.0, 1.0])))  # F1 of 1 and of 1/2
    0.75
    """
    hits, predicted, gold = np.split(sums, 3, axis=-1)
    either = predicted + gold
    f1 = ratio(2 * hits, either, undefined=0.0)
    return ratio(
        f1.sum(axis=-1),
        (either > 0).sum(axis=-1),
        undefined=np.nan,
    )


def confusion(items: ScoredItems, typical: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Per item and label: predicted and gold, predicted, gold. F1 needs no more.

    Without an answer nothing is predicted.
    """
    predicted = (typical(items.probabilities) > 0) & items.answered
    return np.hstack([predicted & items.is_gold, predicted, items.is_gold]).astype(np.float64)


MACRO_F1 = Metric(
    "macro_f1",
    "F1 of the typical labels, averaged over labels.",
    partial(confusion, typical=typical_labels),
    macro_f1,
)
MACRO_F1_SPACE = Metric(
    "macro_f1_space",
    "F1 of the typical labels by the rule for places, averaged over labels.",
    partial(confusion, typical=typical_space_labels),
    macro_f1,
)
