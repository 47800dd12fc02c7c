"""Rank correlation, question by question, of a model's probabilities with the gold weights (CoDa,
Paik et al. 2021)."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import (
    BoolArray,
    FloatArray,
    IntArray,
    ScoredItems,
    mean_metric,
    tie_bounds,
)

_CHUNK = 1 << 22  # pairs compared at once


def spearman(items: ScoredItems) -> FloatArray:
    """Spearman's rho: Pearson's r of the ranks, ties at their mean rank. NaN where either side is
    constant.

    Ranks are taken of the scores: they order as the probabilities do, and do not underflow.
    """
    return rank_correlations(items.scores, items.gold, items.offered)


def rank_correlations(a: FloatArray, b: FloatArray, where: BoolArray | None = None) -> FloatArray:
    """Spearman's rho, row by row, of all values, or of those that count; NaN where either side is
    constant."""
    counted = np.ones(a.shape, dtype=np.bool_) if where is None else where
    x = _centred_ranks(a, counted)
    y = _centred_ranks(b, counted)
    return _quotient((x * y).sum(axis=1), (x * x).sum(axis=1), (y * y).sum(axis=1))


def kendall(items: ScoredItems) -> FloatArray:
    """Kendall's tau-b: concordant less discordant pairs, corrected for ties. NaN where either side
    is constant."""
    width = items.scores.shape[1]
    rows = max(1, _CHUNK // (width * width))
    parts = [
        _kendall(items.take(np.arange(i, min(i + rows, len(items)))))
        for i in range(0, len(items), rows)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _kendall(items: ScoredItems) -> FloatArray:
    left, right = np.triu_indices(items.scores.shape[1], k=1)
    both = items.offered[:, left] & items.offered[:, right]
    x = _order(items.scores, left, right, both)
    y = _order(items.gold, left, right, both)
    return _quotient((x * y).sum(axis=1), np.abs(x).sum(axis=1), np.abs(y).sum(axis=1))


def _order(values: FloatArray, left: IntArray, right: IntArray, both: BoolArray) -> FloatArray:
    a = values[:, left]
    b = values[:, right]
    return np.where(both, (a > b).astype(np.float64) - (a < b), 0.0)


def _centred_ranks(values: FloatArray, offered: BoolArray) -> FloatArray:
    masked = np.where(offered, values, np.nan)
    order = np.argsort(masked, axis=1)
    first, last = tie_bounds(np.take_along_axis(masked, order, axis=1))
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=1)
    return np.where(offered, ranks - (offered.sum(axis=1, keepdims=True) - 1) / 2, 0.0)


def _quotient(shared: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    defined = (x > 0) & (y > 0)
    quotient = np.divide(shared, np.sqrt(x * y), out=np.full(shared.shape, np.nan), where=defined)
    return np.asarray(np.clip(quotient, -1.0, 1.0))


SPEARMAN = mean_metric(
    "spearman", "Spearman's rank correlation of scores and gold weights, per question.", spearman
)
KENDALL = mean_metric(
    "kendall", "Kendall's tau-b of scores and gold weights, per question.", kendall
)
