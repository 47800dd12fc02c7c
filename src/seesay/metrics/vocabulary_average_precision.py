"""Average precision over the model's whole vocabulary (Visual Property Norms, the second
figure)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def vocabulary_average_precision(items: ScoredItems) -> FloatArray:
    """As average precision, with every vocabulary entry a candidate.

    A gold option's rank is how many entries score at least as high, so the precision at its
    threshold is the number of gold options of its rank or better over its rank: the ranks of the
    gold options suffice. An item with a gold option of unknown rank (more than one token) is NaN.
    """
    if items.ranks is None:
        return np.full(len(items), np.nan)
    unknown = items.ranks.max() + 1 if items.ranks.size else 1
    ranks = np.sort(np.where(items.is_gold, items.ranks, unknown), axis=1)[
        :, : items.is_gold.sum(axis=1).max(initial=0)
    ]
    gold = ranks < unknown
    at_least = (ranks[:, None, :] <= ranks[:, :, None]).sum(axis=2)
    precision = np.divide(at_least, ranks, out=np.zeros(ranks.shape), where=gold & (ranks > 0))
    defined = ~(items.is_gold & (items.ranks <= 0)).any(axis=1)
    return np.where(defined, precision.sum(axis=1) / gold.sum(axis=1), np.nan)


VOCABULARY_AVERAGE_PRECISION = mean_metric(
    "vocabulary_average_precision",
    "How far the gold labels stand at the top of the model's whole vocabulary.",
    vocabulary_average_precision,
    whole_vocabulary=True,
)
