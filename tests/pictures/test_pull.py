"""Prior pull, picture pull, log-odds and the gain over blind: by hand, and their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.strategies import items

from seesay.metrics import ScoredItems, get
from seesay.metrics.base import BoolArray
from seesay.pictures.pull import LEAST

MEASURES = ("prior_pull", "prior_log_odds", "picture_pull", "picture_log_odds", "gain_over_blind")


def test_worked_by_hand() -> None:
    """Blue, red and yellow. A lemon that is yellow, one that is blue, and what color a lemon is
    beside a blue one."""
    probabilities = np.array([[0.1, 0.1, 0.8], [0.3, 0.1, 0.6], [0.25, 0.25, 0.5]])
    gold = np.array([[0, 0, 1.0], [1.0, 0, 0], [0, 0, 1.0]])
    nobody, yellow, blue = (
        np.array(row, dtype=np.bool_) for row in ([0, 0, 0], [0, 0, 1], [1, 0, 0])
    )
    blind = np.log([[0.1, 0.2, 0.7]] * 3)
    data = ScoredItems(
        np.log(probabilities),
        gold,
        marks={
            "prior": np.stack([nobody, yellow, nobody]),
            "picture": np.stack([nobody, nobody, blue]),
        },
        twin=blind,
    )
    assert get("prior_pull")(data) == 1.0  # the blue lemon is called yellow
    assert get("prior_log_odds")(data) == pytest.approx(math.log(0.6 / 0.3))
    assert get("picture_pull")(data) == 0.0  # a lemon is usually yellow, whatever the picture shows
    assert get("picture_log_odds")(data) == pytest.approx(math.log(0.25 / 0.5))
    assert get("gain_over_blind")(data) == pytest.approx(
        ((0.8 - 0.7) + (0.3 - 0.1) + (0.5 - 0.7)) / 3
    )
    assert get("relaxed_accuracy")(data) == pytest.approx(2 / 3)


@st.composite
def pulled(draw: st.DrawFn) -> ScoredItems:
    """Items whose offered labels may be pulled at, never a gold one."""
    drawn = draw(items())
    marked: BoolArray = np.zeros(drawn.scores.shape, dtype=np.bool_)
    for row, label in zip(*np.nonzero(drawn.offered & ~drawn.is_gold), strict=True):
        marked[row, label] = draw(st.booleans())
    blind = np.where(
        drawn.offered, draw(st.sampled_from([0.0, -1.0])) * np.arange(drawn.scores.shape[1]), np.nan
    )
    if draw(st.booleans()):
        blind[0] = np.nan
    return ScoredItems(drawn.scores, drawn.gold, marks={"prior": marked}, twin=blind)


def without_pulls(data: ScoredItems) -> ScoredItems:
    return ScoredItems(data.scores, data.gold)


@given(pulled())
def test_pull_and_accuracy_share_the_credit(data: ScoredItems) -> None:
    rows = np.asarray(data.marks["prior"].any(axis=1))
    if not rows.any():
        assert math.isnan(get("prior_pull")(data))
        return
    chosen = data.take(rows)
    assert 0 <= get("prior_pull")(chosen) + get("relaxed_accuracy")(chosen) <= 1 + 1e-12
    # the others count for nothing
    assert get("prior_pull")(chosen) == pytest.approx(get("prior_pull")(data))


@given(pulled())
def test_log_odds_change_sign_when_right_and_pull_are_exchanged(data: ScoredItems) -> None:
    rows = np.asarray(data.marks["prior"].any(axis=1))
    if not rows.any():
        return
    chosen = data.take(rows)
    exchanged = ScoredItems(
        chosen.scores,
        chosen.marks["prior"].astype(np.float64),
        marks={"prior": chosen.is_gold},
        twin=chosen.twin,
    )
    assert get("prior_log_odds")(exchanged) == pytest.approx(-get("prior_log_odds")(chosen))
    assert abs(get("prior_log_odds")(chosen)) <= -math.log(LEAST) + 1e-9


@given(pulled())
def test_gain_is_bounded_and_zero_where_the_picture_changes_nothing(data: ScoredItems) -> None:
    gain = get("gain_over_blind")(data)
    assert math.isnan(gain) or -1 <= gain <= 1
    same = ScoredItems(data.scores, data.gold, twin=data.scores)
    assert get("gain_over_blind")(same) == pytest.approx(0, abs=1e-12)


@given(pulled(), st.integers(0, 1000), st.sampled_from(MEASURES))
def test_order_of_items_changes_nothing(data: ScoredItems, seed: int, name: str) -> None:
    order = np.random.default_rng(seed).permutation(len(data))
    assert get(name)(data.take(order)) == pytest.approx(get(name)(data), abs=1e-9, nan_ok=True)


@given(items(), st.sampled_from(MEASURES))
def test_undefined_without_a_pull_or_a_blind_question(data: ScoredItems, name: str) -> None:
    assert math.isnan(get(name)(without_pulls(data)))
