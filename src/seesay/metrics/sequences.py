"""An interval of a difference that holds however often one looks at it.

It is a confidence sequence by betting (Waudby-Smith & Ramdas 2024, "Estimating means of bounded
random variables by betting", JRSS B 86, 1-27). Against every possible difference a gambler bets,
object by object, that the truth is above it; against a true one the wealth exceeds 1/α at any time
with probability α at most (Ville's inequality). What has made the gambler rich is excluded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seesay.defaults import LEVEL
from seesay.metrics.base import FloatArray
from seesay.metrics.bootstrap import Interval

_FRACTIONS = 0.9 * 0.5 ** np.arange(10)
"""Stakes, as shares of the largest that cannot ruin the gambler.

The wealth is divided equally among them at the beginning, and the mean of martingales is one: that
is the price of not knowing beforehand how large a difference to look for."""
_HALVINGS = 30
_ROUNDING = 1e-9


@dataclass(frozen=True)
class PairedGains:
    """What two models gained on objects, in the order in which these were drawn.

    `gains` are sums of credit of the first minus the second over an object's questions, and
    `weights` how many these are: a gain lies between minus and plus its weight. `largest` is the
    greatest weight of any object, drawn or not. `population` is the number of all objects where the
    difference sought is the one on all of them, drawn without replacement (section 5 of the paper);
    it is None where objects are independent draws from a world of such objects.
    """

    gains: FloatArray
    weights: FloatArray
    largest: float
    population: int | None = None

    def __post_init__(self) -> None:
        if np.any(np.abs(self.gains) > self.weights + 1e-9):
            raise ValueError("a gain must lie between minus and plus the weight of its object")

    def reversed(self) -> PairedGains:
        """Return the gains of the second model over the first."""
        return PairedGains(-self.gains, self.weights, self.largest, self.population)


def interval_at_any_time(pair: PairedGains, level: float = LEVEL) -> Interval:
    """Return the difference so far, weighted by questions, with an interval that covers the true
    one at all times at once with probability `level`."""
    total = pair.weights.sum()
    value = float(pair.gains.sum() / total) if total else float("nan")
    low = _lower_bound(pair, level)
    high = -_lower_bound(pair.reversed(), level)
    return Interval(value, low, high)


def log_wealth(pair: PairedGains, difference: float) -> float:
    """Return the logarithm of what a gambler has made of 1 by betting that the truth is above
    this difference."""
    surplus = pair.gains - difference * pair.weights
    worst_loss = pair.largest * (1 + difference)
    expected = np.zeros_like(surplus)
    if pair.population is not None:
        # were the difference true of all objects, those that remain would make up for the others
        past = np.cumsum(surplus) - surplus
        remaining = pair.population - np.arange(len(surplus))
        expected = -past / remaining
    room = worst_loss + expected
    if np.any(room < -_ROUNDING):
        # not even the worst remaining objects would bring the difference down to this one
        return float("inf")
    # where all that remain must be the worst, there is nothing to bet on
    returns = np.divide(surplus - expected, room, out=np.zeros_like(room), where=room > _ROUNDING)
    by_stake = np.log1p(_FRACTIONS[:, None] * returns).sum(axis=1)
    return float(np.logaddexp.reduce(by_stake) - np.log(len(_FRACTIONS)))


def _lower_bound(pair: PairedGains, level: float) -> float:
    """Return the largest difference that is excluded from above: half of the error is spent on
    each side."""
    rich = np.log(2 / (1 - level))
    low, high = -1.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if log_wealth(pair, middle) >= rich:
            low = middle
        else:
            high = middle
    return low
