"""Is the difference between two models real? Paired tests on the same questions.

The bootstrap gives the difference an interval; the sign-flip test makes no assumption but that,
were the models equal, an object's answers might as well have come from the other; McNemar's is the
classic for right and wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seesay.defaults import RESAMPLES
from seesay.metrics.base import BoolArray, FloatArray, Value
from seesay.metrics.bootstrap import (
    Clusters,
    Interval,
    Resamples,
    assumed_most,
    not_degenerate,
    summarise,
    too_few,
    wilson,
)
from seesay.metrics.counts import exact_type
from seesay.metrics.dependence import small_sample_ratio

_NOISE = 1e-12  # differences below this are rounding
_CELLS = 1 << 18
_FEWEST_DIFFERING = 4


@dataclass(frozen=True, slots=True)
class Difference:
    """Two figures, their difference a − b with its interval, and a two-sided p-value."""

    value_a: float
    value_b: float
    difference: float
    low: float
    high: float
    p: float


def paired_bootstrap(
    a: FloatArray,
    b: FloatArray,
    resamples: Resamples,
    value: Value,
    *,
    where: BoolArray | None = None,
    most: float = 1.0,
) -> Difference:
    """Both models' statistics (t, n, k) under the same resamples of objects.

    p is twice the smaller share of resamples on either side of zero (Efron & Tibshirani 1993,
    §15.4), with the observed sample counted as one more resample so that it is never 0.
    A figure is `most` at most.
    """
    _same_shape(a, b)
    sums_a = resamples.sums(a, where)
    sums_b = resamples.sums(b, where)
    figure_a, figure_b = resamples.values([(sums_a, value), (sums_b, value)])
    widening = resamples.widening(sums_a, value, minus=sums_b)
    return difference(
        figure_a,
        figure_b,
        objects=resamples.count_objects(sums_a),
        differing=resamples.count_objects(sums_a - sums_b),
        widening=widening,
        most=most,
    )


def difference(
    a: tuple[float, FloatArray],
    b: tuple[float, FloatArray],
    *,
    objects: int,
    differing: int,
    widening: float = 1.0,
    most: float = 1.0,
) -> Difference:
    """Return two figures as one difference.

    Each is given as it is and under the same resamples of so many objects; on those that are
    `differing` the two figures differ. `widening` is the ratio by which differences are too close
    together because objects share things; where they share none, that of so few objects takes its
    place. Figures from 0 to `most` are no farther apart than `most`, however wide the interval.
    """
    value_a, resampled_a = a
    value_b, resampled_b = b
    point = value_a - value_b
    # where objects share things, few things are allowed for already
    ratio = widening if widening > 1 else _few_objects_ratio(objects, differing)
    differences = point + ratio * (resampled_a - resampled_b - point)
    between = _not_certain(summarise(point, differences), objects, most)
    if (
        not np.isnan(between.low)
        and _is_within(resampled_a, most)
        and _is_within(resampled_b, most)
    ):
        between = Interval(point, max(between.low, -most), min(between.high, most))
    defined = differences[~np.isnan(differences)]
    below = int((defined <= _NOISE).sum())
    above = int((defined >= -_NOISE).sum())
    p = float("nan")
    if not np.isnan(between.low):
        p = min(1.0, 2 * (1 + min(below, above)) / (1 + len(defined)))
    return Difference(
        value_a,
        value_b,
        between.value,
        between.low,
        between.high,
        p,
    )


def _is_within(resampled: FloatArray, most: float) -> bool:
    """Whether a figure is from 0 to `most` in every resample, as it is not where it is signed."""
    return bool(np.nanmin(resampled) >= 0 and np.nanmax(resampled) <= most)


def _few_objects_ratio(objects: int, differing: int) -> float:
    """Return by how much resampled differences of so few objects are too close together.

    Where fewer than ten objects tell the figures apart, there is no more evidence than these give,
    however many agree. Resamples of fewer than four of them are wide enough with the ratio of four.
    """
    if too_few(differing):
        return small_sample_ratio(max(differing, _FEWEST_DIFFERING))
    return small_sample_ratio(objects)


def _not_certain(between: Interval, objects: int, most: float) -> Interval:
    """Return the interval of a difference, with room for doubt where all resamples are alike.

    Where one model is always right and the other never, it is Wilson's interval of a share of 1.
    Where they differ equally on every object, as two that answer alike, objects that were not seen
    may differ in either direction.
    """
    most = assumed_most(most, between.value)
    if abs(between.value) == most:
        inner = between.value * wilson(1.0, objects)[0]
        low = min(inner, between.value)
        high = max(inner, between.value)
        return Interval(between.value, low, high)
    if abs(between.value) < most:
        return not_degenerate(between, objects, signed=True, most=most)
    return between


def sign_flip(  # noqa: PLR0913 - two models, their items, the metric, and how it is resampled
    a: FloatArray,
    b: FloatArray,
    objects: Sequence[str] | npt.NDArray[np.generic],
    value: Value,
    *,
    where: BoolArray | None = None,
    flips: int = RESAMPLES,
    seed: int = 0,
    is_mean: bool = False,
    widening: float = 1.0,
) -> float:
    """Return a two-sided p-value by approximate randomisation (Noreen 1989).

    The models' statistics are swapped at random, object by object.

    With sums S = A + B and D = A − B per object, a swap turns the sign of D, so that the shuffled
    models' totals are (ΣS ± Σ±D) / 2 for any metric. p = (1 + shuffles at least as far apart) / (1
    + shuffles). Of a metric that `is_mean`, with weights that are the same for both models, the
    difference is a plain sum over objects. Objects that share things are not swapped independently:
    `widening` is the ratio by which shuffles are too close together.
    """
    _same_shape(a, b)
    clusters = Clusters(objects)
    sums_a = clusters.sums(a, where)
    sums_b = clusters.sums(b, where)
    total = (sums_a + sums_b).sum(axis=0)
    gaps = sums_a - sums_b
    # objects on which the models agree change nothing when they are swapped, and are left out
    if is_mean and not gaps[..., 1].any() and total[..., 1].all():
        gains = 2 * gaps[..., 0] / total[..., 1]
        apart = gains.mean(axis=1, keepdims=True)
        apart = apart[apart.any(axis=1)]

        def distance(gap: FloatArray) -> FloatArray:
            return np.asarray(np.abs(gap[..., 0]))
    else:
        apart = gaps.reshape(clusters.size, -1)
        differing = np.flatnonzero(apart.any(axis=0))
        apart = apart[apart.any(axis=1)][:, differing]

        def distance(gap: FloatArray) -> FloatArray:
            whole = np.zeros((*gap.shape[:-1], total.size))
            whole[..., differing] = gap
            whole = whole.reshape(*gap.shape[:-1], *total.shape)
            value_a = value((total + whole) / 2)
            value_b = value((total - whole) / 2)
            return np.asarray(np.abs((value_a - value_b).mean(axis=-1)))

    observed = float(distance(apart.sum(axis=0)))
    if np.isnan(observed):
        return observed
    bits = np.random.SFC64(seed)
    rows = max(1, _CELLS // max(1, len(apart)))
    extreme = 0
    kind = exact_type(apart)
    apart = apart.astype(kind)
    for start in range(0, flips, rows):
        signs = _signs(bits, min(rows, flips - start), len(apart)).astype(kind)
        gaps_of_shuffles = (signs @ apart).astype(np.float64, copy=False)
        is_nearer = widening * distance(gaps_of_shuffles) < observed - _NOISE
        # not "at least as far": NaN counts against the difference
        extreme += int((~is_nearer).sum())
    return (1 + extreme) / (1 + flips)


def mcnemar(a: FloatArray, b: FloatArray, *, where: BoolArray | None = None) -> float:
    """Exact two-sided McNemar p-value from the statistics (t, n, 2) of a right-or-wrong metric.

    An item is right where its mean credit over templates exceeds one half, and wrong where it is
    below: templates of one question are not independent, so each question counts once. A tie is
    neither: an item with one in a template, one that is right in half of its templates, and one
    that is not defined are left out. NaN where none is left.
    """
    _same_shape(a, b)
    if where is not None:
        a = a[:, where]
        b = b[:, where]
    right_a, decided_a = _right(a)
    right_b, decided_b = _right(b)
    decided = decided_a & decided_b
    if not decided.any():
        return float("nan")
    only_a = int((right_a & ~right_b & decided).sum())
    only_b = int((right_b & ~right_a & decided).sum())
    return binomial_two_sided(only_a, only_b)


def binomial_two_sided(first: int, second: int) -> float:
    """The probability that a fair coin falls at least as unevenly as first : second.

    >>> round(binomial_two_sided(9, 2), 5)
    0.06543
    """
    n = first + second
    fewer = min(first, second)
    if not n:
        return 1.0
    # binomial coefficients as logarithms, each from the one before: they overflow beyond n = 1029
    heads = np.arange(1, fewer + 1)
    log_steps = np.log((n - heads + 1) / heads)
    log_choices = np.concatenate([[0.0], np.cumsum(log_steps)])
    peak = log_choices.max()
    log_sum = peak + np.log(np.exp(log_choices - peak).sum())
    log_tail = log_sum - n * np.log(2)
    return min(1.0, float(2 * np.exp(log_tail)))


def holm(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """Return p-values after Holm's (1979) step-down correction for several comparisons.

    They stay in the order given.

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    # the smallest is multiplied by all comparisons, the next by one fewer, and so on;
    # none may fall below the one before it
    remaining = np.arange(len(p), 0, -1)
    stepped = np.maximum.accumulate(p[order] * remaining)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _right(stats: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return which items are right, and which are right or wrong."""
    credit, weight = stats.sum(axis=0).T
    settled = np.isin(stats[..., 0], (0.0, 1.0)).all(axis=0)
    is_right = credit > 0.5 * weight
    is_wrong = credit < 0.5 * weight
    return np.asarray(is_right), np.asarray(settled & (is_right | is_wrong))


def _signs(bits: np.random.SFC64, rows: int, width: int) -> npt.NDArray[np.int8]:
    """Return signs drawn at random, one bit each: raw bits are a stream that NumPy keeps."""
    size = rows * width
    raw = bits.random_raw((size + 63) // 64).view(np.uint8)
    coins = np.unpackbits(raw, count=size).reshape(rows, width)
    return np.asarray(1 - 2 * coins.view(np.int8))


def _same_shape(a: FloatArray, b: FloatArray) -> None:
    """Refuse statistics of different items."""
    if a.shape != b.shape:
        raise ValueError(
            f"the two models need statistics of the same items: got {a.shape} and {b.shape}"
        )
