"""How far people agree: kappa, Krippendorff's alpha, split halves, and one person against the
others.

Fleiss' kappa and alpha are statistics that sum over items and a value of the sums, like the
metrics, so that their intervals come from the same bootstrap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seesay.metrics.base import FloatArray, IntArray, ScoredItems
from seesay.metrics.rank_correlation import rank_correlations
from seesay.metrics.typical_labels import typical_labels

Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class AgreementStatistics:
    """A coefficient as summable statistics: rows (items, k), and the value of their sums (...,
    k)."""

    rows: FloatArray
    value: Callable[[FloatArray], FloatArray]

    def __call__(self) -> float:
        """The coefficient; NaN where it is undefined, as where everyone always gives the same
        answer."""
        return float(self.value(self.rows.sum(axis=0)))


def fleiss(counts: FloatArray | IntArray) -> AgreementStatistics:
    """Fleiss' kappa (Fleiss 1971) from how many people put each item (row) in each category
    (column).

    Items may have different numbers of judgements: the observed agreement of each item has the same
    weight, as in the paper, and an item with fewer than two judgements is ignored.

    >>> round(fleiss(np.array([[2, 0], [0, 2], [2, 0], [1, 1]]))(), 4)
    0.4667
    """
    table = np.asarray(counts, dtype=np.float64)
    judged = table.sum(axis=1)
    usable = judged >= 2
    pairs = np.where(usable, judged * (judged - 1), 1.0)
    agreed = np.where(usable, (table * (table - 1)).sum(axis=1) / pairs, 0.0)
    return AgreementStatistics(
        np.column_stack([agreed, usable, table * usable[:, None]]), _fleiss_kappa
    )


def _fleiss_kappa(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = sums[..., 0] / sums[..., 1]
        shares = sums[..., 2:] / sums[..., 2:].sum(axis=-1, keepdims=True)
    return _chance_corrected(observed, (shares**2).sum(axis=-1))


def _chance_corrected(
    observed: FloatArray | np.float64, expected: FloatArray | np.float64
) -> FloatArray:
    """Kappa: agreement beyond chance, relative to the largest possible; NaN where chance alone
    agrees always."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa (Cohen 1960) of two raters' labels of the same items; NaN where both always use
    the same label.

    >>> round(cohen_kappa(["food", "food", "animal"], ["food", "animal", "animal"]), 12)
    0.4
    """
    if not first:
        return float("nan")
    counts = Counter(first), Counter(second)
    expected = sum(count * counts[1][label] for label, count in counts[0].items()) / len(first) ** 2
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / len(first)
    return float(_chance_corrected(np.float64(observed), np.float64(expected)))


def krippendorff(ratings: FloatArray, level: Level) -> AgreementStatistics:
    """Krippendorff's alpha (Krippendorff 2011) from units (rows) by observers (columns), NaN for no
    value."""
    if level == "interval":
        return AgreementStatistics(_spread_rows(ratings), _interval_alpha)
    values, places = np.unique(ratings[~np.isnan(ratings)], return_inverse=True)
    counts = np.zeros((len(ratings), max(len(values), 1)))
    np.add.at(counts, (np.nonzero(~np.isnan(ratings))[0], places), 1)
    return krippendorff_counts(counts, level)


def krippendorff_counts(
    counts: FloatArray | IntArray, level: Literal["nominal", "ordinal"]
) -> AgreementStatistics:
    """The same from how often each value (column, in order) was given to each unit (row)."""
    table = np.asarray(counts, dtype=np.float64)
    judged = table.sum(axis=1, keepdims=True)
    usable = judged >= 2
    weight = np.where(usable, 1 / np.maximum(judged - 1, 1), 0.0)
    if level == "nominal":
        same = (table * (table - 1) * weight).sum(axis=1)
        return AgreementStatistics(np.column_stack([same, table * usable]), _nominal_alpha)
    pairs = table[:, :, None] * (table[:, None, :] - np.eye(table.shape[1]))
    return AgreementStatistics((pairs * weight[:, :, None]).reshape(len(table), -1), _ordinal_alpha)


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
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(
        axis=(-2, -1)
    ) / np.maximum(n - 1, 1)
    return _alpha((observed * distance).sum(axis=(-2, -1)), expected)


def _spread_rows(ratings: FloatArray) -> FloatArray:
    """Per unit the summed squared differences, count, sum and sum of squares: all that interval
    alpha needs."""
    rated = ~np.isnan(ratings)
    judged = rated.sum(axis=1)
    usable = judged >= 2
    # keeps the squares small, for numerical precision
    centre = np.nanmean(ratings) if rated.any() else 0.0
    values = np.where(rated, ratings - centre, 0.0)
    total = values.sum(axis=1)
    squares = (values**2).sum(axis=1)
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
    """Correlation over items of two halves of the people: mean over splits, and corrected to the
    full number."""

    correlation: float
    spearman_brown: float


def split_half(ratings: FloatArray, *, splits: int = 200, seed: int = 0) -> SplitHalf:
    """Split each item's ratings at random into two halves; Spearman's correlation of the halves'
    means over items.

    People judge different items, so the split is made item by item. Spearman–Brown corrects to the
    full number of people.
    """
    usable = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]
    if len(usable) < 3:
        return SplitHalf(float("nan"), float("nan"))
    draw = np.random.default_rng(seed)
    rated = ~np.isnan(usable)
    correlations = []
    for _ in range(splits):
        order = np.where(rated, draw.random(usable.shape), np.inf).argsort(axis=1).argsort(axis=1)
        half = (rated.sum(axis=1, keepdims=True) + draw.integers(0, 2, (len(usable), 1))) // 2
        first = rated & (order < half)
        means = [
            np.where(side, usable, 0.0).sum(axis=1) / side.sum(axis=1)
            for side in (first, rated & ~first)
        ]
        correlations.append(rank_correlation(*means))
    mean = float(np.mean(correlations))
    return SplitHalf(mean, 2 * mean / (1 + mean) if mean > -1 else float("nan"))


def one_against_others(ratings: FloatArray) -> float:
    """Each person's Spearman correlation with the mean of the others on the same items, averaged
    over people.

    A model above this value agrees with people better than one careful person does with the others.
    """
    rated = ~np.isnan(ratings)
    total = np.where(rated, ratings, 0.0).sum(axis=1)
    judged = rated.sum(axis=1)
    correlations = []
    for own, answered in zip(ratings.T, rated.T, strict=True):
        rows = answered & (judged >= 2)
        if rows.sum() >= 3:
            others = (total[rows] - own[rows]) / (judged[rows] - 1)
            correlations.append(rank_correlation(own[rows], others))
    defined = [value for value in correlations if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


def leave_one_out(counts: IntArray, offered: FloatArray) -> tuple[ScoredItems, IntArray]:
    """Every judgement as an item whose gold labels are typical of the other people's answers, and
    the row of each.

    `offered` is 1 where a question has the option. A person names one label, so relaxed accuracy
    and true confidence of these items are the same.
    """
    table = np.asarray(counts, dtype=np.int64)
    row, column = np.nonzero(np.where(table.sum(axis=1, keepdims=True) >= 2, table, 0))
    times = table[row, column]
    row = np.repeat(row, times)
    column = np.repeat(column, times)
    chosen = np.eye(table.shape[1], dtype=np.int64)[column]
    others = table[row] - chosen
    gold = typical_labels(others / np.maximum(others.sum(axis=1, keepdims=True), 1))
    scores = np.where(chosen > 0, 0.0, -np.inf)
    return ScoredItems(np.where(offered[row] > 0, scores, np.nan), gold), row


def rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Spearman's rho with ties at their mean rank; NaN where either side is constant.

    >>> rank_correlation(np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 40, 30]))
    0.8
    """
    return float(rank_correlations(x[None], y[None])[0])
