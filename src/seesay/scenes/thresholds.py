"""The threshold between small and big: the functions that Schmidt, Goodman, Barner & Tenenbaum
(2009) compare.

Each takes the values of a reference set and k, and returns T: an object is big if its value is
above T. MALeViC uses RH-R with k from Normal(0.29, 0.066) (Pezzelle & Fernández 2019, section 4,
"Threshold Function"). The defaults of k for the other three are ours: they call about as many
objects big as RH-R does in MALeViC's scenes.

All functions work on many sets at once: `values` and `members` are (…, n), `k` is (…), and T is
(…).
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


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold function with the Normal distribution that k is drawn from, once per scene."""

    name: str
    line: Callable[[Values, Members, Values], Values]
    mean: float
    deviation: float


RH_R = Threshold("rh-r", relative_by_range, 0.29, 0.066)
THRESHOLDS = {
    "rh-r": RH_R,
    "rh-n": Threshold("rh-n", relative_by_number, 0.30, 0.066),
    "rh-sd": Threshold("rh-sd", relative_by_deviation, 0.40, 0.15),
    "ah": Threshold("ah", absolute, 30000.0, 3600.0),
}


def threshold(name: str) -> Threshold:
    """Return the threshold function of this name."""
    refuse_unknown("threshold function", name, THRESHOLDS)
    return THRESHOLDS[name]
