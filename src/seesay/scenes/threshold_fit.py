"""Where a speaker's threshold lies: threshold functions fitted to judgements.

A judgement says whether a thing is big among others. Given a threshold function, it says on which
side of the thing's crossing the speaker's k was. With k from a Normal distribution and a share of
judgements that are guesses (lapses), P(big) = lapse / 2 + (1 − lapse) Φ(z), whose three parameters
are found by maximum likelihood. All functions have the same three, so that their likelihoods on the
same judgements can be compared as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from seesay.errors import UserError
from seesay.scenes.defaults import RESAMPLES
from seesay.scenes.thresholds import RH_R, Threshold, Values

FEWEST = 10
"""Judgements that a fit needs."""
SEED = 0
BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
"""Bounds of the probabilities in `calibrate`."""
_STARTS = 9  # quantiles of the crossings at which the search for the mean begins
_STEEPNESS = (0.05, 0.3)  # deviations to begin with, as shares of the crossings' own
_LAPSE_ODDS = -4.0  # the logarithm: lapses of 2 % to begin with
_LEAST = 1e-9  # no judgement is impossible: one with a probability of 0 would decide alone


@dataclass(frozen=True, slots=True)
class SizeJudgement:
    """A thing that was judged big, or not, among others."""

    sizes: tuple[float, ...]
    """Those of its reference set, its own among them."""
    size: float
    big: float
    """1 if it was called big, 0 if not; between them, the share or the probability of big."""
    cluster: str
    """Judgements of one cluster depend on one another: of one scene, or by one person."""

    @property
    def has_threshold(self) -> bool:
        """Return whether the set has a range in which a threshold can lie."""
        return min(self.sizes) < max(self.sizes)


@dataclass(frozen=True, slots=True)
class ThresholdFit:
    """The parameters under which the judgements are most probable."""

    threshold: str
    mean: float
    """Of k, in the units of the threshold function."""
    mean_low: float
    mean_high: float
    deviation: float
    """Of k from judgement to judgement."""
    lapse: float
    """The share of judgements that are guesses."""
    log_likelihood: float
    """Per judgement; 0 is best, and a coin has ln 0.5 = −0.693."""
    judgements: int


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Judgements of things that a vague k calls big with about the same probability."""

    low: float
    high: float
    judgements: int
    expected: float
    """The mean probability that k gives."""
    observed: float
    """The mean share, or confidence, of big."""


def fit_thresholds(
    judgements: Sequence[SizeJudgement],
    thresholds: Sequence[Threshold],
    *,
    resamples: int = RESAMPLES,
) -> list[ThresholdFit]:
    """Fit every threshold function, and return the fits, the most probable one first.

    The interval of the mean (95 %) comes from resampled clusters of judgements.
    """
    refuse_too_few(judgements)
    big = np.array([judgement.big for judgement in judgements])
    counts = _resampled_counts([judgement.cluster for judgement in judgements], resamples)
    fits = []
    for threshold in thresholds:
        crossing = crossings(judgements, threshold)
        start = _best_start(threshold, crossing, big)
        every = np.ones(len(big))
        estimate = _maximise(threshold, crossing, big, every, start)
        means = [estimate[0]]
        for weights in counts:
            means.append(_maximise(threshold, crossing, big, weights, estimate)[0])
        mean_low, mean_high = np.quantile(means, (0.025, 0.975)).tolist()
        loss = _loss(estimate, threshold, crossing, big, every)
        mean, deviation, lapse = _parameters(estimate)
        fits.append(
            ThresholdFit(
                threshold=threshold.name,
                mean=mean,
                mean_low=mean_low,
                mean_high=mean_high,
                deviation=deviation,
                lapse=lapse,
                log_likelihood=-loss / len(big),
                judgements=len(big),
            )
        )
    return sorted(fits, key=lambda fit: -fit.log_likelihood)


def calibrate(
    judgements: Sequence[SizeJudgement], threshold: Threshold = RH_R
) -> list[CalibrationBin]:
    """Compare how often things are called big with the probability that the function's k gives.

    Bins without any judgement are left out.
    """
    from scipy.special import ndtr

    crossing = crossings(judgements, threshold)
    expected = ndtr(threshold.margin(crossing, threshold.mean, threshold.deviation))
    big = np.array([judgement.big for judgement in judgements])
    # the last bin has its upper bound, too
    places = np.digitize(expected, BINS[1:-1])
    bins = []
    for place, (low, high) in enumerate(pairwise(BINS)):
        here = places == place
        if here.any():
            means = (float(expected[here].mean()), float(big[here].mean()))
            bins.append(CalibrationBin(low, high, int(here.sum()), *means))
    return bins


def calibration_error(bins: Sequence[CalibrationBin]) -> float:
    """Return the mean distance of observed from expected shares, weighted by judgements."""
    total = sum(each.judgements for each in bins)
    return sum(each.judgements * abs(each.observed - each.expected) for each in bins) / total


def refuse_too_few(judgements: Sequence[SizeJudgement]) -> None:
    """Refuse judgements from which no threshold follows."""
    if len(judgements) < FEWEST:
        raise UserError(
            f"A threshold is fitted to {FEWEST} judgements or more, not {len(judgements)}: give "
            "more, each with a set whose sizes differ."
        )
    if len({judgement.big for judgement in judgements}) == 1:
        raise UserError("All judgements are the same: no threshold follows from them.")


def crossings(judgements: Sequence[SizeJudgement], threshold: Threshold) -> Values:
    """Return the k of every judgement's thing at which it becomes big, or ceases to be."""
    parts = []
    for judgement in judgements:
        sizes = np.array([judgement.sizes], dtype=np.float64)
        everything = np.ones(sizes.shape, dtype=bool)
        parts.append(threshold.crossing(sizes, everything, np.array([judgement.size])))
    return np.concatenate(parts)


def _resampled_counts(clusters: Sequence[str], resamples: int) -> list[Values]:
    """Return how often each judgement is in every resample: as often as its cluster."""
    names, places = np.unique(np.array(clusters), return_inverse=True)
    rng = np.random.default_rng(SEED)
    even = np.full(len(names), 1 / len(names))
    draws = rng.multinomial(len(names), even, size=resamples)
    return [draw[places].astype(np.float64) for draw in draws]


def _best_start(threshold: Threshold, crossing: Values, big: Values) -> Values:
    """Return the most probable of a grid of parameters, from which the search begins."""
    finite = crossing[np.isfinite(crossing)]
    every = np.ones(len(big))
    spread = max(float(finite.std()), 1e-6)
    means = np.quantile(finite, np.linspace(0.05, 0.95, _STARTS))
    starts = []
    for mean, share in product(means, _STEEPNESS):
        starts.append(np.array([mean, np.log(share * spread), _LAPSE_ODDS]))
    return min(starts, key=lambda start: _loss(start, threshold, crossing, big, every))


def _maximise(
    threshold: Threshold, crossing: Values, big: Values, weights: Values, start: Values
) -> Values:
    """Return the mean of k, the logarithm of its deviation and the log-odds of a lapse."""
    from scipy.optimize import minimize

    # steps in the units of each parameter: a mean may be 0.3 of a range or 30,000 pixels
    steps = np.array([np.exp(start[1]), 0.3, 0.5])
    simplex = np.vstack([start, start + np.diag(steps)])
    arguments = (threshold, crossing, big, weights)
    options = {"initial_simplex": simplex, "xatol": 1e-4 * steps[0], "fatol": 1e-4, "maxiter": 600}
    result = minimize(_loss, start, args=arguments, method="Nelder-Mead", options=options)
    return np.asarray(result.x)


def _parameters(point: Values) -> tuple[float, float, float]:
    """Return mean, deviation and lapse of a point of the search, where all three are unbounded."""
    from scipy.special import expit

    # beyond these bounds the likelihood no longer changes, and the exponential would overflow
    deviation = np.exp(np.clip(point[1], -50, 50))
    return float(point[0]), float(deviation), float(expit(point[2]))


def _loss(
    point: Values, threshold: Threshold, crossing: Values, big: Values, weights: Values
) -> float:
    """Return the negative log-likelihood of the judgements."""
    from scipy.special import ndtr

    mean, deviation, lapse = _parameters(point)
    by_threshold = ndtr(threshold.margin(crossing, mean, deviation))
    probability = np.clip(lapse / 2 + (1 - lapse) * by_threshold, _LEAST, 1 - _LEAST)
    likelihood = big * np.log(probability) + (1 - big) * np.log1p(-probability)
    return float(-(weights * likelihood).sum())
