"""How far questions about the same things depend on one another, where an object is several things.

The bootstrap resamples objects. Where an object is a pair ("cat|dog"), two objects that share a
thing are not independent either: a model that takes cats for large is wrong about many pairs at
once. An interval is then too narrow by a ratio that follows from the figure's influence values: the
variance with all shared things (Cameron, Gelbach & Miller 2011, multiway clustering; for pairs also
Fafchamps & Gubert 2007) over the variance with whole objects.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import NormalDist

import numpy as np

from seesay.defaults import LEVEL
from seesay.metrics.base import BoolArray, FloatArray, IntArray, Value

MOST_THINGS = 4
"""Of objects with more things than this, all subsets would be too many: single things are used."""

_STEP = 1e-6


class ThingsInCommon:
    """Which objects share which things; objects are in the order of the sums they come with."""

    def __init__(self, things: Sequence[Sequence[str]]) -> None:
        """Take the things of each object, such as ("cat", "dog")."""
        self._places = max(len(each) for each in things)
        self.any_shared = self._places > 1
        rows: list[int] = []
        numbers: list[int] = []
        signs: list[float] = []
        subsets: dict[frozenset[str], int] = {}
        for row, each in enumerate(things):
            for subset, sign in _signed_subsets(frozenset(each)):
                number = subsets.setdefault(subset, len(subsets))
                if number == len(signs):
                    signs.append(sign)
                rows.append(row)
                numbers.append(number)
        self._rows: IntArray = np.array(rows)
        self._subsets: IntArray = np.array(numbers)
        self._signs: FloatArray = np.array(signs)
        self._is_thing = np.array([len(subset) == 1 for subset in subsets])

    def count_things(self, is_present: BoolArray) -> int:
        """Return how many things occur in the objects that are present."""
        present_rows = is_present[self._rows]
        subsets = np.unique(self._subsets[present_rows])
        return int(self._is_thing[subsets].sum())

    def widening(self, influence: FloatArray) -> float:
        """Return the ratio by which an interval that resamples objects is too narrow.

        `influence` holds what each object adds to the figure's deviation. The ratio is never below
        1, and includes the quantile of Student's t for as many things as there are.
        """
        by_object = float(influence @ influence)
        if not self.any_shared or by_object == 0:
            return 1.0
        size = len(self._signs)
        totals = np.bincount(self._subsets, influence[self._rows], size)
        # inclusion and exclusion: two objects that share a pair of things count once, not twice
        by_thing = float(self._signs @ totals**2)
        present = np.bincount(self._subsets, influence[self._rows] != 0, size) > 0
        things = int((present & self._is_thing).sum())
        shared = math.sqrt(max(by_thing, by_object) / by_object)
        return shared * small_sample_ratio(things, self._places)


def small_sample_ratio(things: int, places: int = 1) -> float:
    """Return by how much resamples of so few things are too close together.

    Deviations from an estimated mean are too small by one thing in each place of an object, and the
    variance that they give is itself uncertain, for which there is Student's t.

    >>> [round(small_sample_ratio(things), 3) for things in (10, 20, 100, 1000)]
    [1.216, 1.096, 1.017, 1.002]
    """
    correction = math.sqrt(things / max(1, things - places))
    return correction * student_over_normal(max(1, things // places - 1))


def influence(sums: FloatArray, value: Value) -> FloatArray:
    """Return what each object adds to a figure's deviation, to first order.

    `sums` are statistics per object (objects, templates, k); the figure is the mean over templates
    of `value` of their totals. Its derivative is taken numerically, so that any metric will do.
    """
    totals = sums.sum(axis=0)
    gradient = np.zeros_like(totals)
    for column in range(totals.shape[1]):
        step = np.zeros_like(totals)
        step[:, column] = _STEP * np.maximum(1.0, np.abs(totals[:, column]))
        rise = value(totals + step) - value(totals - step)
        gradient[:, column] = np.nan_to_num(rise / (2 * step[:, column]))
    deviations: FloatArray = np.einsum("otk,tk->o", sums, gradient) / len(totals)
    return deviations


def _signed_subsets(things: frozenset[str]) -> Iterator[tuple[frozenset[str], float]]:
    """Yield the subsets of an object's things with the sign that inclusion and exclusion give."""
    sizes = range(1, len(things) + 1) if len(things) <= MOST_THINGS else range(1, 2)
    for size in sizes:
        for subset in combinations(sorted(things), size):
            yield frozenset(subset), -1.0 if size % 2 == 0 else 1.0


def student_over_normal(degrees: float, level: float = LEVEL) -> float:
    """Return the quantile of Student's t over that of the normal distribution.

    By the expansion of Abramowitz & Stegun (1964), 26.7.5, which is within 1 % from 4 degrees on.

    >>> round(student_over_normal(10) * NormalDist().inv_cdf(0.975), 3)
    2.228
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    t = z
    for power, term in enumerate(terms, start=1):
        t += term / degrees**power
    return t / z
