"""Average precision of the gold labels among the options (Hagström & Johansson 2022, Visual
Property Norms)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric, tie_bounds


def average_precision(items: ScoredItems) -> FloatArray:
    """Return the average precision of the gold labels, step-wise.

    That is the precision at each gold label's threshold, averaged over gold labels; ties share a
    threshold.

    >>> items = ScoredItems(np.array([[4.0, 3.0, 2.0, 1.0]]), np.array([[1.0, 0.0, 1.0, 0.0]]))
    >>> average_precision(items).round(4).tolist()
    [0.8333]
    """
    falling = np.where(items.offered, -items.scores, np.inf)
    # Not offered ties with probability 0 at the end: order it last, and let it stand in no group.
    order = np.lexsort((~items.offered, falling), axis=1)
    gold = np.take_along_axis(items.is_gold, order, axis=1)
    offered = np.take_along_axis(items.offered, order, axis=1)
    ordered = np.take_along_axis(falling, order, axis=1)
    # equal scores have one threshold: each counts all the hits down to the last of its group
    _, last = tie_bounds(np.where(offered, ordered, np.nan))
    hits = np.take_along_axis(gold.cumsum(axis=1), last, axis=1)
    precision = hits / (last + 1)
    at_gold = (precision * gold).sum(axis=1)
    return np.asarray(at_gold / gold.sum(axis=1))


def random_order(items: ScoredItems) -> FloatArray:
    """The expected average precision of a random order of N labels, R of them gold.

    A gold label at rank k has on average 1 + (k − 1)(R − 1)/(N − 1) gold labels down to its rank,
    itself included.

    >>> random_order(ScoredItems(np.array([[4.0, 3.0]]), np.array([[1.0, 0.0]]))).tolist()
    [0.75]
    """
    n = items.offered.sum(axis=1)
    gold = items.is_gold.sum(axis=1)
    ranks = np.arange(1, items.scores.shape[1] + 1)
    harmonic = np.cumsum(1 / ranks)[n - 1]
    others = np.divide(
        gold - 1,
        n - 1,
        out=np.zeros(len(n)),
        where=n > 1,
    )
    # the expected count over its rank, averaged over k = 1 … N
    return np.asarray((harmonic + others * (n - harmonic)) / n)


_MEANING = "How far the gold labels stand at the top of the options."
AVERAGE_PRECISION = mean_metric(
    "average_precision", _MEANING, average_precision, guess=random_order
)
