"""Agreement: published worked examples, independent implementations, and laws."""

from __future__ import annotations

from itertools import permutations
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seesay.metrics import METRICS
from seesay.metrics.agreement import (
    cohen_kappa,
    fleiss,
    krippendorff,
    leave_one_out,
    one_against_others,
    rank_correlation,
    split_half,
)
from seesay.metrics.base import FloatArray, IntArray
from seesay.metrics.bootstrap import Resamples

# The worked example of ten subjects, fourteen raters and five categories on Wikipedia's page
# "Fleiss' kappa": kappa = 0.210 there.
FOURTEEN_RATERS = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)

# Fleiss 1971, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76(5),
# Table 1: 30 patients, 6 psychiatrists, 5 diagnoses. He finds .430.
PSYCHIATRISTS = np.array(
    [
        [int(n) for n in row]
        for row in [
            "00060",
            "03003",
            "01401",
            "00006",
            "03030",
            "20400",
            "00402",
            "20310",
            "20040",
            "00006",
            "10050",
            "11040",
            "03300",
            "10050",
            "02031",
            "00501",
            "30012",
            "51000",
            "02040",
            "10203",
            "00006",
            "01050",
            "02013",
            "20040",
            "10041",
            "05010",
            "40002",
            "02040",
            "10500",
            "00006",
        ]
    ]
)

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C: four observers, twelve
# units, missing data. He finds .743 for nominal, .815 for ordinal and .849 for interval data.
N = np.nan
FOUR_OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
).T


def test_fleiss_kappa_of_the_published_examples() -> None:
    assert fleiss(FOURTEEN_RATERS)() == pytest.approx(0.210, abs=5e-4)
    assert fleiss(PSYCHIATRISTS)() == pytest.approx(0.430, abs=5e-4)


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("interval", 0.849), ("ordinal", 0.815)]
)
def test_alpha_of_the_published_example(
    level: Literal["nominal", "ordinal", "interval"], published: float
) -> None:
    assert krippendorff(FOUR_OBSERVERS, level)() == pytest.approx(published, abs=5e-4)


def test_cohens_kappa_by_hand() -> None:
    """Two readers of 50 grant proposals: both yes 20, both no 15, 5 and 10 apart. (0.7 − 0.5) / (1
    − 0.5) = 0.4."""
    first = "y" * 25 + "n" * 25
    second = "y" * 20 + "n" * 5 + "y" * 10 + "n" * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert np.isnan(cohen_kappa("yy", "yy"))
    assert np.isnan(cohen_kappa("", ""))


def slow_alpha(ratings: FloatArray, level: str) -> float:
    """Straight from the definition: 1 − mean disagreement within units / mean disagreement of all
    pairable values."""
    units = [row[~np.isnan(row)] for row in ratings]
    units = [unit for unit in units if len(unit) > 1]
    pool = np.concatenate(units)
    values, counts = np.unique(pool, return_counts=True)

    def distance(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return float((a - b) ** 2)
        between = (values >= min(a, b)) & (values <= max(a, b))
        ends = counts[values == a][0] + counts[values == b][0]
        return float((counts[between].sum() - ends / 2) ** 2) if a != b else 0.0

    observed = sum(
        sum(distance(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    expected = sum(distance(a, b) for a, b in permutations(pool, 2)) / (len(pool) - 1)
    return 1 - observed / expected


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(4))
def test_alpha_equals_its_definition(
    level: Literal["nominal", "ordinal", "interval"], seed: int
) -> None:
    draw = np.random.default_rng(seed)
    ratings = np.where(
        draw.random((15, 5)) < 0.3, np.nan, draw.integers(1, 6, (15, 5)).astype(float)
    )
    assert krippendorff(ratings, level)() == pytest.approx(slow_alpha(ratings, level), abs=1e-10)


@given(st.permutations(range(4)), st.permutations(range(12)))
def test_the_order_of_people_and_items_does_not_matter(people: list[int], units: list[int]) -> None:
    assert krippendorff(FOUR_OBSERVERS[units][:, people], "ordinal")() == pytest.approx(
        krippendorff(FOUR_OBSERVERS, "ordinal")()
    )


def test_unanimous_people_agree_wholly_and_one_answer_to_all_is_not_defined() -> None:
    unanimous = np.array([[5, 0], [0, 5], [5, 0]])
    assert fleiss(unanimous)() == 1
    assert krippendorff(np.array([[1.0, 1, 1], [2, 2, 2]]), "nominal")() == 1
    assert np.isnan(fleiss(np.array([[5, 0], [5, 0]]))())
    assert np.isnan(krippendorff(np.full((3, 3), 2.0), "interval")())


def test_an_item_with_one_judgement_changes_nothing() -> None:
    more = np.vstack([FOURTEEN_RATERS, [[1, 0, 0, 0, 0]]])
    assert fleiss(more)() == pytest.approx(fleiss(FOURTEEN_RATERS)())


def test_the_interval_holds_the_figure() -> None:
    agreement = krippendorff(FOUR_OBSERVERS, "interval")
    interval = Resamples([str(i) for i in range(12)], 500).interval(
        agreement.rows[None], agreement.value
    )
    assert interval.value == pytest.approx(0.849, abs=5e-4)
    assert interval.low < interval.value < interval.high


def simulated(items: int, people: int, noise: float, seed: int = 0) -> FloatArray:
    draw = np.random.default_rng(seed)
    return np.asarray(draw.random((items, 1)) + noise * draw.standard_normal((items, people)))


def test_split_half_steps_up_to_the_reliability_of_all() -> None:
    """With noise of known size the reliability of the mean of n people is known: v / (v + noise² /
    n)."""
    ratings = simulated(3000, 10, noise=0.4)
    expected = (1 / 12) / (1 / 12 + 0.4**2 / 10)
    assert split_half(ratings, splits=20).spearman_brown == pytest.approx(expected, abs=0.02)
    assert split_half(ratings, splits=5, seed=3) == split_half(ratings, splits=5, seed=3)
    assert abs(split_half(np.random.default_rng(1).random((500, 6)), splits=20).correlation) < 0.1


def test_one_person_falls_short_of_all() -> None:
    ratings = simulated(400, 8, noise=0.3)
    ratings[np.random.default_rng(2).random(ratings.shape) < 0.5] = np.nan
    alone = one_against_others(ratings)
    assert 0.4 < alone < split_half(ratings, splits=20).spearman_brown
    assert np.isnan(one_against_others(np.full((4, 2), np.nan)))


def test_leave_one_out_by_hand() -> None:
    """Three say red, one says blue: each red has red typical of the rest (2 of 3, blue 1 of 3 is
    typical as well)."""
    items, rows = leave_one_out(np.array([[3, 1, 0], [1, 0, 0]]), np.ones((2, 3)))
    assert rows.tolist() == [0, 0, 0, 0]
    assert items.is_gold.tolist() == [[True, True, False]] * 3 + [[True, False, False]]
    assert METRICS["relaxed_accuracy"](items) == 0.75
    assert METRICS["true_confidence"](items) == 0.75


@given(st.lists(st.integers(0, 5), min_size=2, max_size=30), st.integers(0, 2**32 - 1))
def test_rank_correlation_is_scipys(x: list[int], seed: int) -> None:
    y: IntArray = np.random.default_rng(seed).integers(0, 4, len(x))
    ours = rank_correlation(np.array(x, dtype=float), y.astype(float))
    if len(set(x)) == 1 or len(set(y.tolist())) == 1:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(stats.spearmanr(x, y).statistic)
