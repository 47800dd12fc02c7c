"""Paired tests: known examples, SciPy, and p-values that are uniform where nothing differs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.metrics.strategies import random_items

from seesay.metrics import Resamples, ScoredItems, get, holm, mcnemar, paired_bootstrap, sign_flip
from seesay.metrics.base import FloatArray, weighted_mean
from seesay.metrics.paired import binomial_two_sided, difference


def means(values: FloatArray) -> FloatArray:
    return np.stack([values, np.ones_like(values)], axis=-1)


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [
        # Fay, "Exact McNemar's Test and Matching Confidence Intervals" (R package exact2x2), §2
        (9, 2, 0.06543),
        # van Son, University of Amsterdam, www.fon.hum.uva.nl/Service/Statistics/McNemars_test.html
        (12, 3, 0.0352),
        (11, 1, 26 / 4096),  # by hand: 2·(1 + 12) / 2¹²
        (0, 0, 1.0),
        (5, 5, 1.0),
    ],
)
def test_binomial_known_examples(one: int, other: int, p: float) -> None:
    assert binomial_two_sided(one, other) == pytest.approx(p, abs=5e-5)


@given(st.integers(0, 20_000), st.integers(0, 20_000))
def test_binomial_as_scipy(one: int, other: int) -> None:
    expected = stats.binomtest(one, one + other).pvalue if one + other else 1.0
    assert binomial_two_sided(one, other) == pytest.approx(expected, rel=1e-8, abs=1e-250)


def test_mcnemar_counts_each_question_once() -> None:
    # Over three templates: right in 2 of 3, wrong in 2 of 3; ties of ½ are not right.
    a = np.array([[1, 0, 0.5, 1], [1, 0, 0.5, 1], [0, 1, 0.5, 1]])
    b = np.array([[0, 0, 0.0, 1], [0, 0, 0.0, 1], [1, 0, 0.0, 1]])
    assert mcnemar(means(a), means(b)) == binomial_two_sided(1, 0)
    assert mcnemar(means(a), means(b), where=np.array([False, True, True, True])) == 1.0


def test_mcnemar_leaves_undefined_items_out() -> None:
    a, b = means(np.ones((1, 6))), means(np.zeros((1, 6)))
    a[0, 0] = 0
    assert mcnemar(a, b) == pytest.approx(2 / 2**5)


def test_sign_flip_by_enumeration() -> None:
    # Differences 1, 2, 3 of three objects: of the 8 sign patterns, 2 reach |sum| = 6.
    a, b = means(np.array([[1.0, 2.0, 3.0]])), means(np.zeros((1, 3)))
    assert sign_flip(a, b, ["x", "y", "z"], weighted_mean, flips=40_000) == pytest.approx(
        2 / 8, abs=0.01
    )


def test_sign_flip_as_scipy_permutation_test() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random(25) + 0.15, rng.random(25)
    expected = stats.permutation_test(
        (a, b),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        rng=1,
    ).pvalue
    ours = sign_flip(means(a[None]), means(b[None]), np.arange(25), weighted_mean, flips=20_000)
    assert ours == pytest.approx(expected, abs=0.012)


def test_paired_bootstrap_of_a_mean_is_near_the_t_test() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random(300) + 0.04, rng.random(300)
    ours = paired_bootstrap(
        means(a[None]), means(b[None]), Resamples(np.arange(300)), weighted_mean
    )
    t_test = stats.ttest_rel(a, b)
    assert ours.difference == pytest.approx((a - b).mean())
    assert (ours.value_a, ours.value_b) == pytest.approx((a.mean(), b.mean()))
    assert (ours.low, ours.high) == pytest.approx(tuple(t_test.confidence_interval()), abs=0.004)
    assert ours.p == pytest.approx(t_test.pvalue, abs=0.02)


def test_one_model_does_not_differ_from_itself() -> None:
    one = get("macro_f1").stats(random_items(0))[None]
    resamples = Resamples(np.arange(50), 500)
    ours = paired_bootstrap(one, one, resamples, get("macro_f1").value)
    assert (ours.difference, ours.p) == (0.0, 1.0)
    # alike on 50 objects: others may differ either way, as often as none of 50 allows (Wilson)
    assert (ours.low, ours.high) == pytest.approx((-0.0713, 0.0713), abs=1e-4)
    assert sign_flip(one, one, np.arange(50), get("macro_f1").value, flips=500) == 1.0


@pytest.mark.parametrize("objects", [10, 100])
def test_four_to_none_shows_nothing(objects: int) -> None:
    """McNemar's p of 4 to 0 is 0.125, however many objects both models are right about."""
    a = np.ones((1, objects))
    b = np.ones((1, objects))
    b[0, :4] = 0
    ours = paired_bootstrap(means(a), means(b), Resamples(np.arange(objects)), weighted_mean)
    assert ours.low < 0 < ours.difference < ours.high
    assert ours.p > 0.05


def test_both_tests_are_symmetric_and_seeded() -> None:
    metric = get("relaxed_accuracy")
    a, b = (metric.stats(random_items(seed))[None] for seed in (0, 1))
    resamples = Resamples(np.arange(50) // 2, 800, seed=2)
    ahead, behind = (paired_bootstrap(x, y, resamples, metric.value) for x, y in ((a, b), (b, a)))
    assert (ahead.difference, ahead.low, ahead.p) == pytest.approx(
        (-behind.difference, -behind.high, behind.p)
    )
    p = [
        sign_flip(x, y, np.arange(50) // 2, metric.value, flips=800, seed=2)
        for x, y in ((a, b), (b, a), (a, b))
    ]
    assert p[0] == p[1] == p[2]


def two_models(seed: int, name: str, gain: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Two models with the same gold labels and independent noise; the first knows `gain` more."""
    one, other = random_items(seed, n=120, width=4), random_items(seed + 10_000, n=120, width=4)
    metric = get(name)
    better = ScoredItems(one.scores + gain * one.is_gold, one.gold)
    return metric.stats(better)[None], metric.stats(ScoredItems(other.scores, one.gold))[None]


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["relaxed_accuracy", "macro_f1"])
def test_p_values_are_uniform_under_the_null(name: str) -> None:
    metric, objects, trials = get(name), np.arange(120) // 2, 250
    flips, boots = [], []
    for trial in range(trials):
        a, b = two_models(trial, name)
        flips.append(sign_flip(a, b, objects, metric.value, flips=299, seed=trial))
        boots.append(paired_bootstrap(a, b, Resamples(objects, 299, seed=trial), metric.value).p)
    # Three standard errors of a share of 250 trials are 0.041 at 0.05 and 0.095 at 0.5.
    for p in (np.array(flips), np.array(boots)):
        assert (p <= 0.05).mean() <= 0.05 + 0.041
        assert (p <= 0.5).mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("name", ["relaxed_accuracy", "macro_f1"])
def test_a_real_difference_is_found(name: str) -> None:
    a, b = two_models(1, name, gain=1.5)
    assert sign_flip(a, b, np.arange(120) // 2, get(name).value, flips=2000) < 0.01
    assert paired_bootstrap(a, b, Resamples(np.arange(120) // 2, 2000), get(name).value).p < 0.01


def test_shares_are_no_farther_apart_than_can_be() -> None:
    """What widens an interval of three objects must not lead beyond a difference of one."""
    a, b = means(np.array([[1.0, 0.0, 0.0]])), means(np.array([[0.0, 1.0, 0.0]]))
    draw = Resamples(np.arange(3), 500)
    shares = paired_bootstrap(a, b, draw, weighted_mean)
    assert (shares.difference, shares.low, shares.high) == (0, -1, 1)
    endless = paired_bootstrap(a, b, draw, weighted_mean, most=np.inf)
    assert endless.low < -1
    assert endless.high > 1
    assert shares.p == endless.p


def test_figures_below_zero_may_be_farther_apart_than_the_largest() -> None:
    a, b = means(np.array([[1.0, -1.0, 0.5]])), means(np.array([[-1.0, 1.0, -0.5]]))
    signed = paired_bootstrap(a, b, Resamples(np.arange(3), 500), weighted_mean)
    assert signed.low < -1
    assert signed.high > 1


def test_equal_figures_without_a_largest_value_have_finite_ends() -> None:
    same = means(np.array([[2.0, 2.0, 2.0]]))
    ours = paired_bootstrap(same, same, Resamples(np.arange(3), 50), weighted_mean, most=np.inf)
    assert -1 < ours.low < 0 < ours.high < 1


def test_undefined_figures_have_no_p_value() -> None:
    a, b = means(np.ones((1, 4))), means(np.zeros((1, 4)))
    nothing = np.zeros(4, dtype=np.bool_)
    assert np.isnan(sign_flip(a, b, np.arange(4), weighted_mean, where=nothing))
    assert np.isnan(
        paired_bootstrap(a, b, Resamples(np.arange(4), 50), weighted_mean, where=nothing).p
    )


def test_models_must_answer_the_same_items() -> None:
    with pytest.raises(ValueError, match="same items"):
        mcnemar(np.ones((1, 2, 2)), np.ones((1, 3, 2)))


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),  # 3·0.01, then 2·0.03, then max(0.06, 1·0.04)
        ([0.01, 0.02, 0.03, 0.005], [0.03, 0.04, 0.04, 0.02]),
        ([0.9, 0.8], [1.0, 1.0]),
        ([], []),
    ],
)
def test_holm_by_hand(p: list[float], expected: list[float]) -> None:
    assert holm(p).tolist() == pytest.approx(expected)


def test_mcnemar_has_no_opinion_on_ties() -> None:
    tied = np.stack([np.full((1, 8), 0.5), np.ones((1, 8))], axis=-1)
    wrong = np.stack([np.zeros((1, 8)), np.ones((1, 8))], axis=-1)
    assert np.isnan(mcnemar(tied, wrong))
    half = np.concatenate([tied[:, :4], wrong[:, :4]], axis=1)
    right = np.ones((1, 8, 2))
    assert mcnemar(half, right) == binomial_two_sided(0, 4)


def test_a_difference_above_1_that_all_share_is_not_certain() -> None:
    """Two models whose scores differ by 3 on each of 20 objects may differ otherwise elsewhere."""
    alike = np.full(100, 5.0)
    between = difference((5.0, alike), (2.0, alike - 3), objects=20, differing=20, most=math.inf)
    assert between.difference == 3.0
    assert between.low < 3.0 < between.high
