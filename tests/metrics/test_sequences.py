"""The interval that holds at any time: wealth worked by hand, and coverage in simulation.

`pytest -m slow -s tests/metrics/test_sequences.py` prints the rates that docs/fewer-questions.md
shows.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seesay.metrics.base import FloatArray
from seesay.metrics.sequences import PairedGains, interval_at_any_time, log_wealth

WORLDS = 2_000
STAKES = [0.9 * 0.5**power for power in range(10)]


def pair(gains: list[float] | FloatArray, population: int | None = None) -> PairedGains:
    """Objects of one question each."""
    numbers = np.asarray(gains, dtype=np.float64)
    return PairedGains(numbers, np.ones(len(numbers)), 1.0, population)


def test_the_wealth_of_two_bets() -> None:
    """Against no difference, a gain of 1 multiplies a stake f by 1 + f, a loss by 1 - f."""
    expected = sum((1 + f) * (1 - f) for f in STAKES) / 10
    assert log_wealth(pair([1.0, -1.0]), 0.0) == pytest.approx(math.log(expected))
    # against 0.5, the worst loss is 1.5, and a gain of 1 is a third of it
    expected = sum(1 + f / 3 for f in STAKES) / 10
    assert log_wealth(pair([1.0]), 0.5) == pytest.approx(math.log(expected))


def test_the_wealth_without_replacement() -> None:
    """Of three objects whose mean gain is 0, after a gain of 1 the other two are -0.5 on average:
    0 is then 0.5 more than expected, where 0.5 is the most that can be lost."""
    expected = sum((1 + f) * (1 + f) for f in STAKES) / 10
    assert log_wealth(pair([1.0, 0.0], population=3), 0.0) == pytest.approx(math.log(expected))
    # two gains of three: the last would have to be -2
    assert log_wealth(pair([1.0, 1.0, 1.0], population=3), 0.0) == math.inf


def test_an_interval_by_hand() -> None:
    """After n gains of 1, only the largest stakes count: the bound is where the wealth is 40."""
    interval = interval_at_any_time(pair([1.0] * 6))
    assert interval.value == interval.high == 1
    wealth = log_wealth(pair([1.0] * 6), interval.low)
    assert wealth == pytest.approx(math.log(40), abs=1e-6)


def test_all_objects_of_a_population_leave_no_doubt() -> None:
    interval = interval_at_any_time(pair([1.0, 0.0, -1.0, 1.0], population=4))
    assert interval.low <= 0.25 <= interval.high
    rng = np.random.default_rng(0)
    gains = rng.choice([-1.0, 0.0, 1.0], 400, p=[0.2, 0.5, 0.3])
    interval = interval_at_any_time(pair(gains, population=400))
    assert interval.high - interval.low < 0.01


def test_a_gain_beyond_its_weight_is_refused() -> None:
    with pytest.raises(ValueError, match="between minus and plus"):
        pair([1.5])


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=40))
def test_swapping_the_models_turns_the_interval(gains: list[float]) -> None:
    one = interval_at_any_time(pair(gains))
    other = interval_at_any_time(pair([-gain for gain in gains]))
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))
    assert one.low <= one.value <= one.high


def draw_gains(rng: np.random.Generator, objects: int, kind: str) -> tuple[FloatArray, FloatArray]:
    """Two models that are equally good in expectation: their gains and weights, object by object.

    `lopsided`: one is ahead by much on few objects, the other by little on many. `clustered`: one
    to five questions that go together. `templates`: six templates that mostly agree.
    """
    if kind == "lopsided":
        is_far = rng.random(objects) < 0.1
        first = rng.random(objects) < np.where(is_far, 0.95, 0.45)
        second = rng.random(objects) < np.where(is_far, 0.05, 0.55)
        return first * 1.0 - second, np.ones(objects)
    if kind == "clustered":
        sizes = rng.integers(1, 6, objects)
        skill = rng.beta(0.5, 0.5, (2, objects))
        right = rng.binomial(sizes, skill)
        return (right[0] - right[1]).astype(np.float64), sizes.astype(np.float64)
    skill = rng.beta(0.5, 0.5, (2, objects))
    shares = rng.binomial(6, skill) / 6
    return shares[0] - shares[1], np.ones(objects)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lopsided", "clustered", "templates"])
@pytest.mark.parametrize("objects", [100, 350, 1000])
def test_equal_models_are_told_apart_once_in_twenty_at_most(kind: str, objects: int) -> None:
    """Whoever stops at the first object after which zero is excluded, errs at most that often."""
    wrong = 0
    for seed in range(WORLDS):
        gains, weights = draw_gains(np.random.default_rng([39, seed]), objects, kind)
        largest = float(weights.max())
        wrong += exceeds_at_any_time(gains, weights, largest)
    print(f"{kind}, {objects} objects: {wrong / WORLDS:.1%} wrong at any stopping time")
    assert wrong / WORLDS <= 0.05


def exceeds_at_any_time(gains: FloatArray, weights: FloatArray, largest: float) -> bool:
    """Whether zero is ever excluded. The wealth after every object is a running product."""
    for signed in (gains, -gains):
        growth = np.log1p(np.array(STAKES)[:, None] * signed / largest).cumsum(axis=1)
        wealth = np.logaddexp.reduce(growth, axis=0) - math.log(len(STAKES))
        pair_so_far = PairedGains(signed, weights, largest)
        assert wealth[-1] == pytest.approx(log_wealth(pair_so_far, 0.0))
        if wealth.max() >= math.log(40):
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("advantage", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("finite", [False, True])
def test_the_interval_covers_the_truth_at_all_times(advantage: float, finite: bool) -> None:
    """Of a world of objects, or of all 300 pairs of a task, asked without replacement."""
    covered = 0
    for seed in range(WORLDS):
        rng = np.random.default_rng([40, seed])
        skill = rng.beta(0.5, 0.5, 300)
        first = np.minimum(skill + advantage, 1.0)
        gains = (rng.random(300) < first) * 1.0 - (rng.random(300) < skill)
        # where objects are drawn anew for every world, the truth is the mean of all worlds
        truth = float(gains.mean()) if finite else EXPECTED[advantage]
        covered += covers(gains, truth, 300 if finite else None)
    print(f"advantage {advantage}, finite {finite}: {covered / WORLDS:.1%} covered at all times")
    assert covered / WORLDS >= 0.94


EXPECTED = {
    advantage: float(
        np.mean(np.minimum(np.random.default_rng(0).beta(0.5, 0.5, 2_000_000) + advantage, 1)) - 0.5
    )
    for advantage in (0.0, 0.1, 0.4)
}


def covers(gains: FloatArray, truth: float, population: int | None) -> bool:
    """Whether the truth stays inside at each of the looks that `--until-settled` takes."""
    rich = math.log(40)
    asked = 16
    while True:
        so_far = pair(gains[:asked], population)
        wealths = [log_wealth(so_far, truth), log_wealth(so_far.reversed(), -truth)]
        if max(wealths) >= rich:
            return False
        if asked >= len(gains):
            return True
        asked += max(8, asked // 8)
