"""The interval that holds at any time: wealth worked by hand, and coverage in simulation.

`pytest -m slow -s tests/metrics/test_sequences.py` prints the rates that docs/fewer-questions.md
shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seesay.metrics.base import FloatArray, IntArray
from seesay.metrics.sequences import Draws, PairedSequence, log_wealths, planned_stakes
from seesay.runs.settle import rounds

WORLDS = 2_000
RICH = math.log(40)


def ungrouped(count: int) -> IntArray:
    """No question is like another."""
    return np.arange(count)[None]


def draw_all(
    gains: FloatArray, groups: IntArray, seed: int = 0, weights: FloatArray | None = None
) -> PairedSequence:
    """Draw every question in the rounds of `--until-settled`."""
    sequence = PairedSequence(groups)
    weights = np.ones(len(gains)) if weights is None else weights
    for rows in rounds(len(gains), seed):
        sequence.add(rows, gains[rows], weights[rows])
    return sequence


def draws(gains: Sequence[float], population: int) -> Draws:
    """One round, of which nothing was predicted."""
    sequence = PairedSequence(ungrouped(population))
    numbers = np.array(gains, dtype=np.float64)
    sequence.add(np.arange(len(numbers)), numbers, np.ones(len(numbers)))
    return sequence.draws


def test_stakes_are_planned_for_fewer_and_fewer_questions() -> None:
    """Of 128 questions: for 256, 64 and 16 drawn with replacement."""
    assert planned_stakes(128) == pytest.approx([math.sqrt(10 / n) for n in (256, 64, 16)])
    assert len(planned_stakes(3)) == 1


def test_the_wealth_of_two_draws() -> None:
    """Of eight questions whose mean gain is 0, after a gain of 1 the other seven have -1/7 on
    average. A stake s is s/0.5 of the first gain, since 0.5 is the standard deviation assumed, but
    no more than 0.98 of what can be lost: 1, and then 6/7."""
    (stake,) = planned_stakes(8)
    first = min(stake / 0.5, 0.98)
    second = min(stake / 0.5 * 8 / 7, 0.98 / (6 / 7))
    expected = [math.log(1 + first), math.log((1 + first) * (1 + second / 7))]
    assert log_wealths(draws([1.0, 0.0], 8), 8, 0.0) == pytest.approx(expected)


def test_what_cannot_be_made_up_for_is_refuted() -> None:
    """Two gains of three: for a mean of 0 the last would have to be -2."""
    wealths = log_wealths(draws([1.0, 1.0, 1.0], 3), 3, 0.0)
    assert np.isfinite(wealths[:2]).all()
    assert wealths[2] == math.inf


def test_an_interval_ends_where_the_wealth_is_forty() -> None:
    sequence = PairedSequence(ungrouped(100))
    sequence.add(np.arange(20), np.ones(20), np.ones(20))
    interval = sequence.interval()
    wealths = log_wealths(sequence.draws, 100, interval.low)
    assert wealths[-1] == pytest.approx(RICH, abs=1e-5)
    assert 0 < interval.low < interval.value <= interval.high


def test_predictions_come_before_the_draw() -> None:
    """The first round is drawn blindly; in the second, a question takes after those of its group,
    two of them shrunk by two more, and one that is like no other is expected to gain nothing."""
    sequence = PairedSequence(np.array([[0, 0, 0, 1]]))
    sequence.add(np.array([0, 1]), np.array([1.0, 1.0]), np.ones(2))
    assert list(sequence.draws.predictions) == [0, 0]
    sequence.add(np.array([2, 3]), np.array([1.0, 0.0]), np.ones(2))
    assert sequence.draws.predictions[2:] == pytest.approx([0.5, 0.0])
    assert sequence.draws.means[2:] == pytest.approx([0.25, 0.0])
    assert list(sequence.draws.highest[2:]) == pytest.approx([0.5, 0.5])


def test_predictions_save_questions() -> None:
    """Where gains depend on the group alone, the difference is known long before the end: after a
    seventh of the questions, the interval is less than half as wide."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, 1000)
    gains = np.array([0.9, -0.9, 0.5, -0.3])[groups]
    narrow, wide = PairedSequence(groups[None]), PairedSequence(ungrouped(1000))
    for rows in list(rounds(1000, 0))[:17]:
        for sequence in (narrow, wide):
            sequence.add(rows, gains[rows], np.ones(len(rows)))
    intervals = [sequence.interval() for sequence in (narrow, wide)]
    for interval in intervals:
        assert interval.low <= gains.mean() <= interval.high
    assert 2 * (intervals[0].high - intervals[0].low) < intervals[1].high - intervals[1].low


def test_all_questions_leave_no_doubt() -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 2, 200).astype(np.float64)
    gains = rng.choice([-1.0, 0.5, 1.0], 200) * weights
    interval = draw_all(gains, ungrouped(200), weights=weights).interval()
    truth = gains.sum() / weights.sum()
    assert (interval.low, interval.value, interval.high) == pytest.approx((truth, truth, truth))


def test_a_gain_beyond_its_weight_is_refused() -> None:
    with pytest.raises(ValueError, match="between minus and plus"):
        draws([1.5], 2)


gains_of_forty = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=40, max_size=40)


@given(gains_of_forty, st.integers(1, 39))
def test_swapping_the_models_turns_the_interval(gains: list[float], count: int) -> None:
    numbers = np.array(gains)
    intervals = []
    for signed in (numbers, -numbers):
        sequence = PairedSequence(np.arange(40)[None] % 7)
        for rows in np.split(np.arange(count), [8]):
            sequence.add(rows, signed[rows], np.ones(len(rows)))
        intervals.append(sequence.interval())
    one, other = intervals
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))
    assert one.low <= one.value <= one.high
    # what is certain: the mean if all that remain were the worst, or the best
    assert one.low <= (numbers[:count].sum() + 40 - count) / 40
    assert one.high >= (numbers[:count].sum() - 40 + count) / 40


@given(gains_of_forty, st.integers(1, 40))
def test_the_wealth_falls_as_the_difference_rises(gains: list[float], count: int) -> None:
    sequence = PairedSequence(np.arange(40)[None] % 7)
    numbers = np.array(gains)
    for rows in np.split(np.arange(count), [8]):
        sequence.add(rows, numbers[rows], np.ones(len(rows)))
    grid = np.linspace(-0.99, 1, 81)
    last = [log_wealths(sequence.draws, 40, difference)[-1] for difference in grid]
    assert all(before >= after - 1e-9 for before, after in pairwise(last))


def draw_world(rng: np.random.Generator, questions: int, kind: str) -> tuple[FloatArray, IntArray]:
    """Two models on all prompts of a task, and what predictions go by.

    `lopsided`: one is ahead by much on few questions, the other by little on many. `biased`: two
    options, and models that mostly say one of them. `templates`: six templates that mostly agree.
    """
    if kind == "lopsided":
        is_far = rng.random(questions) < 0.1
        first = rng.random(questions) < np.where(is_far, 0.95, 0.45)
        second = rng.random(questions) < np.where(is_far, 0.05, 0.55)
        return first * 1.0 - second, ungrouped(questions)
    if kind == "biased":
        gold = rng.integers(0, 2, questions)
        says = rng.random((2, questions)) < np.array([[0.9], [0.2]])
        right = says == gold
        return right[0] * 1.0 - right[1], gold[None]
    skill = rng.beta(0.5, 0.5, (2, 1, questions // 6))
    right = rng.random((2, 6, questions // 6)) < skill
    numbers = np.tile(np.arange(questions // 6), 6)
    return (right[0] * 1.0 - right[1]).reshape(-1), np.stack([numbers % 11, numbers])


KINDS = ["lopsided", "biased", "templates"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prompts", [120, 360, 1_200])
def test_equal_models_are_told_apart_once_in_twenty_at_most(kind: str, prompts: int) -> None:
    """Whoever stops at the first prompt after which zero is excluded, errs at most that often.

    Half of the prompts are the other half with the models exchanged: the difference is zero."""
    wrong = 0
    for seed in range(WORLDS):
        half, groups = draw_world(np.random.default_rng([39, seed]), prompts // 2, kind)
        gains = np.concatenate([half, -half])
        twins = np.concatenate([groups, groups + groups.max() + 1], axis=1)
        draws = draw_all(gains, twins, seed).draws
        wrong += is_ever_excluded(draws, prompts, 0.0)
    print(f"{kind}, {prompts} prompts: {wrong / WORLDS:.1%} wrong at any stopping time")
    assert wrong / WORLDS <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prompts", [120, 360, 1_200])
def test_the_interval_covers_the_truth_at_all_times(kind: str, prompts: int) -> None:
    covered = 0
    for seed in range(WORLDS):
        gains, groups = draw_world(np.random.default_rng([40, seed]), prompts, kind)
        draws = draw_all(gains, groups, seed).draws
        covered += not is_ever_excluded(draws, prompts, float(gains.mean()))
    print(f"{kind}, {prompts} prompts: {covered / WORLDS:.1%} covered at all times")
    assert covered / WORLDS >= 0.94


def is_ever_excluded(drawn: Draws, population: int, truth: float) -> bool:
    """Whether the wealth against the truth exceeds forty after any draw, on either side."""
    above = log_wealths(drawn, population, truth)
    below = log_wealths(drawn.reversed(), population, -truth)
    return bool(max(above.max(), below.max()) >= RICH)
