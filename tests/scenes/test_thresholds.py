"""Threshold functions: worked sets, and the law that ties every line to its crossing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from seesay.scenes.thresholds import THRESHOLDS, natural_break

SIZES = st.lists(st.integers(1, 60), min_size=2, max_size=9).filter(
    lambda sizes: len(set(sizes)) > 1
)


def one_set(sizes: list[int], extra: int = 0) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return a set as the functions take it, with places that are no members."""
    values = np.array([[*sizes, *[1000] * extra]], dtype=np.float64)
    members = np.array([[True] * len(sizes) + [False] * extra])
    return values, members


@pytest.mark.parametrize("name", sorted(THRESHOLDS))
@given(sizes=SIZES, place=st.integers(0, 8), k=st.floats(-0.2, 1.2), extra=st.integers(0, 2))
def test_thing_is_big_on_one_side_of_its_crossing(
    name: str, sizes: list[int], place: int, k: float, extra: int
) -> None:
    function = THRESHOLDS[name]
    values, members = one_set(sizes, extra)
    size = np.array([float(sizes[place % len(sizes)])])
    # absolute thresholds are in the units of the sizes
    k = 60 * k if name == "ah" else k
    line = function.line(values, members, np.array([k]))
    crossing = function.crossing(values, members, size)
    # within rounding of the line itself either answer may come
    if abs(crossing[0] - k) < 1e-9:
        return
    assert (size[0] > line[0]) == ((k > crossing[0]) == function.widens)


def test_break_lies_between_two_clusters() -> None:
    # means 11 and 30: of all cuts, 10 11 12 | 29 31 has the least squares within (2 + 2)
    values, members = one_set([29, 10, 12, 31, 11], extra=2)
    assert natural_break(values, members) == pytest.approx([(11 + 30) / 2])
    values, members = one_set([7], extra=3)
    assert natural_break(values, members) == pytest.approx([7])


def within(sizes: NDArray[np.float64], cut: int) -> float:
    """Return the squares within the two clusters below and above a cut."""
    return float(sizes[:cut].var() * cut + sizes[cut:].var() * (len(sizes) - cut))


@given(SIZES)
def test_no_cut_is_better_than_the_break(sizes: list[int]) -> None:
    ascending = np.sort(np.array(sizes, dtype=np.float64))
    middle = natural_break(*one_set(sizes))[0]
    cut = int((ascending < middle).sum())
    best = min(within(ascending, place) for place in range(1, len(sizes)))
    # sums of squares along two paths
    assert within(ascending, cut) == pytest.approx(best, abs=1e-6)


def test_margin_is_the_probability_of_a_vague_k() -> None:
    rng = np.random.default_rng(0)
    k = rng.normal(0.29, 0.066, 20_000)
    values, members = one_set([10, 14, 20])
    function = THRESHOLDS["rh-r"]
    # 14 is 0.6 of the range below the largest, 17 would be 0.3
    line = function.line(values, members, k)
    z = function.margin(np.array([0.3]), 0.29, 0.066)
    assert z == pytest.approx([-0.01 / 0.066])
    # the share of 20,000 draws: within three standard errors of Φ(z) = 0.4398
    assert (line < 17).mean() == pytest.approx(0.4398, abs=0.011)
