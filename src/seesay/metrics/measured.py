"""A figure as statistics that add up: what caption and parse metrics have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from seesay.metrics.base import FloatArray
from seesay.metrics.bootstrap import Interval, Resamples


@dataclass(frozen=True)
class Measured:
    """One metric on one system's output.

    `statistics` has a row an item; their sum is all that the corpus figure needs (`pool` takes sums (…, k) to figures
    (…)), so a bootstrap is one matrix product. `scores` are the items' own figures.
    """

    name: str
    scores: FloatArray
    statistics: FloatArray
    pool: Callable[[FloatArray], FloatArray]

    @property
    def value(self) -> float:
        """The figure of the whole corpus."""
        return float(self.pool(self.statistics.sum(axis=0, keepdims=True))[0])


def intervals(measured: Sequence[Measured], resamples: Resamples) -> list[Interval]:
    """Each figure with its 95 % interval. What a figure takes from the whole corpus, as CIDEr's idf, stays as it is."""
    return resamples.intervals([(resamples.sums(one.statistics[None]), one.pool) for one in measured])


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """A quotient that is 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros(np.shape(below)), where=below != 0)


def mean_of(name: str, scores: FloatArray) -> Measured:
    """A metric whose corpus figure is the mean over items."""
    return Measured(name, scores, np.column_stack([scores, np.ones(len(scores))]), _mean)


def _mean(sums: FloatArray) -> FloatArray:
    return ratio(sums[..., 0], sums[..., 1])
