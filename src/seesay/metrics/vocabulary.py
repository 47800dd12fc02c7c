"""Metrics over the model's whole vocabulary: ViPhy's zero-shot accuracy, Visual Property Norms' average precision."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def vocabulary_accuracy(items: ScoredItems) -> FloatArray:
    """1 where a gold option has rank 1, NaN where the model ranks no option at all.

    An option of several tokens has no rank and cannot be the top word: a question whose gold options are all such is
    answered wrongly, as the published rule has it.
    """
    if items.ranks is None or not items.ranks.any():
        return np.full(len(items), np.nan)
    return np.asarray((items.is_gold & (items.ranks == 1)).any(axis=1).astype(np.float64))


def vocabulary_average_precision(items: ScoredItems) -> FloatArray:
    """As average precision, with every vocabulary entry a candidate.

    A gold option's rank is how many entries score at least as high, so the precision at its threshold is the number
    of gold options of its rank or better over its rank: the ranks of the gold options suffice. An item with a gold
    option of unknown rank (more than one token) is NaN.
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


VOCABULARY_ACCURACY = mean_metric(
    "vocabulary_accuracy",
    "How often a gold label is the most probable word of the model's whole vocabulary.",
    vocabulary_accuracy,
    binary=True,
    whole_vocabulary=True,
)
VOCABULARY_AVERAGE_PRECISION = mean_metric(
    "vocabulary_average_precision",
    "How far the gold labels stand at the top of the model's whole vocabulary.",
    vocabulary_average_precision,
    whole_vocabulary=True,
)
