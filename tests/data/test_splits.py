"""Splits and samples: lengths, nothing twice, the same for everyone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seesay.data.splits import sample, shuffle_indices, split
from seesay.errors import UserError


@given(st.integers(0, 500), st.integers(0, 10_000))
def test_the_order_is_that_of_the_legacy_generator(n: int, seed: int) -> None:
    state = np.random.get_state(legacy=False)
    order = shuffle_indices(n, seed)
    assert repr(np.random.get_state(legacy=False)) == repr(state), (
        "the global generator was touched"
    )
    np.random.seed(seed)
    expected = list(range(n))
    np.random.shuffle(expected)
    np.random.set_state(state)
    assert order == expected


@given(st.integers(0, 500))
def test_parts_have_their_lengths_and_share_nothing(n: int) -> None:
    parts = split(range(n))
    assert [len(part) for part in parts.values()] == [int(0.2 * n), int(0.1 * n), int(0.7 * n)]
    rows = [row for part in parts.values() for row in part]
    assert len(rows) == len(set(rows))
    assert n - len(rows) <= 2


@given(st.integers(1, 200), st.floats(0.01, 1), st.floats(0.01, 1), st.integers(0, 99))
def test_a_larger_sample_holds_the_smaller(n: int, one: float, other: float, seed: int) -> None:
    small, large = sorted((sample(range(n), one, seed), sample(range(n), other, seed)), key=len)
    assert large[: len(small)] == small
    assert len(set(large)) == len(large) >= 1


def test_all_of_it_is_a_sample_and_none_of_it_is_not() -> None:
    assert sorted(sample(range(7), 1, 3)) == list(range(7))
    for fraction in (0, -0.5, 1.01):
        with pytest.raises(UserError, match="above 0 and at most 1"):
            sample(range(7), fraction, 0)
