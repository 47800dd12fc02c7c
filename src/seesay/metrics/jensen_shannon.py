"""Jensen–Shannon divergence between a model's distribution and the gold one (Lin 1991, in bits: 0
to 1)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, ScoredItems, mean_metric


def jensen_shannon(items: ScoredItems) -> FloatArray:
    """Divergence in bits, not its square root; gold weights are normalised first.

    >>> jensen_shannon(ScoredItems(np.array([[0.0, -np.inf]]), np.array([[0.0, 1.0]]))).tolist()
    [1.0]
    """
    model = items.probabilities
    gold = items.gold / items.gold.sum(axis=1, keepdims=True)
    middle = (model + gold) / 2
    divergence = (_relative_entropy(model, middle) + _relative_entropy(gold, middle)) / 2
    # rounding may leave two equal distributions a little below 0
    return np.maximum(divergence, 0.0)


def _relative_entropy(p: FloatArray, q: FloatArray) -> FloatArray:
    # 0 log 0 is 0
    """Return the Kullback–Leibler divergence of p from q in bits, row by row."""
    quotient = np.divide(p, q, out=np.ones(p.shape), where=p > 0)
    return np.asarray((p * np.log2(quotient)).sum(axis=1))


_MEANING = "Distance of the model's distribution from people's or the corpus's, in bits: 0 is best."
JENSEN_SHANNON = mean_metric(
    "jensen_shannon",
    _MEANING,
    jensen_shannon,
    lower_is_better=True,
)
