"""Confidence intervals from a seeded bootstrap clustered by object.

All questions and templates of an object are drawn together, because they are not independent.
Statistics are summed per object once; a resample is a vector of counts, and all resamples of all
figures are one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from seesay.defaults import FEW_OBJECTS, FEWEST_OBJECTS, LEVEL, RESAMPLES
from seesay.metrics.base import BoolArray, FloatArray, IntArray, Measurement, Value
from seesay.metrics.counts import Counts, draw_counts, exact_type
from seesay.metrics.dependence import ThingsInCommon, influence, small_sample_ratio

# counts are kept for further figures up to this size, and drawn anew beyond it
_KEPT_BYTES = 1 << 27
_BLOCK = 1 << 21  # counts, or their products, at once

Bounds = tuple[float, float]
SHARE: Bounds = (0.0, 1.0)
UNBOUNDED: Bounds = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its confidence interval."""

    value: float
    low: float
    high: float


class Clusters:
    """Which items belong to one object.

    Objects are ordered by name, so the order of the items does not matter.
    """

    def __init__(self, objects: Sequence[str] | npt.NDArray[np.generic]) -> None:
        names, first, index, counts = np.unique(
            np.asarray(objects),
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        if not names.size:
            raise ValueError("objects must name at least one item")
        self.size = len(names)
        self.first_items: IntArray = first
        self._order: IntArray = np.argsort(index.reshape(-1), kind="stable")
        self._starts: IntArray = np.cumsum(counts) - counts

    def sums(self, stats: FloatArray, where: BoolArray | None = None) -> FloatArray:
        """Return statistics (t, n, k) summed per object: (objects, t, k).

        Items outside `where` count as nothing.
        """
        if stats.ndim != 3 or stats.shape[1] != len(self._order):
            raise ValueError(
                f"stats must be (templates, {len(self._order)} items, k): got {stats.shape}"
            )
        if where is not None:
            stats = np.where(where[:, None], stats, 0.0)
        by_object = stats[:, self._order]
        sums = np.add.reduceat(
            by_object,
            self._starts,
            axis=1,
            dtype=np.float64,
        )
        return sums.swapaxes(0, 1)


class Resamples:
    """Counts drawn once for a set of objects, and applied to any statistics of their items.

    Where objects are several things each, such as pairs, `things` holds those of every item:
    intervals then allow for objects that share a thing.
    """

    def __init__(
        self,
        objects: Sequence[str] | npt.NDArray[np.generic],
        resamples: int = RESAMPLES,
        seed: int = 0,
        things: Sequence[Sequence[str]] | None = None,
    ) -> None:
        if resamples < 1:
            raise ValueError(f"resamples must be at least 1: got {resamples}")
        self.clusters = Clusters(objects)
        self.resamples = resamples
        self.seed = seed
        self._shared: ThingsInCommon | None = None
        if things is not None:
            self._shared = ThingsInCommon([things[item] for item in self.clusters.first_items])

    def sums(self, stats: FloatArray, where: BoolArray | None = None) -> FloatArray:
        """Return statistics (t, n, k) summed per object, for `intervals`.

        `where` picks a slice of the items.
        """
        return self.clusters.sums(stats, where)

    def interval(
        self,
        stats: FloatArray,
        value: Value,
        *,
        where: BoolArray | None = None,
        level: float = LEVEL,
        bounds: Bounds = UNBOUNDED,
    ) -> Interval:
        """Return a figure with its percentile interval.

        The figure is the mean over templates of `value` of the summed statistics (t, n, k), which
        is within the bounds.

        Resamples in which the figure is not defined, such as those that miss a slice, are left out.
        """
        return self.intervals([(self.sums(stats, where), value)], level=level, bounds=[bounds])[0]

    def intervals(
        self,
        figures: Sequence[tuple[FloatArray, Value]],
        *,
        level: float = LEVEL,
        bounds: Sequence[Bounds] | None = None,
    ) -> list[Interval]:
        """Return several figures in one pass, each given as its `sums` and its value function.

        `bounds` are those of each figure; without them, none has any.
        """
        bounds = bounds or [UNBOUNDED] * len(figures)
        intervals = []
        for (sums, value), (point, resampled), ends in zip(
            figures,
            self.values(figures),
            bounds,
            strict=True,
        ):
            ratio = self.widening(sums, value)
            objects = self.count_objects(sums)
            # where objects share things, few things are allowed for already
            if ratio == 1 and is_small(objects):
                ratio = small_sample_ratio(objects)
            intervals.append(summarise(point, widen(point, resampled, ratio, ends), level))
        return intervals

    def widening(self, sums: FloatArray, value: Value, minus: FloatArray | None = None) -> float:
        """Return by how much a figure's resamples are too narrow (`metrics.dependence`).

        With `minus`, those of its difference from the figure of these sums.
        """
        if self._shared is None or not self._shared.any_shared:
            return 1.0
        deviations = influence(sums, value)
        if minus is not None:
            deviations = deviations - influence(minus, value)
        return self._shared.widening(deviations)

    def count_objects(self, sums: FloatArray) -> int:
        """Return how many objects a figure rests on, given its `sums`.

        Where objects are several things each, no more than there are things: the 45 pairs of ten
        things say no more about things than ten of them.
        """
        if self._shared is None:
            return present(sums)
        return min(present(sums), self._shared.count_things(_has_statistics(sums)))

    def measurements(self, measurements: Sequence[Measurement]) -> list[Interval]:
        """Return each measurement with its interval.

        What a metric takes from the whole corpus, as CIDEr's idf, is fixed.
        """
        figures = [
            (self.sums(measurement.statistics[None]), measurement.metric.value)
            for measurement in measurements
        ]
        bounds = [measurement.metric.bounds for measurement in measurements]
        return self.intervals(figures, bounds=bounds)

    def values(self, figures: Sequence[tuple[FloatArray, Value]]) -> list[tuple[float, FloatArray]]:
        """Each figure as it is, and in every resample."""
        if not figures:
            return []
        matrix = np.hstack([sums.reshape(self.clusters.size, -1) for sums, _ in figures])
        # mean metrics share their weights: a column that occurs twice is multiplied once
        columns, index = np.unique(matrix, axis=1, return_inverse=True)
        widths = [sums[0].size for sums, _ in figures]
        places = np.split(index.reshape(-1), np.cumsum(widths)[:-1])
        resampled = np.empty((len(figures), self.resamples))
        start = 0
        kind = exact_type(columns)
        columns = columns.astype(kind)
        for counts in self._blocks(columns.shape[1], kind):
            products = (counts @ columns).astype(np.float64, copy=False)
            stop = start + len(products)
            for row, place, (sums, value) in zip(resampled, places, figures, strict=True):
                resampled_sums = products[:, place].reshape(-1, *sums.shape[1:])
                row[start:stop] = value(resampled_sums).mean(axis=-1)
            start = stop
        points = [float(value(sums.sum(axis=0)).mean()) for sums, value in figures]
        return list(zip(points, resampled, strict=True))

    def _blocks(self, columns: int, kind: type[np.floating]) -> Iterator[npt.NDArray[np.floating]]:
        """Yield counts as floats, about as many resamples at a time as there are columns.

        That is the shape that multiplies fast.
        """
        enough = min(columns, _BLOCK // max(columns, self.clusters.size))
        block: list[Counts] = []
        for counts in self._kept or self._draw():
            block.append(counts)
            if sum(map(len, block)) >= enough:
                yield np.concatenate(block, dtype=kind)
                block = []
        if block:
            yield np.concatenate(block, dtype=kind)

    @cached_property
    def _kept(self) -> list[Counts]:
        """The counts of all resamples, where they are few enough to be kept; else none."""
        if self.resamples * self.clusters.size <= _KEPT_BYTES:
            return list(self._draw())
        return []

    def _draw(self) -> Iterator[Counts]:
        return draw_counts(
            self.clusters.size,
            self.resamples,
            self.seed,
        )


def widen(point: float, resampled: FloatArray, ratio: float, bounds: Bounds) -> FloatArray:
    """Return resamples that lie farther from the figure by a ratio, yet within its bounds."""
    if ratio == 1:
        return resampled
    return np.asarray(np.clip(point + ratio * (resampled - point), *bounds))


def summarise(point: float, resampled: FloatArray, level: float = LEVEL) -> Interval:
    """The percentile interval of a figure's resamples; NaN where the figure is not defined."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1: got {level}")
    defined = resampled[~np.isnan(resampled)]
    if np.isnan(point) or not defined.size:
        return Interval(point, float("nan"), float("nan"))
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(defined, ends)
    return Interval(point, float(low), float(high))


def present(sums: FloatArray) -> int:
    """How many objects have any statistics in (objects, t, k) sums."""
    return int(_has_statistics(sums).sum())


def _has_statistics(sums: FloatArray) -> BoolArray:
    other_axes = tuple(range(1, sums.ndim))
    return np.asarray(sums.any(axis=other_axes))


def is_small(objects: int) -> bool:
    """Whether a figure rests on so few objects that percentiles of its resamples are too narrow.

    In simulation, those of 10 to 15 objects hold the truth in 88 to 93 % of the cases, and those
    of 30 or more in 93 to 95 %.
    """
    return objects < FEW_OBJECTS


def too_few(objects: int) -> bool:
    """Whether a figure rests on so few objects that its interval cannot be relied on.

    In simulation, 95 % intervals of 2 to 9 objects hold the truth in 90 to 100 % of the cases.
    """
    return objects < FEWEST_OBJECTS


def wilson(share: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's (1927) score interval of a share of n.

    It holds near 0 and 1 too (Newcombe 1998, method 3).

    >>> [round(end, 3) for end in wilson(1.0, 10)]
    [0.722, 1.0]
    >>> [round(end, 4) for end in wilson(81 / 263, 263)]  # as published by Newcombe
    [0.2553, 0.3662]
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    center = share + z * z / (2 * n)
    variance = share * (1 - share) / n + z * z / (4 * n * n)
    reach = z * math.sqrt(variance)
    scale = 1 + z * z / n
    low = (center - reach) / scale
    high = (center + reach) / scale
    # rounding must not leave the share outside
    return max(0.0, min(low, share)), min(1.0, max(high, share))


def assumed_most(most: float, value: float) -> float:
    """Return the largest value that unseen objects are taken to have, for a figure of this value.

    Of a metric without a largest value, what looks like a share is doubted as one; beyond 1, unseen
    objects may lie as far above the figure as below it.

    >>> assumed_most(2.0, 0.5), assumed_most(math.inf, 0.5), assumed_most(math.inf, 7.0)
    (2.0, 1.0, 14.0)
    """
    if not math.isinf(most):
        return most
    return 1.0 if abs(value) <= 1 else 2 * abs(value)


_ROUNDING = 1e-6


def reflect(interval: Interval) -> Interval:
    """Return the basic bootstrap's interval of a distance (Davison & Hinkley 1997, section 5.2).

    Resamples lie above the figure by about as much as the figure lies above the truth, so that
    percentiles would leave out a distance of 0.

    >>> reflect(Interval(0.25, 0.125, 0.75))
    Interval(value=0.25, low=0.0, high=0.375)
    """
    value = interval.value
    low = max(0.0, 2 * value - interval.high)
    high = min(1.0, max(value, 2 * value - interval.low))
    return Interval(value, low, high)


def not_degenerate(
    interval: Interval, objects: int, *, signed: bool = False, most: float = 1.0
) -> Interval:
    """Doubt where resampling cannot show any: an interval without width.

    Resamples of objects that are all alike, or of a single object, are all alike: their percentiles
    would claim certainty. Yet a share of objects that were not seen, by Wilson's interval of none
    of so many, may have any value: 0 to `most`, or -most to most where a figure is `signed`. Where
    all objects are right, or all wrong, that is Wilson's own interval. Any other interval is
    returned as it is.
    """
    value = interval.value
    most = assumed_most(most, value)
    bottom = -most if signed else 0.0
    # equal numbers differ by rounding, and by the constants that keep BLEU from dividing by 0; what
    # is not defined has no width to compare
    is_certain = interval.high - interval.low < _ROUNDING
    # a distance beyond the range has no such bounds
    if not objects or not is_certain or not bottom <= value <= most:
        return interval
    if objects == 1 and not signed:
        low, high = wilson(value / most, objects)
        return Interval(value, most * low, most * high)
    unseen = wilson(0.0, objects)[1]
    low = value - unseen * (value - bottom)
    high = value + unseen * (most - value)
    return Interval(value, low, high)
