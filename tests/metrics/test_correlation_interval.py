"""Intervals of rank correlations over items that share things."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from seesay.metrics.correlation_interval import correlation_interval


def test_single_things_have_the_jackknife_of_fishers_z() -> None:
    """By SciPy's correlations, one item left out in turn, and its quantile of Student's t."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=40)
    b = a + rng.normal(size=40)
    rho = stats.spearmanr(a, b).statistic
    without = [
        stats.spearmanr(np.delete(a, item), np.delete(b, item)).statistic for item in range(40)
    ]
    variance = 39 * np.var(without)
    reach = stats.t.ppf(0.975, 38) * math.sqrt(variance) / (1 - rho**2)
    ours = correlation_interval(a[None], b[None], things=[[str(item)] for item in range(40)])
    assert ours.value == pytest.approx(rho)
    expected = np.tanh([math.atanh(rho) - reach, math.atanh(rho) + reach])
    assert [ours.low, ours.high] == pytest.approx(expected.tolist(), abs=1e-3)


def test_pairs_that_share_words_say_less_than_pairs_that_do_not() -> None:
    rng = np.random.default_rng(1)
    shared = list(combinations([f"w{number}" for number in range(12)], 2))
    apart = [(f"a{number}", f"b{number}") for number in range(len(shared))]
    effects = rng.normal(size=(2, 12))
    first, second = np.array(list(combinations(range(12), 2))).T
    a, b = effects[:, first] + effects[:, second] + 0.1 * rng.normal(size=(2, len(shared)))
    of_shared = correlation_interval(a[None], b[None], things=shared)
    of_apart = correlation_interval(a[None], b[None], things=apart)
    assert of_shared.value == of_apart.value
    assert of_shared.high - of_shared.low > 1.5 * (of_apart.high - of_apart.low)


def test_rows_have_their_own_items_and_count_alike() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 3, 30))
    where = rng.random((3, 30)) < 0.7
    where[2] = False
    expected = [
        stats.spearmanr(a[row][where[row]], b[row][where[row]]).statistic for row in range(2)
    ]
    ours = correlation_interval(a, b, where, things=[[str(item)] for item in range(30)])
    assert ours.value == pytest.approx(np.mean(expected))
    assert -1 < ours.low < ours.value < ours.high < 1


def test_what_cannot_be_left_out_leaves_any_correlation_possible() -> None:
    a = np.array([[1.0, 2.0, 3.0]])
    pairs = [("x", "y"), ("x", "z"), ("y", "z")]
    ours = correlation_interval(a, np.array([[1.0, 3.0, 2.0]]), things=pairs)
    assert (ours.value, ours.low, ours.high) == (0.5, -1.0, 1.0)


def test_a_perfect_correlation_is_not_certain() -> None:
    a = np.arange(20.0)[None]
    ours = correlation_interval(a, a, things=[[str(item)] for item in range(20)])
    # Wilson's interval of none of 20 reaches 0.161, of a range from -1 to 1
    assert (ours.value, ours.high) == (1.0, 1.0)
    assert ours.low == pytest.approx(1 - 2 * 0.1611, abs=1e-3)


def test_equal_ratings_have_no_correlation() -> None:
    ours = correlation_interval(
        np.arange(5.0)[None], np.ones((1, 5)), things=[[str(item)] for item in range(5)]
    )
    assert np.isnan([ours.value, ours.low, ours.high]).all()
