"""Average precision over the model's whole vocabulary (Visual Property Norms, the second
figure)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def vocabulary_average_precision(items: ScoredItems) -> FloatArray:
    """Return the average precision of the gold labels with every vocabulary entry a candidate.

    A gold option's rank is how many entries score at least as high, so the precision at its
    threshold is the number of gold options of its rank or better over its rank: the ranks of the
    gold options suffice. An item with a gold option of unknown rank (more than one token) is NaN.
    """
    if items.ranks is None:
        return np.full(len(items), np.nan)
    # beyond every rank, so that sorting puts what is not gold last
    not_gold = items.ranks.max(initial=0) + 1
    gold_ranks = np.where(items.is_gold, items.ranks, not_gold)
    most_gold = items.is_gold.sum(axis=1).max(initial=0)
    # only as many columns as an item has gold options: pairs of all 614 would fill the memory
    ranks = np.sort(gold_ranks, axis=1)[:, :most_gold]
    gold = ranks < not_gold
    hits = (ranks[:, None, :] <= ranks[:, :, None]).sum(axis=2)
    is_ranked = gold & (ranks > 0)
    precision = np.divide(
        hits,
        ranks,
        out=np.zeros(ranks.shape),
        where=is_ranked,
    )
    has_unknown = (items.is_gold & (items.ranks <= 0)).any(axis=1)
    mean_precision = precision.sum(axis=1) / gold.sum(axis=1)
    return np.where(has_unknown, np.nan, mean_precision)


VOCABULARY_AVERAGE_PRECISION = mean_metric(
    "vocabulary_average_precision",
    "How far the gold labels stand at the top of the model's whole vocabulary.",
    vocabulary_average_precision,
    whole_vocabulary=True,
)
