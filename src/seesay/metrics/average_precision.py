"""Average precision of the gold labels among the options (Hagström & Johansson 2022, Visual
Property Norms)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric, tie_bounds


def average_precision(items: ScoredItems) -> FloatArray:
    """Return the mean over gold labels of the precision down to each of them.

    Labels of equal scores stand in no order: each of their orders counts alike, as ties share their
    credit in accuracy. (Where all scores are equal, that is the expectation of a random order.)

    >>> items = ScoredItems(np.array([[4.0, 3.0, 2.0, 1.0]]), np.array([[1.0, 0.0, 1.0, 0.0]]))
    >>> average_precision(items).round(4).tolist()
    [0.8333]
    >>> average_precision(ScoredItems(np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]]))).tolist()
    [0.75]
    """
    falling = np.where(items.offered, -items.scores, np.inf)
    # Not offered ties with probability 0 at the end: order it last, and let it stand in no group.
    order = np.lexsort((~items.offered, falling), axis=1)
    gold = np.take_along_axis(items.is_gold, order, axis=1)
    offered = np.take_along_axis(items.offered, order, axis=1)
    ordered = np.take_along_axis(falling, order, axis=1)
    first, last = tie_bounds(np.where(offered, ordered, np.nan))
    hits = gold.cumsum(axis=1)
    hits_before = np.take_along_axis(hits - gold, first, axis=1)
    group_hits = np.take_along_axis(hits, last, axis=1) - hits_before
    group_size = last - first + 1
    position = np.broadcast_to(np.arange(gold.shape[1]), gold.shape)
    # A gold label at place k of a group of n, r of them gold, has on average (k - 1)(r - 1)/(n - 1)
    # of the others before it.
    other_share = np.divide(
        group_hits - 1,
        group_size - 1,
        out=np.zeros(gold.shape),
        where=group_size > 1,
    )
    expected_hits = hits_before + 1 + (position - first) * other_share
    is_gold = group_hits / group_size
    at_gold = (is_gold * expected_hits / (position + 1) * offered).sum(axis=1)
    return np.asarray(at_gold / gold.sum(axis=1))


_MEANING = "How far the gold labels stand at the top of the options."
AVERAGE_PRECISION = mean_metric("average_precision", _MEANING, average_precision)
