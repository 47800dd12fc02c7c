"""An interval of Spearman's rho over items that share things, such as pairs of words.

Each thing is left out in turn, with all its items (the jackknife; Tukey 1958), on Fisher's z scale.
A bootstrap over pairs, even widened by what they share, held the truth in 85 to 90 % of simulated
worlds of 10 to 40 words with strong effects; leaving words out holds it in 92 to 97 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from seesay.defaults import LEVEL
from seesay.metrics.base import BoolArray, FloatArray
from seesay.metrics.bootstrap import Interval, not_degenerate
from seesay.metrics.dependence import student_over_normal
from seesay.metrics.rank_correlation import rank_correlations, standard_ranks

_ROUNDING = 1e-9


def correlation_interval(
    a: FloatArray,
    b: FloatArray,
    where: BoolArray | None = None,
    *,
    things: Sequence[Sequence[str]],
) -> Interval:
    """Return the mean over rows of Spearman's rho of a and b (rows × items), with its interval.

    `things` holds one or two things of each item; `where` says which items of a row count. Rows
    that have no correlation are left out. Where fewer than three things can be left out, any
    correlation is possible.
    """
    if where is None:
        where = np.ones(a.shape, dtype=np.bool_)
    rhos = rank_correlations(a, b, where)
    rho = _mean(rhos)
    names = sorted({name for each in things for name in each})
    without = []
    for name in names:
        has_thing = np.array([name in each for each in things])
        without.append(_mean(rank_correlations(a, b, where & ~has_thing)))
    defined = np.array([value for value in without if not math.isnan(value)])
    count = len(defined)
    if math.isnan(rho):
        return Interval(rho, math.nan, math.nan)
    if count < 3:
        return Interval(rho, -1.0, 1.0)
    if abs(rho) > 1 - _ROUNDING:
        return not_degenerate(Interval(rho, rho, rho), count, signed=True)
    deviations = defined - defined.mean()
    by_thing = (count - 1) / count * float(deviations @ deviations)
    influence = _influence(a, b, where, rhos)
    by_item = float(influence @ influence)
    # an item of two things is left out with either: it would count twice
    if any(len(set(each)) > 1 for each in things):
        by_thing -= by_item
    variance = max(by_thing, by_item)
    # Fisher's z: the error of a correlation is smaller near 1, and lopsided
    error = math.sqrt(variance) / (1 - rho**2)
    normal = NormalDist().inv_cdf((1 + LEVEL) / 2)
    reach = normal * student_over_normal(count - 2) * error
    z = math.atanh(rho)
    return Interval(rho, math.tanh(z - reach), math.tanh(z + reach))


def _influence(a: FloatArray, b: FloatArray, where: BoolArray, rhos: FloatArray) -> FloatArray:
    """Return what each item adds to the deviation of the mean correlation, to first order."""
    x = standard_ranks(a, where)
    y = standard_ranks(b, where)
    items = where.sum(axis=1, keepdims=True)
    of_rows = (x * y - rhos[:, None] * (x**2 + y**2) / 2) / np.maximum(items, 1)
    return np.asarray(of_rows[~np.isnan(rhos)].mean(axis=0))


def _mean(rhos: FloatArray) -> float:
    """Return the mean of the correlations that are defined; NaN where none is."""
    defined = rhos[~np.isnan(rhos)]
    if not defined.size:
        return math.nan
    return float(defined.mean())
