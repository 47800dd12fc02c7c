"""Macro F1 over labels, predictions multi-hot after the typical-label filter (Singh, Qasemi & Chen 2023, F1)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seesay.data.macro_f1 import macro_f1
from seesay.metrics.base import FloatArray, Items, Metric
from seesay.metrics.typical_labels import typical_labels, typical_space_labels


def confusion(items: Items, typical: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Per item and label: predicted and gold, predicted, gold. F1 needs no more."""
    predicted = typical(items.probabilities) > 0
    return np.hstack([predicted & items.is_gold, predicted, items.is_gold]).astype(np.float64)


def undefined(items: Items) -> FloatArray:
    """Guessing has no one figure: it depends on how many labels the guesser finds typical."""
    return np.full(len(items), np.nan)


MACRO_F1 = Metric(
    "macro_f1",
    "F1 of the typical labels, averaged over labels.",
    lambda items: confusion(items, typical_labels),
    macro_f1,
    guess=undefined,
)
MACRO_F1_SPACE = Metric(
    "macro_f1_space",
    "F1 of the typical labels by the rule for places, averaged over labels.",
    lambda items: confusion(items, typical_space_labels),
    macro_f1,
    guess=undefined,
)
