"""How far people agree: Fleiss' kappa, Krippendorff's alpha, split halves, and one person against the others.

Kappa and alpha are given as statistics that sum over items and a value of the sums, as the metrics are, so that their
intervals come from the same bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seesay.metrics.base import FloatArray, IntArray, ScoredItems
from seesay.metrics.typical_labels import typical_labels

Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class Agreement:
    """A coefficient as summable statistics: rows (items, k), and the value of their sums (..., k)."""

    rows: FloatArray
    value: Callable[[FloatArray], FloatArray]

    def __call__(self) -> float:
        """The coefficient; NaN where it is not defined, as where everyone always says the same."""
        return float(self.value(self.rows.sum(axis=0)))


def fleiss(counts: FloatArray | IntArray) -> Agreement:
    """Fleiss' kappa (Fleiss 1971) from how many people put each item (row) in each category (column).

    Items may have different numbers of judgements: each item's observed agreement weighs the same, as in the paper,
    and an item with fewer than two says nothing.
    """
    table = np.asarray(counts, dtype=np.float64)
    judged = table.sum(axis=1)
    usable = judged >= 2
    pairs = np.where(usable, judged * (judged - 1), 1.0)
    agreed = np.where(usable, (table * (table - 1)).sum(axis=1) / pairs, 0.0)
    return Agreement(np.column_stack([agreed, usable, table * usable[:, None]]), _kappa)


def _kappa(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = sums[..., 0] / sums[..., 1]
        shares = sums[..., 2:] / sums[..., 2:].sum(axis=-1, keepdims=True)
        expected = (shares**2).sum(axis=-1)
        return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)


def fleiss_kappa(counts: FloatArray | IntArray) -> float:
    """Fleiss' kappa of a table of counts.

    >>> round(fleiss_kappa(np.array([[2, 0], [0, 2], [2, 0], [1, 1]])), 4)
    0.4667
    """
    return fleiss(counts)()


def krippendorff(ratings: FloatArray, level: Level) -> Agreement:
    """Krippendorff's alpha (Krippendorff 2011) from units (rows) by observers (columns), NaN for no value."""
    if level == "interval":
        return Agreement(_spread_rows(ratings), _interval_alpha)
    values, places = np.unique(ratings[~np.isnan(ratings)], return_inverse=True)
    counts = np.zeros((len(ratings), max(len(values), 1)))
    np.add.at(counts, (np.nonzero(~np.isnan(ratings))[0], places), 1)
    return krippendorff_counts(counts, level)


def krippendorff_counts(counts: FloatArray | IntArray, level: Literal["nominal", "ordinal"]) -> Agreement:
    """The same from how often each value (column, in its order) was given to each unit (row)."""
    table = np.asarray(counts, dtype=np.float64)
    judged = table.sum(axis=1, keepdims=True)
    usable = judged >= 2
    weight = np.where(usable, 1 / np.maximum(judged - 1, 1), 0.0)
    if level == "nominal":
        same = (table * (table - 1) * weight).sum(axis=1)
        return Agreement(np.column_stack([same, table * usable]), _nominal_alpha)
    pairs = table[:, :, None] * (table[:, None, :] - np.eye(table.shape[1]))
    return Agreement((pairs * weight[:, :, None]).reshape(len(table), -1), _ordinal_alpha)


def krippendorff_alpha(ratings: FloatArray, level: Level = "nominal") -> float:
    """Krippendorff's alpha; NaN where no two values differ or none can be paired."""
    return krippendorff(ratings, level)()


def _nominal_alpha(sums: FloatArray) -> FloatArray:
    totals = sums[..., 1:]
    n = totals.sum(axis=-1)
    return _alpha(n - sums[..., 0], (n**2 - (totals**2).sum(axis=-1)) / np.maximum(n - 1, 1))


def _ordinal_alpha(sums: FloatArray) -> FloatArray:
    size = round(sums.shape[-1] ** 0.5)
    observed = sums.reshape(*sums.shape[:-1], size, size)
    totals = observed.sum(axis=-1)
    n = totals.sum(axis=-1)
    middle = totals.cumsum(axis=-1) - totals / 2
    distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1)) / np.maximum(n - 1, 1)
    return _alpha((observed * distance).sum(axis=(-2, -1)), expected)


def _spread_rows(ratings: FloatArray) -> FloatArray:
    """A unit's summed squared differences, count, sum and sum of squares: all that interval alpha needs."""
    known = ~np.isnan(ratings)
    judged = known.sum(axis=1)
    usable = judged >= 2
    centre = np.nanmean(ratings) if known.any() else 0.0  # keeps the squares small, and so the digits
    values = np.where(known, ratings - centre, 0.0)
    total, squares = values.sum(axis=1), (values**2).sum(axis=1)
    within = 2 * (judged * squares - total**2) / np.maximum(judged - 1, 1)
    return np.where(usable[:, None], np.column_stack([within, judged, total, squares]), 0.0)


def _interval_alpha(sums: FloatArray) -> FloatArray:
    within, n, total, squares = np.moveaxis(sums, -1, 0)
    return _alpha(within, 2 * (n * squares - total**2) / np.maximum(n - 1, 1))


def _alpha(observed: FloatArray, expected: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """Correlation over items of two halves of the people: the mean over splits, and stepped up to all of them."""

    correlation: float
    spearman_brown: float


def split_half(ratings: FloatArray, *, splits: int = 200, seed: int = 0) -> SplitHalf:
    """Each item's ratings fall at random into two halves; Spearman's correlation of the halves' means over items.

    People judge different items, so the split is made item by item. Spearman–Brown steps it up to the full number.
    """
    usable = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]
    if len(usable) < 3:
        return SplitHalf(float("nan"), float("nan"))
    draw = np.random.default_rng(seed)
    known = ~np.isnan(usable)
    found = []
    for _ in range(splits):
        order = np.where(known, draw.random(usable.shape), np.inf).argsort(axis=1).argsort(axis=1)
        half = (known.sum(axis=1, keepdims=True) + draw.integers(0, 2, (len(usable), 1))) // 2
        first = known & (order < half)
        means = [np.where(side, usable, 0.0).sum(axis=1) / side.sum(axis=1) for side in (first, known & ~first)]
        found.append(rank_correlation(*means))
    mean = float(np.mean(found))
    return SplitHalf(mean, 2 * mean / (1 + mean) if mean > -1 else float("nan"))


def one_against_others(ratings: FloatArray) -> float:
    """Each person's Spearman correlation with the mean of the others on the same items, averaged over people.

    What one careful person reaches: a model above it agrees with people better than they do with each other.
    """
    known = ~np.isnan(ratings)
    total, judged = np.where(known, ratings, 0.0).sum(axis=1), known.sum(axis=1)
    found = []
    for own, said in zip(ratings.T, known.T, strict=True):
        rows = said & (judged >= 2)
        if rows.sum() >= 3:
            others = (total[rows] - own[rows]) / (judged[rows] - 1)
            found.append(rank_correlation(own[rows], others))
    defined = [value for value in found if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


def leave_one_out(counts: IntArray, offered: FloatArray) -> tuple[ScoredItems, IntArray]:
    """Every judgement as an item, its gold the labels that are typical of the other people's; and the rows they are of.

    `offered` is 1 where a question has the option. A person names one label, so relaxed accuracy and true confidence
    of these items are one figure.
    """
    table = np.asarray(counts, dtype=np.int64)
    row, column = np.nonzero(np.where(table.sum(axis=1, keepdims=True) >= 2, table, 0))
    times = table[row, column]
    row, column = np.repeat(row, times), np.repeat(column, times)
    said = np.eye(table.shape[1], dtype=np.int64)[column]
    others = table[row] - said
    gold = typical_labels(others / np.maximum(others.sum(axis=1, keepdims=True), 1))
    scores = np.where(said > 0, 0.0, -np.inf)
    return ScoredItems(np.where(offered[row] > 0, scores, np.nan), gold), row


def rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Spearman's rho, ties at their mean rank; NaN where either side is constant.

    >>> rank_correlation(np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 40, 30]))
    0.8
    """
    a, b = _ranks(x), _ranks(y)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / scale if scale > 0 else float("nan")


def _ranks(values: FloatArray) -> FloatArray:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((counts.cumsum() - (counts - 1) / 2)[place.reshape(-1)], dtype=np.float64)
