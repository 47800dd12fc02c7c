"""The threshold between small and big: the functions that Schmidt, Goodman, Barner & Tenenbaum
(2009) compare.

Each takes the values of a reference set and k, and returns T: an object is big if its value is
above T. MALeViC uses RH-R with k from Normal(0.29, 0.066) (Pezzelle & Fernández 2019, section 4,
"Threshold Function"). The defaults of k for the others are ours: they call about as many
objects big as RH-R does in MALeViC's scenes.

All functions work on many sets at once: `values` and `members` are (…, n), `k` is (…), and T is
(…). Each has a crossing: the k at which T passes a given value. Whoever knows the distribution of k
but not a speaker's own has from it the probability that the value is called big.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seesay.errors import refuse_unknown

Values = NDArray[np.float64]
Members = NDArray[np.bool_]


def highest(values: Values, members: Members) -> Values:
    """Return the largest value of every set."""
    return np.asarray(_across(np.where(members, values, -np.inf)).max(axis=0))


def lowest(values: Values, members: Members) -> Values:
    """Return the smallest value of every set."""
    return np.asarray(_across(np.where(members, values, np.inf)).min(axis=0))


def _across(values: Values) -> Values:
    """Move the last axis to the front, in memory too.

    A few values of many sets are compared much faster in that order.
    """
    return np.ascontiguousarray(values.transpose(-1, *range(values.ndim - 1)))


def relative_by_range(values: Values, members: Members, k: Values) -> Values:
    """Return RH-R's T: the top k of the range of sizes are big."""
    top = highest(values, members)
    bottom = lowest(values, members)
    # T(C) = Max - k * (Max - Min), the paper's definition
    return top - k * (top - bottom)


def relative_by_number(values: Values, members: Members, k: Values) -> Values:
    """Return RH-N's T: the top k of the objects by number are big.

    T is the value of the first object below them.
    """
    count = members.sum(axis=-1)
    # NumPy sorts upwards only; objects outside the set become the last by their -inf.
    descending = -np.sort(-np.where(members, values, -np.inf), axis=-1)
    first_below = np.clip(np.ceil(k * count), 0, count - 1).astype(np.intp)
    line = np.take_along_axis(descending, first_below[..., None], axis=-1)
    return line[..., 0]


def relative_by_deviation(values: Values, members: Members, k: Values) -> Values:
    """Return RH-SD's T: more than k standard deviations above the mean of the set is big."""
    count = members.sum(axis=-1)
    mean = np.where(members, values, 0.0).sum(axis=-1) / count
    squares = np.where(members, (values - mean[..., None]) ** 2, 0.0)
    deviation = np.sqrt(squares.sum(axis=-1) / count)
    return np.asarray(mean + k * deviation)


def absolute(values: Values, members: Members, k: Values) -> Values:
    """Return AH's T: one line for every set, in the dimension's own units."""
    return np.array(np.broadcast_to(k, members.shape[:-1]), dtype=np.float64)


def relative_by_cluster(values: Values, members: Members, k: Values) -> Values:
    """Return RH-C's T: k ranges above the break between the two clusters of the set.

    The break is where two clusters fit best (the least squares within both), and lies halfway
    between their means. Schmidt et al. draw clusters from an infinite mixture; two are what big and
    small need.
    """
    width = highest(values, members) - lowest(values, members)
    return np.asarray(natural_break(values, members) + k * width)


def natural_break(values: Values, members: Members) -> Values:
    """Return the middle between the means of the two clusters that fit a set best."""
    count = members.sum(axis=-1, keepdims=True)
    descending = -np.sort(-np.where(members, values, -np.inf), axis=-1)
    place = np.arange(values.shape[-1])
    filled = np.where(place < count, descending, 0.0)
    upper_sum = filled.cumsum(axis=-1)
    upper_count = place + 1
    lower_sum = upper_sum[..., -1:] - upper_sum
    lower_count = np.maximum(count - upper_count, 1)
    # The squares within both clusters are least where those of the means, weighted, are largest.
    between = upper_sum**2 / upper_count + lower_sum**2 / lower_count
    # both clusters have a member; a set of one object is its own break
    is_split = (upper_count < count) | (count == 1)
    best = np.where(is_split, between, -np.inf).argmax(axis=-1)[..., None]
    upper_mean = np.take_along_axis(upper_sum / upper_count, best, axis=-1)
    lower_mean = np.take_along_axis(lower_sum / lower_count, best, axis=-1)
    middle = np.where(count == 1, upper_mean, (upper_mean + lower_mean) / 2)
    return np.asarray(middle[..., 0])


def range_crossing(values: Values, members: Members, value: Values) -> Values:
    """Return how far below the largest the value lies, in ranges of the set."""
    top = highest(values, members)
    return np.asarray((top - value) / (top - lowest(values, members)))


def number_crossing(values: Values, members: Members, value: Values) -> Values:
    """Return the share of objects that are as large, the value's own left out.

    The smallest of a set is big at no k.
    """
    count = members.sum(axis=-1)
    as_large = (members & (values >= value[..., None])).sum(axis=-1)
    return np.where(as_large == count, np.inf, (as_large - 1) / count)


def deviation_crossing(values: Values, members: Members, value: Values) -> Values:
    """Return how far above the mean the value lies, in standard deviations."""
    none = np.zeros(members.shape[:-1])
    mean = relative_by_deviation(values, members, none)
    return np.asarray((value - mean) / (relative_by_deviation(values, members, none + 1) - mean))


def absolute_crossing(values: Values, members: Members, value: Values) -> Values:
    """Return the value itself."""
    return np.array(value, dtype=np.float64)


def cluster_crossing(values: Values, members: Members, value: Values) -> Values:
    """Return how far above the break of the set the value lies, in ranges."""
    width = highest(values, members) - lowest(values, members)
    return np.asarray((value - natural_break(values, members)) / width)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold function with the Normal distribution that k is drawn from, once per scene."""

    name: str
    line: Callable[[Values, Members, Values], Values]
    mean: float
    deviation: float
    crossing: Callable[[Values, Members, Values], Values]
    """The k at which T passes a value, from a set's values and members and the value."""
    widens: bool = True
    """Whether more objects are big at a larger k: a value is big at every k above its crossing.

    Otherwise it is big at every k below.
    """

    def margin(self, crossing: Values, mean: float, deviation: float) -> Values:
        """Return z: Φ(z) is the probability that k, from this Normal, makes the value big."""
        distance = mean - crossing if self.widens else crossing - mean
        return np.asarray(distance / deviation)


RH_R = Threshold("rh-r", relative_by_range, 0.29, 0.066, range_crossing)
THRESHOLDS = {
    threshold.name: threshold
    for threshold in (
        RH_R,
        Threshold("rh-n", relative_by_number, 0.30, 0.066, number_crossing),
        Threshold("rh-sd", relative_by_deviation, 0.40, 0.15, deviation_crossing, widens=False),
        Threshold("rh-c", relative_by_cluster, 0.0, 0.066, cluster_crossing, widens=False),
        Threshold("ah", absolute, 30000.0, 3600.0, absolute_crossing, widens=False),
    )
}


def threshold(name: str) -> Threshold:
    """Return the threshold function of this name."""
    refuse_unknown("threshold function", name, THRESHOLDS)
    return THRESHOLDS[name]
