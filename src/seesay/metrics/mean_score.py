"""Mean score: what another program gave each item, averaged."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def mean_score(items: ScoredItems) -> FloatArray:
    """Return the score of each item, of which `items` hold the logarithm under the gold label."""
    return np.asarray(np.where(items.is_gold, np.exp(items.scores), 0.0).sum(axis=1))


MEAN_SCORE = replace(
    mean_metric(
        "mean_score",
        "The mean of the scores that another program's log gives its items.",
        mean_score,
    ),
    most=math.inf,
)
