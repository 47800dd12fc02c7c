"""Natural breaks: the optimum by brute force, jenkspy's, and laws."""

from __future__ import annotations

from itertools import combinations

import jenkspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from seesay.mining.natural_breaks import natural_breaks

Values = NDArray[np.float64]
some_values = st.lists(st.integers(-50, 50), min_size=1, max_size=9).map(
    lambda v: np.array(v, dtype=float)
)


def deviation(values: Values, classes: NDArray[np.int64]) -> float:
    """The squared deviation within classes that natural breaks minimise."""
    return float(
        sum(
            np.square(values[classes == c] - values[classes == c].mean()).sum()
            for c in np.unique(classes)
        )
    )


def least_deviation(values: Values, classes: int) -> float:
    """By trying every partition of the sorted values that separates no equal ones."""
    ordered = np.sort(values)
    places = [i for i in range(1, len(ordered)) if ordered[i] > ordered[i - 1]]
    cuts = min(classes - 1, len(places))
    return min(
        sum(float(np.square(part - part.mean()).sum()) for part in np.split(ordered, breaks))
        for breaks in combinations(places, cuts)
    )


def test_partition_worked_by_hand() -> None:
    # 1 2 | 4 5 | 7 | 12 | 20: deviation 0.5 + 0.5; every other partition into five has more (4 5 7:
    # 4.67, …)
    values = np.array([[7.0, 1.0, 20.0, 2.0, 12.0, 5.0, 4.0]])
    assert natural_breaks(values).tolist() == [[2, 0, 4, 0, 3, 1, 1]]
    assert deviation(values[0], natural_breaks(values)[0]) == 1.0


def test_equal_values_share_a_class_and_few_values_have_few_classes() -> None:
    assert natural_breaks(np.array([[3.0] * 7, [1.0, 2.0, 2.0, 1.0, 9.0, 9.0, 2.0]])).tolist() == [
        [0] * 7,
        [0, 1, 1, 0, 2, 2, 1],
    ]


def test_earliest_of_equally_good_breaks_is_taken() -> None:
    # 0 | 1 2 and 0 1 | 2 are equally good
    assert natural_breaks(np.array([[0.0, 1.0, 2.0]]), 2).tolist() == [[0, 1, 1]]


@settings(deadline=None)
@given(some_values, st.integers(1, 5))
def test_partition_is_optimal(values: Values, classes: int) -> None:
    result = natural_breaks(values[None], classes)[0]
    assert deviation(values, result) == pytest.approx(least_deviation(values, classes), abs=1e-9)
    for a, b in combinations(range(len(values)), 2):
        if values[a] == values[b]:
            assert result[a] == result[b]
        elif result[a] != result[b]:
            assert (result[a] < result[b]) == (values[a] < values[b])


@settings(deadline=None)
@given(st.lists(some_values, min_size=1, max_size=5))
def test_rows_are_independent(rows: list[Values]) -> None:
    padded = np.full((len(rows), max(map(len, rows))), np.nan)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    together = natural_breaks(padded)
    for i, row in enumerate(rows):
        assert together[i, : len(row)].tolist() == natural_breaks(row[None])[0].tolist()
        assert (together[i, len(row) :] == -1).all()


@pytest.mark.parametrize("n", [6, 11, 40, 96, 97, 500])
def test_agrees_with_jenkspy(n: int) -> None:
    for seed in range(5):
        values = np.random.default_rng(seed).lognormal(size=n)
        inner = jenkspy.jenks_breaks(values, 5)[1:-1]
        assert (
            natural_breaks(values[None])[0].tolist()
            == np.searchsorted(inner, values, side="left").tolist()
        )


def test_long_rows_agree_with_short_ones() -> None:
    values = np.random.default_rng(0).integers(0, 60, 96).astype(float)
    tripled = np.tile(values, 3)  # the same divisions are best
    assert (
        natural_breaks(tripled[None])[0, :96].tolist() == natural_breaks(values[None])[0].tolist()
    )
