"""Rank correlation, question by question, of a model's probabilities with the gold weights (CoDa,
Paik et al. 2021)."""

from __future__ import annotations

from dataclasses import replace

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
    """Return Spearman's rho of each item: Pearson's r of the ranks, ties at their mean rank.

    NaN where either side is constant.

    Ranks are taken of the scores: they order as the probabilities do, and do not underflow.
    """
    return rank_correlations(items.scores, items.gold, items.offered)


def rank_correlations(a: FloatArray, b: FloatArray, where: BoolArray | None = None) -> FloatArray:
    """Return Spearman's rho, row by row, of all values, or of those that count.

    NaN where either side is constant.
    """
    if where is None:
        where = np.ones(a.shape, dtype=np.bool_)
    x = _centred_ranks(a, where)
    y = _centred_ranks(b, where)
    covariance = (x * y).sum(axis=1)
    variance_x = (x * x).sum(axis=1)
    variance_y = (y * y).sum(axis=1)
    return _quotient(covariance, variance_x, variance_y)


def standard_ranks(values: FloatArray, where: BoolArray) -> FloatArray:
    """Return ranks, row by row, with mean 0 and variance 1 over those that count.

    All are 0 where all values are equal.
    """
    ranks = _centred_ranks(values, where)
    size = np.maximum(where.sum(axis=1, keepdims=True), 1)
    deviation = np.sqrt((ranks**2).sum(axis=1, keepdims=True) / size)
    return np.asarray(ranks / np.where(deviation > 0, deviation, 1.0))


def kendall(items: ScoredItems) -> FloatArray:
    """Return Kendall's tau-b of each item.

    It is concordant less discordant pairs, corrected for ties; NaN where either side is constant.
    """
    width = items.scores.shape[1]
    rows = max(1, _CHUNK // (width * width))
    parts: list[FloatArray] = [np.empty(0)]
    # every pair of labels is compared: of all items at once, that would fill the memory
    for start in range(0, len(items), rows):
        stop = min(start + rows, len(items))
        parts.append(_kendall(items.take(np.arange(start, stop))))
    return np.concatenate(parts)


def _kendall(items: ScoredItems) -> FloatArray:
    left, right = np.triu_indices(items.scores.shape[1], k=1)
    both = items.offered[:, left] & items.offered[:, right]
    x = _order(items.scores, left, right, both)
    y = _order(items.gold, left, right, both)
    # products are 1 for a concordant pair, -1 for a discordant one, and 0 for a tie on either side
    balance = (x * y).sum(axis=1)
    untied_x = np.abs(x).sum(axis=1)
    untied_y = np.abs(y).sum(axis=1)
    return _quotient(balance, untied_x, untied_y)


def _order(values: FloatArray, left: IntArray, right: IntArray, both: BoolArray) -> FloatArray:
    """Return for each pair of labels whether the left one is above (1) or below (-1) the right."""
    a = values[:, left]
    b = values[:, right]
    # compared, not subtracted: the difference of two infinities is no number
    order = (a > b).astype(np.float64) - (a < b)
    return np.where(both, order, 0.0)


def _centred_ranks(values: FloatArray, offered: BoolArray) -> FloatArray:
    """Return ranks less their mean, ties at their mean rank; 0 for labels that were not offered."""
    masked = np.where(offered, values, np.nan)
    order = np.argsort(masked, axis=1)
    first, last = tie_bounds(np.take_along_axis(masked, order, axis=1))
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=1)
    # ranks count from 0, so that their mean over n labels is (n - 1) / 2
    mean_rank = (offered.sum(axis=1, keepdims=True) - 1) / 2
    return np.where(offered, ranks - mean_rank, 0.0)


def _quotient(shared: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return what two sides share relative to their geometric mean; NaN where either is 0."""
    defined = (x > 0) & (y > 0)
    undefined = np.full(shared.shape, np.nan)
    quotient = np.divide(
        shared,
        np.sqrt(x * y),
        out=undefined,
        where=defined,
    )
    # rounding must not lead beyond a perfect correlation
    return np.asarray(np.clip(quotient, -1.0, 1.0))


SPEARMAN = replace(
    mean_metric(
        "spearman",
        "Spearman's rank correlation of scores and gold weights, per question.",
        spearman,
    ),
    signed=True,
)
KENDALL = replace(
    mean_metric(
        "kendall",
        "Kendall's tau-b of scores and gold weights, per question.",
        kendall,
    ),
    signed=True,
)
