"""The difference of two models on a list of questions, with an interval that holds however often
one looks at it.

Questions are drawn at random, one after another and none twice, and the difference sought is that
on the whole list. Its confidence sequence is made by betting (Waudby-Smith & Ramdas 2020,
"Confidence sequences for sampling without replacement"; 2024, "Estimating means of bounded random
variables by betting"). Against every possible difference a gambler bets, question by question, that
the truth is above it. Were it true, those that remain would make up for what was seen, so that each
bet is fair, and the wealth exceeds 1/α at any time with probability α at most (Ville's inequality).
What has made the gambler rich is excluded. When all questions are drawn, nothing is left in doubt.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np

from seesay.defaults import LEVEL
from seesay.metrics.base import BoolArray, FloatArray, IntArray
from seesay.metrics.bootstrap import Interval

_HALVINGS = 30
_ROUNDING = 1e-9
_LARGEST_SHARE = 0.98
"""Of what can be staked without risk of ruin, so much at most."""
_GROWTH = 5.0
"""The logarithm of the wealth for which stakes are planned: what excludes a difference at 95 % on
one side, and the price of not knowing the best stake."""
_FEWEST = 16
"""The least number of questions after which a stake may be planned to decide."""
_SHRINKAGE = 2.0
_SWEEPS = 6
_DOUBT = 0.25
"""The variance of a gain that is assumed before any is seen, as of four questions."""


@dataclass(frozen=True)
class Draws:
    """Questions in the order in which they were drawn.

    A gain is the first model's credit minus the second's, between minus and plus its weight, which
    is 0 for a question that does not count and 1 for any other. The other values were fixed before
    the question was drawn: the gain that was predicted for it, the mean, the lowest and the highest
    prediction for all that remained, and the standard deviation of gains from predictions.
    """

    gains: FloatArray
    weights: FloatArray
    predictions: FloatArray
    means: FloatArray
    lowest: FloatArray
    highest: FloatArray
    deviations: FloatArray

    def reversed(self) -> Draws:
        """Return the same with the models exchanged."""
        return Draws(
            -self.gains,
            self.weights,
            -self.predictions,
            -self.means,
            -self.highest,
            -self.lowest,
            self.deviations,
        )

    def append(self, other: Draws) -> Draws:
        """Return these draws and then the others."""
        return Draws(*map(np.concatenate, zip(astuple(self), astuple(other), strict=True)))


class PairedSequence:
    """What is known of the difference of two models, while a list of questions is drawn.

    Before every round a gain is predicted for each question that remains, from those of questions
    that are like it. The gambler bets on gains beyond their predictions, whose mean over all that
    remain is known: good predictions leave less to chance, bad ones do no harm but width.
    """

    def __init__(self, groups: IntArray) -> None:
        """`groups` are kinds of groups × questions: the number of a question's group of each kind,
        in which gains are likely to be alike."""
        self._groups = groups
        self._rows: IntArray = np.empty(0, dtype=np.int64)
        self._remains: BoolArray = np.ones(groups.shape[1], dtype=np.bool_)
        empty: FloatArray = np.empty(0)
        self.draws = Draws(*[empty] * 7)

    @property
    def population(self) -> int:
        """How many questions there are."""
        return len(self._remains)

    def add(self, rows: IntArray, gains: FloatArray, weights: FloatArray) -> None:
        """Add a round: questions in the order in which they were drawn from all that remain."""
        if np.any(np.abs(gains) > weights + _ROUNDING):
            raise ValueError("a gain must lie between minus and plus the weight of its question")
        predictions = self._predict()
        remaining = predictions[self._remains]
        of_rows = predictions[rows]
        before = np.cumsum(of_rows) - of_rows
        numbers = len(remaining) - np.arange(len(rows))
        # predictions become better: what they were worth at first says little
        surprises = (self.draws.gains - self.draws.predictions)[len(self._rows) // 2 :]
        variance = (4 * _DOUBT + np.square(surprises).sum()) / (4 + len(surprises))
        draws = Draws(
            gains=gains,
            weights=weights,
            predictions=of_rows,
            means=(remaining.sum() - before) / numbers,
            lowest=np.full(len(rows), remaining.min()),
            highest=np.full(len(rows), remaining.max()),
            deviations=np.full(len(rows), math.sqrt(variance)),
        )
        self.draws = self.draws.append(draws)
        self._rows = np.concatenate([self._rows, rows])
        self._remains[rows] = False

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the difference on all questions, with an interval that covers it at all times at
        once with probability `level`. What was excluded after any draw remains excluded."""
        value = self._estimate()
        if not self._remains.any():
            return Interval(value, value, value)
        lower = _lower_bound(self.draws, self.population, level)
        upper = -_lower_bound(self.draws.reversed(), self.population, level)
        # they cross where the truth was excluded, which is as rare as the level says
        low, high = sorted((lower, upper))
        return Interval(min(max(value, low), high), low, high)

    def _estimate(self) -> float:
        """Return the mean gain: of what was seen, and of the rest as predicted, corrected by how
        far such predictions are off on average (the regression estimator of surveys)."""
        draws = self.draws
        if not draws.weights.any():
            return float("nan")
        remaining = int(self._remains.sum())
        predictions = self._predict()
        error = float((draws.gains - predictions[self._rows]).mean())
        total = draws.gains.sum() + predictions[self._remains].sum() + remaining * error
        return float(total / (draws.weights.sum() + remaining * draws.weights.mean()))

    def _predict(self) -> FloatArray:
        """Return the expected gain of every question: the sum of what its groups add to it."""
        residuals = self.draws.gains.copy()
        effects = [np.zeros(numbers.max() + 1) for numbers in self._groups]
        of_draws = self._groups[:, self._rows]
        for _ in range(_SWEEPS):
            for effect, numbers in zip(effects, of_draws, strict=True):
                residuals += effect[numbers]
                counts = np.bincount(numbers, minlength=len(effect))
                effect[:] = np.bincount(numbers, residuals, len(effect)) / (counts + _SHRINKAGE)
                residuals -= effect[numbers]
        total = np.zeros(self.population)
        for effect, numbers in zip(effects, self._groups, strict=True):
            total += effect[numbers]
        return np.clip(total, -1.0, 1.0)


def log_wealths(draws: Draws, population: int, difference: float) -> FloatArray:
    """Return the logarithm of what a gambler has made of 1 after every draw, by betting that the
    truth is above this difference; it falls as the difference rises."""
    surplus = draws.gains - difference * draws.weights
    remaining = population - np.arange(len(surplus))
    # were the difference true of all questions, those that remain would make up for the others
    past = np.cumsum(surplus) - surplus
    fair = -past / remaining - draws.means
    payoffs = surplus - draws.predictions - fair
    largest_loss = 1 + difference + draws.highest + fair
    # where all that remain must be the worst, there is nothing to bet on
    can_bet = largest_loss > _ROUNDING
    # the fewer remain, the more each of them would have to make up for
    stakes = np.minimum(
        planned_stakes(population)[:, None] * population / remaining / draws.deviations,
        _LARGEST_SHARE / np.where(can_bet, largest_loss, 1.0),
    )
    by_stake = np.log1p(stakes * np.where(can_bet, payoffs, 0.0)).cumsum(axis=1)
    wealths = np.logaddexp.reduce(by_stake, axis=0) - math.log(len(by_stake))
    # from where not even the worst gains would bring the difference down to this one, it is refuted
    is_refuted = np.logical_or.accumulate(largest_loss < -_ROUNDING)
    return np.where(is_refuted, np.inf, wealths)


def planned_stakes(population: int) -> FloatArray:
    """Return stakes, per standard deviation of a gain, each the best if a decision takes a certain
    number of questions; the wealth is divided equally among them at the beginning.

    The numbers go down by fours from twice the population, as if questions were drawn with
    replacement: without, twice the population corresponds to two thirds of it.
    """
    steps = math.floor(math.log(max(1.0, 2 * population / _FEWEST), 4))
    numbers = 2 * population / 4.0 ** np.arange(steps + 1)
    return np.sqrt(2 * _GROWTH / numbers)


def _lower_bound(draws: Draws, population: int, level: float) -> float:
    """Return the largest difference that is excluded from above: half of the error is spent on
    each side."""
    rich = math.log(2 / (1 - level))
    low, high = -1.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        wealths = log_wealths(draws, population, middle)
        if len(wealths) and wealths.max() >= rich:
            low = middle
        else:
            high = middle
    return low
