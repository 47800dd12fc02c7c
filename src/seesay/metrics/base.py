"""What every metric stands on: the scored items, and a metric as summable statistics.

A metric maps items to sufficient statistics, one row an item, and a sum of such rows to a value. A bootstrap of any
metric, macro F1 included, is then one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Items:
    """The questions of one template, as a model scored them: n items by L labels.

    `scores` are log-scores after the length rule, NaN where a label was not offered; −inf is a probability of 0.
    `gold` holds weights, 0 for a label that is not gold. `ranks` says how many vocabulary entries score at least as
    high as the option (1 is the top, 0 unknown).
    """

    scores: FloatArray
    gold: FloatArray
    ranks: IntArray | None = None

    def __post_init__(self) -> None:
        if self.scores.ndim != 2 or self.gold.shape != self.scores.shape:
            raise ValueError(f"gold must be shaped as scores, (n, L): got {self.gold.shape} and {self.scores.shape}")
        if self.ranks is not None and self.ranks.shape != self.scores.shape:
            raise ValueError(f"ranks must be shaped as scores {self.scores.shape}: got {self.ranks.shape}")
        _refuse("scores must be below +inf", np.isposinf(self.scores))
        _refuse("gold weights must be finite and at least 0", ~(np.isfinite(self.gold) & (self.gold >= 0)))
        _refuse("a gold label has no score", self.is_gold & ~self.offered)
        _refuse("every item needs a finite score", ~np.isfinite(self.scores).any(axis=1, keepdims=True))
        _refuse("every item needs a gold label", ~self.is_gold.any(axis=1, keepdims=True))

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def offered(self) -> BoolArray:
        """Which labels the item's question offers."""
        return ~np.isnan(self.scores)

    @cached_property
    def is_gold(self) -> BoolArray:
        """Which labels are gold."""
        return np.asarray(self.gold > 0)

    @cached_property
    def probabilities(self) -> FloatArray:
        """The softmax over the offered labels; 0 for the others."""
        shifted = np.where(self.offered, self.scores, -np.inf).astype(np.float64)
        weights = np.exp(shifted - shifted.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def take(self, rows: BoolArray | IntArray) -> Items:
        """Some of the items."""
        return Items(self.scores[rows], self.gold[rows], None if self.ranks is None else self.ranks[rows])


@dataclass(frozen=True)
class Metric:
    """A figure: `stats` gives sufficient statistics (n, k), `value` maps their sums (..., k) to figures (...).

    `binary` metrics judge an item right or wrong, so that McNemar's test applies; `whole_vocabulary` ones need ranks;
    of a `lower_is_better` one, less is more. `guess` is what an item is worth to a random order of its labels, where
    that is not what equal scores get.
    """

    name: str
    meaning: str
    stats: Callable[[Items], FloatArray]
    value: Callable[[FloatArray], FloatArray]
    binary: bool = False
    whole_vocabulary: bool = False
    lower_is_better: bool = False
    guess: Callable[[Items], FloatArray] | None = None

    def defined(self, stats: FloatArray) -> BoolArray:
        """Which items of (..., n, k) statistics have a say: a mean leaves out those on which it is not defined."""
        if self.value is not ratio:
            return np.ones(stats.shape[:-1], dtype=np.bool_)
        return np.asarray(stats[..., 1] > 0)

    def __call__(self, items: Items) -> float:
        """The figure for these items; NaN where it is not defined."""
        return float(self.value(self.stats(items).sum(axis=0)))


def mean_metric(
    name: str,
    meaning: str,
    per_item: Callable[[Items], FloatArray],
    *,
    binary: bool = False,
    whole_vocabulary: bool = False,
    lower_is_better: bool = False,
    guess: Callable[[Items], FloatArray] | None = None,
) -> Metric:
    """A metric that is a mean over items; an item whose value is NaN has weight 0."""

    def stats(items: Items) -> FloatArray:
        values = per_item(items)
        defined = ~np.isnan(values)
        return np.stack([np.where(defined, values, 0.0), defined.astype(np.float64)], axis=1)

    return Metric(name, meaning, stats, ratio, binary, whole_vocabulary, lower_is_better, guess)


def ratio(sums: FloatArray) -> FloatArray:
    """The first statistic over the second; NaN for 0/0."""
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1])


def chance(metric: Metric, items: Items) -> float:
    """What guessing scores: a random order of the offered labels. NaN where that is not defined."""
    if metric.whole_vocabulary:
        return float("nan")
    if metric.guess is not None:
        return float(metric.guess(items).mean())
    return metric(replace(items, scores=np.where(items.offered, 0.0, np.nan), ranks=None))


def tie_bounds(ordered: FloatArray) -> tuple[IntArray, IntArray]:
    """For rows in order, the first and last position of the group of equal values that each position is in.

    >>> tie_bounds(np.array([[5.0, 3.0, 3.0, 1.0]]))
    (array([[0, 1, 1, 3]]), array([[0, 2, 2, 3]]))
    """
    width = ordered.shape[1]
    position = np.broadcast_to(np.arange(width), ordered.shape)
    changes = ordered[:, 1:] != ordered[:, :-1]
    edge = np.ones((len(ordered), 1), dtype=np.bool_)
    first = np.maximum.accumulate(np.where(np.hstack([edge, changes]), position, 0), axis=1)
    last_reversed = np.where(np.hstack([changes, edge]), position, width)[:, ::-1]
    return first, np.minimum.accumulate(last_reversed, axis=1)[:, ::-1]


def _refuse(rule: str, broken: npt.ArrayLike) -> None:
    rows = np.flatnonzero(np.any(broken, axis=1))
    if rows.size:
        raise ValueError(f"{rule}: see row {rows[0]}")
