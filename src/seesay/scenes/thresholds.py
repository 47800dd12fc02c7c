"""The threshold between small and big: the functions that Schmidt, Goodman, Barner & Tenenbaum
(2009) compare.

Each takes the values of a reference set and k, and gives T: an object is big if its value is above
T. MALeViC uses RH-R with k from Normal(0.29, 0.066) (Pezzelle & Fernández 2019, eq. 1). The
defaults of k for the other three are ours: they call about as many objects big as RH-R does in
MALeViC's scenes.

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
    """The largest value of every set."""
    return np.asarray(_across(np.where(members, values, -np.inf)).max(axis=0))


def lowest(values: Values, members: Members) -> Values:
    """The smallest value of every set."""
    return np.asarray(_across(np.where(members, values, np.inf)).min(axis=0))


def _across(values: Values) -> Values:
    """The last axis first, in memory too: a few values of many sets are compared much faster so."""
    return np.ascontiguousarray(values.transpose(-1, *range(values.ndim - 1)))


def relative_by_range(values: Values, members: Members, k: Values) -> Values:
    """RH-R: the top k of the range, T = max − k (max − min)."""
    top = highest(values, members)
    return np.asarray(top - k * (top - lowest(values, members)))


def relative_by_number(values: Values, members: Members, k: Values) -> Values:
    """RH-N: the top k of the objects by number; T is the value of the first object below them."""
    count = members.sum(axis=-1)
    descending = -np.sort(-np.where(members, values, -np.inf), axis=-1)
    first_below = np.clip(np.ceil(k * count), 0, count - 1).astype(np.intp)
    return np.asarray(np.take_along_axis(descending, first_below[..., None], axis=-1)[..., 0])


def relative_by_deviation(values: Values, members: Members, k: Values) -> Values:
    """RH-SD: more than k standard deviations above the mean of the set."""
    count = members.sum(axis=-1)
    mean = np.where(members, values, 0.0).sum(axis=-1) / count
    spread = np.sqrt(np.where(members, (values - mean[..., None]) ** 2, 0.0).sum(axis=-1) / count)
    return np.asarray(mean + k * spread)


def absolute(values: Values, members: Members, k: Values) -> Values:
    """AH: one line for every set, in the dimension's own units."""
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
    """The function by its name."""
    refuse_unknown("threshold function", name, THRESHOLDS)
    return THRESHOLDS[name]
