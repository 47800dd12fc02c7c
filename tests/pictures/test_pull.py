"""Prior pull, picture pull, log-odds and the gain over blind: by hand, and their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.strategies import items

from seesay.metrics import Interval, Resamples, ScoredItems, get
from seesay.metrics.base import BoolArray, FloatArray
from seesay.metrics.bootstrap import not_degenerate
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


def log_odds_interval(name: str, scores: FloatArray) -> Interval:
    """The figure of some questions, each about an object of its own.

    One label of three is right, and the next one is suggested by both the prior and the picture.
    """
    gold = np.eye(3)[np.zeros(len(scores), dtype=int)]
    suggested = np.eye(3, dtype=np.bool_)[np.ones(len(scores), dtype=int)]
    metric = get(name)
    data = ScoredItems(scores, gold, marks={"prior": suggested, "picture": suggested})
    draw = Resamples(np.arange(len(scores)))
    figure = draw.interval(metric.stats(data)[None], metric.value, bounds=metric.bounds)
    return not_degenerate(figure, len(scores), signed=metric.signed, most=metric.most)


@pytest.mark.parametrize(
    "odds", [[0.9, 0.1, 0.5], [2.0, -1.0, 5.0, 0.5], [0.794], [0.3, 0.3], [30.0]]
)
def test_intervals_of_log_odds_are_mirrored(odds: list[float]) -> None:
    """Log-odds that happen to lie between 0 and 1 are no share: turned round, they have the
    interval turned round."""
    scores = np.array([[-odd, 0.0, -99.0] for odd in odds])
    pulled = log_odds_interval("prior_log_odds", scores)
    repelled = log_odds_interval("picture_log_odds", scores[:, [1, 0, 2]])
    assert pulled.value == pytest.approx(np.minimum(odds, -math.log(LEAST)).mean(), abs=1e-4)
    assert [repelled.value, -repelled.low, -repelled.high] == pytest.approx(
        [-pulled.value, pulled.high, pulled.low]
    )
    assert pulled.low < pulled.value <= pulled.high <= -math.log(LEAST) + 1e-9
    assert pulled.high - pulled.low > 1


def test_one_object_leaves_log_odds_in_doubt() -> None:
    """Wilson's interval of none of one reaches .7935: so far towards either end of the range."""
    figure = log_odds_interval("picture_log_odds", np.array([[0.794, 0.0, -9.0]]))
    end = -math.log(LEAST)
    reach = [-0.794 - 0.7935 * (end - 0.794), -0.794 + 0.7935 * (end + 0.794)]
    assert [figure.low, figure.high] == pytest.approx(reach, abs=2e-3)
