"""Planted thresholds are recovered, the right function is preferred, and calibration is counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.modules import needed

from seesay.errors import UserError
from seesay.scenes.threshold_fit import (
    SizeJudgement,
    calibrate,
    calibration_error,
    fit_thresholds,
)
from seesay.scenes.thresholds import THRESHOLDS
from seesay.scenes.world import RADII, SHAPES, area

needed("scipy")

AREAS = sorted({area(shape, radius) for shape in SHAPES for radius in RADII})
PLANTED = {
    "rh-r": (0.35, 0.08),
    "rh-n": (0.4, 0.1),
    "rh-sd": (0.5, 0.2),
    "rh-c": (0.1, 0.08),
    "ah": (28_000.0, 4_000.0),
}


def simulate(
    name: str, people: int, *, lapse: float = 0.04, seed: int = 0, mean: float | None = None
) -> list[SizeJudgement]:
    """Return what people say of 40 things each, who draw a k for every judgement."""
    rng = np.random.default_rng(seed)
    function = THRESHOLDS[name]
    planted, deviation = PLANTED[name]
    judgements = []
    for person in range(people):
        for _ in range(40):
            sizes = rng.choice(AREAS, rng.integers(5, 10)).astype(np.float64)
            if sizes.min() == sizes.max():
                continue
            k = np.array([rng.normal(planted if mean is None else mean, deviation)])
            line = function.line(sizes[None], np.ones((1, len(sizes)), dtype=bool), k)
            big = sizes[0] > line[0]
            if rng.random() < lapse:
                big = rng.random() < 0.5
            judgement = SizeJudgement(tuple(sizes.tolist()), sizes[0], float(big), str(person))
            judgements.append(judgement)
    return judgements


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_planted_threshold_is_recovered_and_its_function_preferred(name: str) -> None:
    judgements = simulate(name, people=150)
    first, second, *_ = fit_thresholds(judgements, list(THRESHOLDS.values()), resamples=0)
    mean, deviation = PLANTED[name]
    assert first.threshold == name
    # 5 % of the planted k; of RH-C, whose k may be 0, 5 % of the range that it is a share of
    tolerance = 0.05 if name == "rh-c" else 0.05 * mean
    assert first.mean == pytest.approx(mean, abs=tolerance)
    assert first.deviation == pytest.approx(deviation, rel=0.2)
    assert first.lapse == pytest.approx(0.04, abs=0.02)
    # a difference of 10 in the logarithm for all judgements is e^10 to 1
    assert (first.log_likelihood - second.log_likelihood) * len(judgements) > 10


def test_interval_holds_the_planted_threshold() -> None:
    (fit,) = fit_thresholds(simulate("rh-r", people=60), [THRESHOLDS["rh-r"]], resamples=60)
    assert fit.mean_low < 0.35 < fit.mean_high
    assert 0.01 < fit.mean_high - fit.mean_low < 0.06


def test_absolute_people_are_told_from_relative_ones() -> None:
    # "full" has one line, whatever stands beside it; "tall" has one for every set
    functions = [THRESHOLDS["ah"], THRESHOLDS["rh-r"]]
    full = fit_thresholds(simulate("ah", people=10, mean=50_000.0), functions, resamples=0)
    tall = fit_thresholds(simulate("rh-r", people=10), functions, resamples=0)
    assert full[0].threshold == "ah"
    assert tall[0].threshold == "rh-r"


def test_shares_weigh_as_the_judgements_they_are_of() -> None:
    judgements = simulate("rh-r", people=20)
    split = []
    for judgement in judgements:
        # three people of four agree with the one
        split += [replace(judgement, big=judgement.big)] * 3
        split += [replace(judgement, big=1 - judgement.big)]
    shared = [replace(each, big=0.75 * each.big + 0.25 * (1 - each.big)) for each in judgements]
    rh_r = [THRESHOLDS["rh-r"]]
    (of_rows,) = fit_thresholds(split, rh_r, resamples=0)
    (of_shares,) = fit_thresholds(shared, rh_r, resamples=0)
    assert of_shares.mean == pytest.approx(of_rows.mean, abs=2e-3)
    assert of_shares.log_likelihood == pytest.approx(of_rows.log_likelihood, abs=1e-3)


def test_calibration_of_whoever_has_the_vague_k() -> None:
    people = simulate("rh-r", people=200, lapse=0.0, mean=0.29)
    function = replace(THRESHOLDS["rh-r"], deviation=0.08)
    bins = calibrate(people, function)
    assert sum(each.judgements for each in bins) == len(people)
    assert all(each.low <= each.expected <= each.high for each in bins)
    assert calibration_error(bins) < 0.02
    # whoever is always sure is far from it where the vague k is not
    sure = [replace(each, big=1.0) for each in people]
    assert calibration_error(calibrate(sure, function)) > 0.3


def test_too_little_to_fit() -> None:
    judgements = simulate("rh-r", people=1)
    with pytest.raises(UserError, match="10 judgements or more"):
        fit_thresholds(judgements[:9], [THRESHOLDS["rh-r"]])
    with pytest.raises(UserError, match="All judgements are the same"):
        fit_thresholds([replace(each, big=1.0) for each in judgements], [THRESHOLDS["rh-r"]])
