"""Macro F1 from counts, which tasks need as well as metrics: it lives with the data."""

from __future__ import annotations

import numpy as np

from seesay.data.typical_labels import FloatArray


def macro_f1(sums: FloatArray) -> FloatArray:
    """The mean of 2·hits / (predicted + gold) over labels; the last axis holds hits, predicted and gold of all labels.

    A label that is neither predicted nor gold has no F1 and is left out, so that a rare label missing from a resample
    or a slice does not count as a failure.

    >>> float(macro_f1(np.array([2.0, 1.0, 2.0, 3.0, 2.0, 1.0])))  # F1 of 1 and of 1/2
    0.75
    """
    hits, predicted, gold = np.split(sums, 3, axis=-1)
    present = predicted + gold > 0
    f1 = np.divide(2 * hits, predicted + gold, out=np.zeros_like(hits, dtype=np.float64), where=present)
    with np.errstate(invalid="ignore"):
        return np.asarray(f1.sum(axis=-1) / present.sum(axis=-1))
