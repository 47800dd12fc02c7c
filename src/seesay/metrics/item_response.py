"""How hard each item is, and how well it tells good models from bad ones.

The two-parameter logistic model (Birnbaum 1968): a model of ability θ is right with probability
σ(aθ + d), a being the item's discrimination and -d/a its difficulty. Few models answer many items,
so that all are held in check by priors, a ~ N(1, 0.7²), d ~ N(0, 2²) and θ ~ N(0, 1), which also
fix the scale. A credit between 0 and 1, such as the share of templates that are right, counts as so
many answers that are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from seesay.defaults import LEVEL
from seesay.metrics.base import BoolArray, FloatArray, IntArray
from seesay.metrics.bootstrap import Interval
from seesay.metrics.dependence import student_over_normal

_SLOPE_SD = 0.7
_INTERCEPT_SD = 2.0
_ROUNDS = 60
_CLOSE = 1e-3
_LEAST_SPREAD = 0.1
_CAUTION = 0.1
_EDGE = 0.005


@dataclass(frozen=True, eq=False)
class ItemParameters:
    """Discriminations and intercepts of items, and how the abilities of models are spread."""

    slopes: FloatArray
    intercepts: FloatArray
    mean: float
    sd: float

    def expected(self, ability: float | FloatArray) -> FloatArray:
        """Return the probability that a model is right, (…, items)."""
        return _logistic(np.multiply.outer(ability, self.slopes) + self.intercepts)

    def abilities(self, credits: FloatArray) -> FloatArray:
        """Return the likeliest abilities of models, given their credits (models × items), NaN where
        a model was not asked."""
        is_asked = ~np.isnan(credits)
        abilities: FloatArray = np.full(len(credits), self.mean)
        for _ in range(_ROUNDS):
            p = self.expected(abilities)
            residual = np.where(is_asked, credits - p, 0.0)
            weight = np.where(is_asked, p * (1 - p), 0.0)
            gradient = residual @ self.slopes - (abilities - self.mean) / self.sd**2
            curvature = weight @ self.slopes**2 + 1 / self.sd**2
            # far from the top, a whole step may go beyond it and back for ever
            step = np.clip(gradient / curvature, -1, 1)
            abilities = abilities + step
            if np.abs(step).max() < _CLOSE:
                break
        return abilities


def fit_items(credits: FloatArray) -> tuple[ItemParameters, FloatArray]:
    """Return the parameters of the items and the abilities of the models.

    Credits are models × items, NaN where a model was not asked. Items given abilities and abilities
    given items are each a concave problem; they are solved in turn until neither moves.
    """
    is_asked = ~np.isnan(credits)
    known_credits = np.where(is_asked, credits, 0.0)
    shares = known_credits.sum(axis=1) / np.maximum(is_asked.sum(axis=1), 1)
    log_odds = _logit(np.clip(shares, 0.02, 0.98))
    abilities: FloatArray = log_odds - log_odds.mean()
    slopes: FloatArray = np.ones(credits.shape[1])
    intercepts: FloatArray = np.zeros(credits.shape[1])
    for _ in range(_ROUNDS):
        before = abilities
        slopes, intercepts = _fit_lines(known_credits, is_asked, abilities, slopes, intercepts)
        abilities = ItemParameters(slopes, intercepts, mean=0.0, sd=1.0).abilities(credits)
        if np.abs(abilities - before).max() < _CLOSE:
            break
    spread = max(float(abilities.std()), _LEAST_SPREAD)
    return ItemParameters(slopes, intercepts, float(abilities.mean()), spread), abilities


def _fit_lines(
    credits: FloatArray,
    is_asked: BoolArray,
    abilities: FloatArray,
    slopes: FloatArray,
    intercepts: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return slopes and intercepts after a few of Newton's steps, all items at once."""
    for _ in range(5):
        p = _logistic(np.outer(abilities, slopes) + intercepts)
        residual = np.where(is_asked, credits - p, 0.0)
        weight = np.where(is_asked, p * (1 - p), 0.0)
        gradient_slope = abilities @ residual - (slopes - 1) / _SLOPE_SD**2
        gradient_intercept = residual.sum(axis=0) - intercepts / _INTERCEPT_SD**2
        # the 2 × 2 matrix of second derivatives, inverted by hand
        slope_slope = abilities**2 @ weight + 1 / _SLOPE_SD**2
        both = abilities @ weight
        intercept_intercept = weight.sum(axis=0) + 1 / _INTERCEPT_SD**2
        determinant = slope_slope * intercept_intercept - both**2
        step_slope = (
            intercept_intercept * gradient_slope - both * gradient_intercept
        ) / determinant
        step_intercept = (slope_slope * gradient_intercept - both * gradient_slope) / determinant
        slopes = slopes + np.clip(step_slope, -1, 1)
        intercepts = intercepts + np.clip(step_intercept, -1, 1)
    return slopes, intercepts


def short_form(credits: FloatArray, objects: IntArray, kinds: IntArray, count: int) -> IntArray:
    """Return some `count` items, whole objects, whose plain mean stands for that of all items.

    `credits` are models × items, `objects` has the number of the object that each item is about,
    and `kinds` the number of each object's kind, such as its right answers: a model that gives one
    answer to everything is known by how frequent that is. Objects are put in order of kind, and
    within a kind of difficulty, and divided into layers. Of each layer one object is taken, such
    that the known models keep their scores as nearly as they can.
    """
    sizes = np.bincount(objects)
    object_count = max(1, round(count / float(sizes.mean())))
    # how far each object raises a model's score above that on all items
    gains = np.stack([np.bincount(objects, row - row.mean()) for row in credits])
    easiness = np.bincount(objects, credits.mean(axis=0)) / sizes
    # of objects that are alike for all known models, not the first of the file is taken
    shuffled = np.random.default_rng(0).permutation(len(sizes))
    order = shuffled[np.lexsort((easiness[shuffled], kinds[shuffled]))]
    # layers that have an object more than others are spread evenly
    borders = np.arange(1, object_count) * len(order) // object_count
    share = object_count / len(order)
    shortfall = np.zeros((len(credits), 1))
    rows = []
    for layer in np.split(order, borders):
        shortfall = shortfall + share * gains[:, layer].sum(axis=1, keepdims=True)
        distances = ((gains[:, layer] - shortfall) ** 2).sum(axis=0)
        row = int(layer[np.argmin(distances)])
        shortfall = shortfall - gains[:, [row]]
        rows.append(row)
    return np.flatnonzero(np.isin(objects, rows))


Answering = Callable[[IntArray], FloatArray]
"""Gives the credits of items, which are asked for it."""


class AdaptiveScore:
    """Draws objects by what they would tell, and estimates the score on all of them.

    An object is drawn with a probability that is its share of the doubt that the item model leaves
    about the rest. After every draw the score is what was seen, plus what the model expects of the
    rest, plus the surprise of this draw over its probability (the ordered estimator of Des Raj
    1956, of differences from a model). Each such estimate is unbiased whatever the item model is
    worth, and no two of them are correlated, so that their mean has an honest interval. Later ones
    leave less to guess and weigh more.
    """

    def __init__(self, parameters: ItemParameters, objects: IntArray, seed: int) -> None:
        """`objects` has the number of the object that each item is about."""
        self._parameters = parameters
        self._objects = objects
        self._sizes = np.bincount(objects).astype(np.float64)
        self._rng = np.random.default_rng(seed)
        self._credits = np.full(len(objects), np.nan)
        self._estimates: list[float] = []
        self._weights: list[float] = []
        self._expected_deviations: list[float] = []
        self.remaining = np.ones(len(self._sizes), dtype=np.bool_)

    @property
    def asked(self) -> int:
        """How many items were asked."""
        return int((~np.isnan(self._credits)).sum())

    @property
    def draws(self) -> int:
        """How many objects were drawn."""
        return len(self._estimates)

    def draw(self, count: int, answer: Answering) -> None:
        """Draw as many objects and have them answered: `answer` gives the credits of the items of
        these objects, in their order."""
        (ability,) = self._parameters.abilities(self._credits[None])
        p = self._parameters.expected(ability)
        expected = np.bincount(self._objects, p)
        # an item model of few models is not as sure as it seems
        cautious = _CAUTION + (1 - 2 * _CAUTION) * p
        doubt = np.bincount(self._objects, np.sqrt(cautious * (1 - cautious)))
        draws = []
        for _ in range(min(count, int(self.remaining.sum()))):
            chances = np.where(self.remaining, doubt, 0.0)
            chances = chances / chances.sum()
            number = int(self._rng.choice(len(chances), p=chances))
            draws.append((number, chances[number], self.remaining.copy()))
            self.remaining[number] = False
        numbers = [number for number, _, _ in draws]
        items = np.flatnonzero(np.isin(self._objects, numbers))
        self._credits[items] = answer(items)
        totals = np.bincount(self._objects, np.nan_to_num(self._credits))
        for number, chance, before in draws:
            seen_total = totals[~before].sum()
            surprise = (totals[number] - expected[number]) / chance
            total = seen_total + expected[before].sum() + surprise
            self._estimates.append(float(total / self._sizes.sum()))
            self._weights.append(float(self._sizes[before].sum()) ** -2)
            # where each is drawn by its share of the doubt, the sum of doubts is the deviation
            self._expected_deviations.append(float(doubt[before].sum() / self._sizes.sum()))

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the score on all items with its interval.

        Few draws surprise where a model answers mostly as expected. As long as none has, estimate
        and variance are both too small, so that one more draw is added to the variance, which
        surprises as much as the item model expects.
        """
        estimates = np.array(self._estimates)
        weights = np.array(self._weights) / np.sum(self._weights)
        value = float(weights @ estimates)
        if not self.remaining.any():
            value = float(self._credits.mean())
            return Interval(value, value, value)
        squares = float((weights**2).sum())
        seen_variance = float(weights**2 @ (estimates - value) ** 2) / (1 - squares)
        expected_variance = float(weights**2 @ np.square(self._expected_deviations))
        # there are about 1 / squares draws, and one more
        variance = (seen_variance + squares * expected_variance) / (1 + squares)
        degrees = max(1, int(1 / squares) - 1)
        quantile = NormalDist().inv_cdf((1 + level) / 2) * student_over_normal(degrees, level)
        # in log-odds, since a share near 0 or 1 has more room on one side than on the other
        share = min(max(value, _EDGE), 1 - _EDGE)
        half = quantile * math.sqrt(variance) / (share * (1 - share))
        ends = _logistic(_logit(np.array(share)) + np.array([-half, half]))
        # whatever the other questions hold, what was seen is certain
        least = float(np.nansum(self._credits)) / len(self._credits)
        most = least + float(np.isnan(self._credits).mean())
        point, low, high = np.clip([value, *ends], least, most).tolist()
        return Interval(point, min(point, low), max(point, high))


def _logistic(logits: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))))


def _logit(shares: FloatArray) -> FloatArray:
    return np.asarray(np.log(shares / (1 - shares)))
