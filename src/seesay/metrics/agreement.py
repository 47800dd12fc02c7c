"""How far people agree: kappa, Krippendorff's alpha, split halves, and one person against the
others.

Fleiss' kappa and alpha are statistics that sum over items and a value of the sums, like the
metrics, so that their intervals come from the same bootstrap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from seesay.metrics.base import BoolArray, FloatArray, IntArray, ScoredItems
from seesay.metrics.rank_correlation import rank_correlations
from seesay.metrics.typical_labels import typical_labels

Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class AgreementStatistics:
    """A coefficient as summable statistics.

    `rows` are (items, k), and `value` gives the coefficient of their sums (..., k).
    """

    rows: FloatArray
    value: Callable[[FloatArray], FloatArray]

    def __call__(self) -> float:
        """Return the coefficient.

        NaN where it is undefined, as where everyone always gives the same answer.
        """
        return float(self.value(self.rows.sum(axis=0)))


def fleiss(counts: FloatArray | IntArray) -> AgreementStatistics:
    """Return Fleiss' kappa (Fleiss 1971).

    Counts say how many people put each item (row) in each category (column).

    Items may have different numbers of judgements: the observed agreement of each item has the same
    weight, as in the paper, and an item with fewer than two judgements is ignored.

    >>> round(fleiss(np.array([[2, 0], [0, 2], [2, 0], [1, 1]]))(), 4)
    0.4667
    """
    table = np.asarray(counts, dtype=np.float64)
    judged = table.sum(axis=1)
    usable = judged >= 2
    # the share of an item's ordered pairs of judgements that agree
    pairs = np.where(usable, judged * (judged - 1), 1.0)
    agreeing_pairs = (table * (table - 1)).sum(axis=1)
    agreed = np.where(usable, agreeing_pairs / pairs, 0.0)
    usable_counts = table * usable[:, None]
    rows = np.column_stack([agreed, usable, usable_counts])
    return AgreementStatistics(rows, _fleiss_kappa)


def _fleiss_kappa(sums: FloatArray) -> FloatArray:
    """Return kappa from sums of agreement, of items, and of judgements by category."""
    agreed = sums[..., 0]
    items = sums[..., 1]
    counts = sums[..., 2:]
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = agreed / items
        shares = counts / counts.sum(axis=-1, keepdims=True)
    # two judgements drawn at random agree as often as the categories' shares make them
    expected = (shares**2).sum(axis=-1)
    return _chance_corrected(observed, expected)


def _chance_corrected(
    observed: FloatArray | np.float64, expected: FloatArray | np.float64
) -> FloatArray:
    """Return agreement beyond chance, relative to the largest possible.

    NaN where chance alone agrees always.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(
            expected < 1,
            (observed - expected) / (1 - expected),
            np.nan,
        )


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return Cohen's kappa (Cohen 1960) of two raters' labels of the same items.

    NaN where both always use the same label.

    >>> round(cohen_kappa(["food", "food", "animal"], ["food", "animal", "animal"]), 12)
    0.4
    """
    if not first:
        return float("nan")
    counts_first = Counter(first)
    counts_second = Counter(second)
    chance_pairs = sum(count * counts_second[label] for label, count in counts_first.items())
    expected = chance_pairs / len(first) ** 2
    agreeing = sum(a == b for a, b in zip(first, second, strict=True))
    observed = agreeing / len(first)
    return float(_chance_corrected(np.float64(observed), np.float64(expected)))


def krippendorff(ratings: FloatArray, level: Level) -> AgreementStatistics:
    """Return Krippendorff's alpha (Krippendorff 2011).

    Ratings are units (rows) by observers (columns), NaN for no value.
    """
    if level == "interval":
        return AgreementStatistics(_spread_rows(ratings), _interval_alpha)
    rated = ~np.isnan(ratings)
    values, columns = np.unique(ratings[rated], return_inverse=True)
    rows, _ = np.nonzero(rated)
    counts = np.zeros((len(ratings), max(len(values), 1)))
    # `add.at`, since a unit may have one value several times
    np.add.at(counts, (rows, columns), 1)
    return krippendorff_counts(counts, level)


def krippendorff_counts(
    counts: FloatArray | IntArray, level: Literal["nominal", "ordinal"]
) -> AgreementStatistics:
    """Return Krippendorff's alpha (Krippendorff 2011) of nominal or ordinal values.

    Counts say how often each value (column, in order) was given to each unit (row).
    """
    table = np.asarray(counts, dtype=np.float64)
    judged = table.sum(axis=1, keepdims=True)
    usable = judged >= 2
    # a unit's pairs enter the coincidence matrix with 1 / (m - 1), so that each value counts once
    weight = np.where(usable, 1 / np.maximum(judged - 1, 1), 0.0)
    if level == "nominal":
        # only the diagonal of the matrix is needed: all differences are alike
        same = (table * (table - 1) * weight).sum(axis=1)
        rows = np.column_stack([same, table * usable])
        return AgreementStatistics(rows, _nominal_alpha)
    # a value makes no pair with itself: one less on the diagonal
    others = table[:, None, :] - np.eye(table.shape[1])
    pairs = table[:, :, None] * others
    coincidences = pairs * weight[:, :, None]
    return AgreementStatistics(coincidences.reshape(len(table), -1), _ordinal_alpha)


def _nominal_alpha(sums: FloatArray) -> FloatArray:
    """Return alpha where two values are the same or differ.

    The first sum is of pairs that agree, the others are how often each value was given.
    """
    same = sums[..., 0]
    totals = sums[..., 1:]
    n = totals.sum(axis=-1)
    different_pairs = n**2 - (totals**2).sum(axis=-1)
    return _alpha(n - same, different_pairs / np.maximum(n - 1, 1))


def _ordinal_alpha(sums: FloatArray) -> FloatArray:
    """Return alpha where values have an order, from the flattened coincidence matrix."""
    size = round(sums.shape[-1] ** 0.5)
    observed = sums.reshape(*sums.shape[:-1], size, size)
    totals = observed.sum(axis=-1)
    n = totals.sum(axis=-1)
    # the ordinal difference of two values: how many judgements lie between their middles, squared
    middle = totals.cumsum(axis=-1) - totals / 2
    distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    chance_pairs = totals[..., :, None] * totals[..., None, :]
    disagreement = (observed * distance).sum(axis=(-2, -1))
    chance_disagreement = (chance_pairs * distance).sum(axis=(-2, -1))
    return _alpha(disagreement, chance_disagreement / np.maximum(n - 1, 1))


def _spread_rows(ratings: FloatArray) -> FloatArray:
    """Return all that interval alpha needs of each unit.

    That is the summed squared differences within it, its count, its sum and its sum of squares.
    """
    rated = ~np.isnan(ratings)
    judged = rated.sum(axis=1)
    usable = judged >= 2
    # keeps the squares small, for numerical precision
    centre = np.nanmean(ratings) if rated.any() else 0.0
    values = np.where(rated, ratings - centre, 0.0)
    total = values.sum(axis=1)
    squares = (values**2).sum(axis=1)
    # the squared differences of all pairs, without a matrix of them: m Σx² - (Σx)²
    pair_differences = judged * squares - total**2
    within = 2 * pair_differences / np.maximum(judged - 1, 1)
    rows = np.column_stack([within, judged, total, squares])
    return np.where(usable[:, None], rows, 0.0)


def _interval_alpha(sums: FloatArray) -> FloatArray:
    """Return alpha where values are numbers, whose squared difference is the disagreement."""
    within, n, total, squares = np.moveaxis(sums, -1, 0)
    pair_differences = n * squares - total**2
    return _alpha(within, 2 * pair_differences / np.maximum(n - 1, 1))


def _alpha(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Return one less the observed over the expected disagreement; NaN where none is expected."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """Correlation over items of two halves of the people.

    The mean over splits, and what Spearman–Brown makes of it for the full number of people.
    """

    correlation: float
    spearman_brown: float


class Correlates(NamedTuple):
    """What is correlated over items, row by row: a row is a split, or a person."""

    a: FloatArray
    b: FloatArray
    where: BoolArray
    """The items of a row that count."""


def split_half(ratings: FloatArray, *, splits: int = 200, seed: int = 0) -> SplitHalf:
    """Return how far two random halves of each item's ratings agree.

    That is Spearman's correlation of the halves' means over items, averaged over splits.
    Spearman–Brown corrects to the full number of people.
    """
    halves = split_halves(ratings, splits=splits, seed=seed)
    mean = float(rank_correlations(*halves).mean())
    return SplitHalf(mean, step_up(mean))


def split_halves(ratings: FloatArray, *, splits: int, seed: int = 0) -> Correlates:
    """Split each item's ratings at random, and return the means of the halves.

    People judge different items, so the split is made item by item. Fewer than three items with
    two ratings are not correlated.
    """
    rated = ~np.isnan(ratings)
    judged = rated.sum(axis=1, keepdims=True)
    is_usable = judged[:, 0] >= 2
    if is_usable.sum() < 3:
        is_usable[:] = False
    draw = np.random.default_rng(seed)
    firsts = []
    seconds = []
    for _ in range(splits):
        # a random order of each item's ratings; those that are missing stand last
        keys = np.where(rated, draw.random(ratings.shape), np.inf)
        order = keys.argsort(axis=1).argsort(axis=1)
        # an odd number is rounded up or down by a coin, lest one half always be the larger
        coins = draw.integers(0, 2, (len(ratings), 1))
        half = (judged + coins) // 2
        first = rated & (order < half)
        firsts.append(_means(ratings, first))
        seconds.append(_means(ratings, rated & ~first))
    where = np.tile(is_usable, (splits, 1))
    return Correlates(np.array(firsts), np.array(seconds), where)


def step_up(correlation: float) -> float:
    """Return what Spearman–Brown makes of the correlation of two halves, for all the people."""
    if correlation <= -1:
        return float("nan")
    return 2 * correlation / (1 + correlation)


def _means(ratings: FloatArray, where: BoolArray) -> FloatArray:
    """Return the mean of each item's ratings that count; 0 where there are none."""
    total = np.where(where, ratings, 0.0).sum(axis=1)
    return np.asarray(total / np.maximum(where.sum(axis=1), 1))


def one_against_others(ratings: FloatArray) -> float:
    """Return how far one person agrees with the others.

    That is each person's Spearman correlation with the mean of the others on the same items,
    averaged over people.

    A model above this value agrees with people better than one careful person does with the others.
    """
    correlations = rank_correlations(*each_against_others(ratings))
    defined = correlations[~np.isnan(correlations)]
    if not defined.size:
        return float("nan")
    return float(defined.mean())


def each_against_others(ratings: FloatArray) -> Correlates:
    """Return each person's ratings, and the means of the others on the same items.

    A person who shares fewer than three items with others is not correlated.
    """
    rated = ~np.isnan(ratings)
    total = np.where(rated, ratings, 0.0).sum(axis=1, keepdims=True)
    judged = rated.sum(axis=1, keepdims=True)
    others = (total - ratings) / np.maximum(judged - 1, 1)
    where = rated & (judged >= 2)
    where &= where.sum(axis=0) >= 3
    return Correlates(ratings.T, others.T, where.T)


def leave_one_out(counts: IntArray, offered: FloatArray) -> tuple[ScoredItems, IntArray]:
    """Return every judgement as an item, and the row of each.

    Its gold labels are those that are typical of the other people's answers.

    `offered` is 1 where a question has the option. A person names one label, so relaxed accuracy
    and true confidence of these items are the same.
    """
    table = np.asarray(counts, dtype=np.int64)
    judged = table.sum(axis=1, keepdims=True)
    row, column = np.nonzero(np.where(judged >= 2, table, 0))
    times = table[row, column]
    row = np.repeat(row, times)
    column = np.repeat(column, times)
    answer = np.eye(table.shape[1], dtype=np.int64)[column]
    others = table[row] - answer
    shares = others / np.maximum(others.sum(axis=1, keepdims=True), 1)
    scores = np.where(answer > 0, 0.0, -np.inf)
    offered_scores = np.where(offered[row] > 0, scores, np.nan)
    return ScoredItems(offered_scores, typical_labels(shares)), row


def rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Spearman's rho with ties at their mean rank; NaN where either side is constant.

    >>> rank_correlation(np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 40, 30]))
    0.8
    """
    return float(rank_correlations(x[None], y[None])[0])
