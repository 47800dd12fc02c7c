"""Average precision of the gold labels among the options (Hagström & Johansson 2022, Visual Property Norms)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, Items, mean_metric, tie_bounds


def average_precision(items: Items) -> FloatArray:
    """Step-wise: the precision at each gold label's threshold, averaged over gold labels; ties share a threshold.

    >>> average_precision(Items(np.array([[4.0, 3.0, 2.0, 1.0]]), np.array([[1.0, 0.0, 1.0, 0.0]]))).round(4).tolist()
    [0.8333]
    """
    falling = np.where(items.offered, -items.scores, np.inf)
    # Not offered ties with probability 0 at the end: order it last, and let it stand in no group.
    order = np.lexsort((~items.offered, falling), axis=1)
    gold = np.take_along_axis(items.is_gold, order, axis=1)
    offered = np.take_along_axis(items.offered, order, axis=1)
    _, last = tie_bounds(np.where(offered, np.take_along_axis(falling, order, axis=1), np.nan))
    hits = np.take_along_axis(gold.cumsum(axis=1), last, axis=1)
    precision = hits / (last + 1)
    return np.asarray((precision * gold).sum(axis=1) / gold.sum(axis=1))


AVERAGE_PRECISION = mean_metric(
    "average_precision", "How far the gold labels stand at the top of the options.", average_precision
)
