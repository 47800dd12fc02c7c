"""What every metric is built on: the scored items, and a metric as summable statistics.

A metric maps data to sufficient statistics, one row per item, and a sum of such rows to a value. A
bootstrap of any metric, macro F1 and METEOR included, is then one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]
Value = Callable[[FloatArray], FloatArray]
Data = TypeVar("Data")


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """The questions of one template, as a model scored them: n items by L labels.

    `scores` are log-scores after the length rule, NaN where a label was not offered; −inf is a
    probability of 0, and −inf for every label no answer: never right, and to probabilities all
    labels are alike. `gold` holds weights, 0 for a label that is not gold. `ranks` says how many
    vocabulary entries score at least as high as the option (1 is the top, 0 unknown). `marks` holds
    sets of labels by name (`Question.marks`), and `twin` the scores of the same question asked in
    another way (`Question.twin`), NaN where there is none, and `twin_gold` its gold weights.
    """

    scores: FloatArray
    gold: FloatArray
    ranks: IntArray | None = None
    marks: Mapping[str, BoolArray] = field(default_factory=dict)
    twin: FloatArray | None = None
    twin_gold: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.scores.ndim != 2 or self.gold.shape != self.scores.shape:
            raise ValueError(
                f"gold must be shaped as scores, (n, L): got {self.gold.shape} and "
                f"{self.scores.shape}"
            )
        twins = {"twin": self.twin, "twin_gold": self.twin_gold}
        others = {"ranks": self.ranks, **twins, **self.marks}
        for name, array in others.items():
            if array is not None and array.shape != self.scores.shape:
                raise ValueError(
                    f"{name} must be shaped as scores {self.scores.shape}: got {array.shape}"
                )
        is_weight = np.isfinite(self.gold) & (self.gold >= 0)
        has_score = self.offered.any(axis=1, keepdims=True)
        has_gold = self.is_gold.any(axis=1, keepdims=True)
        _refuse("scores must be below +inf", np.isposinf(self.scores))
        _refuse("gold weights must be finite and at least 0", ~is_weight)
        _refuse("a gold label has no score", self.is_gold & ~self.offered)
        _refuse("every item needs a score", ~has_score)
        _refuse("every item needs a gold label", ~has_gold)

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
    def answered(self) -> BoolArray:
        """Which items have an answer, as a column."""
        return np.asarray(np.isfinite(self.scores).any(axis=1, keepdims=True))

    @cached_property
    def top(self) -> BoolArray:
        """Which labels share the top score; none without an answer."""
        best = np.nanmax(self.scores, axis=1, keepdims=True)
        return np.asarray((self.scores == best) & self.answered)

    @cached_property
    def probabilities(self) -> FloatArray:
        """The softmax over the offered labels; 0 for the others."""
        # without an answer, all the labels that were offered are alike
        scores = np.where(self.answered, self.scores, 0.0)
        return softmax(np.where(self.offered, scores, -np.inf))

    def take(self, rows: BoolArray | IntArray) -> ScoredItems:
        """Some of the items."""
        return ScoredItems(
            self.scores[rows],
            self.gold[rows],
            None if self.ranks is None else self.ranks[rows],
            {name: marked[rows] for name, marked in self.marks.items()},
            None if self.twin is None else self.twin[rows],
            None if self.twin_gold is None else self.twin_gold[rows],
        )


def softmax(scores: FloatArray) -> FloatArray:
    """Probabilities of rows of log-scores; −inf is 0."""
    precise = scores.astype(np.float64)
    # relative to the best one, which cannot overflow
    weights = np.exp(precise - precise.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Metric(Generic[Data]):
    """A metric as summable statistics.

    `stats` gives sufficient statistics (n, k) of the data, `value` maps their sums (..., k) to
    figures (...).

    Cloze metrics read `ScoredItems`, caption metrics a caption corpus, parse metrics the scores of
    sentences.

    `binary` metrics judge an item right or wrong, so that McNemar's test applies;
    `whole_vocabulary` ones need ranks; for a `lower_is_better` one, less is better. `guess` is the
    expected value of each item under a random order of its labels, where that differs from the
    value under equal scores. `is_mean`: the value is a weighted mean over items, the weight being
    the second statistic. `most` is the largest value that there can be, infinite where there is
    none. The smallest is 0, or -`most` where the value is `signed`. `is_distance`: chance alone
    takes the value away from 0, in a sample as in each of its resamples.
    `across_questions`: scores of different questions are compared, which means something only where
    an option's score does not depend on the other options.
    """

    name: str
    meaning: str
    stats: Callable[[Data], FloatArray]
    value: Value
    binary: bool = False
    whole_vocabulary: bool = False
    lower_is_better: bool = False
    guess: Callable[[Data], FloatArray] | None = None
    is_mean: bool = False
    signed: bool = False
    across_questions: bool = False
    most: float = 1.0
    is_distance: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value that there can be."""
        return -self.most if self.signed else 0.0, self.most

    def defined(self, stats: FloatArray) -> BoolArray:
        """Return which items of (..., n, k) statistics count.

        A mean leaves out those on which it is not defined.
        """
        if not self.is_mean:
            return np.ones(stats.shape[:-1], dtype=np.bool_)
        return np.asarray(stats[..., 1] > 0)

    def __call__(self, data: Data) -> float:
        """The figure for this data."""
        return float(self.value(self.stats(data).sum(axis=0)))


@dataclass(frozen=True)
class Measurement:
    """A metric with the statistics of one system's output, one row per item."""

    metric: Metric[Any]
    statistics: FloatArray

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.metric.name

    @property
    def value(self) -> float:
        """The figure of the whole corpus."""
        return float(self.metric.value(self.statistics.sum(axis=0, keepdims=True))[0])

    @cached_property
    def scores(self) -> FloatArray:
        """The figure of each item by itself."""
        return self.metric.value(self.statistics)


def measure(metrics: Sequence[Metric[Data]], data: Data) -> list[Measurement]:
    """Each metric on the data; metrics that share their statistics have them computed once."""
    functions = dict.fromkeys(metric.stats for metric in metrics)
    statistics = {function: function(data) for function in functions}
    return [Measurement(metric, statistics[metric.stats]) for metric in metrics]


def mean_metric(
    name: str,
    meaning: str,
    per_item: Callable[[Data], FloatArray],
    *,
    undefined: float = np.nan,
    binary: bool = False,
    whole_vocabulary: bool = False,
    lower_is_better: bool = False,
    guess: Callable[[Data], FloatArray] | None = None,
) -> Metric[Data]:
    """Return a metric that is a mean over items, `undefined` over none.

    An item whose value is NaN has weight 0.
    """

    def stats(data: Data) -> FloatArray:
        values = per_item(data)
        defined = ~np.isnan(values)
        weighted = np.where(defined, values, 0.0)
        weights = defined.astype(np.float64)
        return np.stack([weighted, weights], axis=1)

    return Metric(
        name,
        meaning,
        stats,
        partial(weighted_mean, undefined=undefined),
        binary,
        whole_vocabulary,
        lower_is_better,
        guess,
        is_mean=True,
    )


def weighted_mean(sums: FloatArray, undefined: float = np.nan) -> FloatArray:
    """The first summed statistic over the second."""
    return ratio(sums[..., 0], sums[..., 1], undefined=undefined)


def ratio(numerator: FloatArray, denominator: FloatArray, *, undefined: float) -> FloatArray:
    """A quotient; `undefined` where the denominator is 0."""
    denominator = np.asarray(denominator)
    is_defined = denominator != 0
    if is_defined.all():
        # without a mask it takes half the time
        return np.divide(numerator, denominator, out=np.empty_like(denominator, dtype=np.float64))
    # in its memory order, which later sums follow
    quotient = np.full_like(denominator, undefined, dtype=np.float64)
    np.divide(
        numerator,
        denominator,
        out=quotient,
        where=is_defined,
    )
    return quotient


def chance(metric: Metric[ScoredItems], items: ScoredItems) -> float:
    """Return the expected score of guessing: a random order of the offered labels.

    NaN where that is not defined.
    """
    if metric.whole_vocabulary:
        return float("nan")
    if metric.guess is not None:
        return float(metric.guess(items).mean())
    equal_scores = np.where(items.offered, 0.0, np.nan)
    return metric(replace(items, scores=equal_scores, ranks=None))


def spread(values: FloatArray | list[float]) -> float | None:
    """Return the sample standard deviation (n − 1), as Hagström & Johansson 2022 report.

    None for a single template, which has none.

    >>> spread([0.25, 0.5, 0.75])
    0.25
    """
    if len(values) <= 1:
        return None
    return float(np.std(values, ddof=1))


def tie_bounds(ordered: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the first and last position of the group of equal values of each position.

    The values of a row are in order.

    >>> tie_bounds(np.array([[5.0, 3.0, 3.0, 1.0]]))
    (array([[0, 1, 1, 3]]), array([[0, 2, 2, 3]]))
    """
    width = ordered.shape[1]
    position = np.broadcast_to(np.arange(width), ordered.shape)
    changes = ordered[:, 1:] != ordered[:, :-1]
    edge = np.ones((len(ordered), 1), dtype=np.bool_)
    # where a group begins its position is known; it holds until the next one begins
    begins = np.hstack([edge, changes])
    first = np.maximum.accumulate(np.where(begins, position, 0), axis=1)
    # and the same from the right, where groups end
    ends = np.hstack([changes, edge])
    last_reversed = np.where(ends, position, width)[:, ::-1]
    last = np.minimum.accumulate(last_reversed, axis=1)[:, ::-1]
    return first, last


def _refuse(rule: str, broken: npt.ArrayLike) -> None:
    """Raise an error that names the first row in which a rule is broken."""
    rows = np.flatnonzero(np.any(broken, axis=1))
    if rows.size:
        raise ValueError(f"{rule}: see row {rows[0]}")
