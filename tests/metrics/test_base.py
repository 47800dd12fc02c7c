"""Items are checked on entry; probabilities; chance; the lookup."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.strategies import items

from seesay.errors import UserError
from seesay.metrics import METRICS, ScoredItems, chance, get

ONE = np.array([[1.0, 0.0]])


@pytest.mark.parametrize(
    ("scores", "gold", "message"),
    [
        ([[0.0, 1.0, 2.0]], [[1.0, 0.0]], "shaped as scores"),
        ([[np.inf, 0.0]], [[1.0, 0.0]], "below \\+inf: see row 0"),
        ([[0.0, 0.0], [np.nan, np.nan]], [[1.0, 0.0], [0.0, 0.0]], "needs a score: see row 1"),
        ([[0.0, 0.0]], [[-1.0, 1.0]], "at least 0"),
        ([[0.0, 0.0]], [[0.0, 0.0]], "needs a gold label"),
        ([[np.nan, 0.0]], [[1.0, 0.0]], "gold label has no score"),
    ],
)
def test_items_refuse_what_cannot_be_scored(
    scores: list[list[float]], gold: list[list[float]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ScoredItems(np.array(scores), np.array(gold))


def test_no_answer_is_wrong_by_every_metric() -> None:
    items = ScoredItems(
        np.array([[-np.inf, -np.inf, np.nan], [0.0, 0.0, np.nan]]), np.array([[1.0, 0, 0]] * 2)
    )
    accuracies = ("accuracy", "relaxed_accuracy", "majority_accuracy", "shared_accuracy")
    for name in (*accuracies, "true_confidence"):
        assert get(name).stats(items)[:, 0].tolist() == [0.0, 0.5], name
    # hits, predictions and gold of each label
    for name in ("macro_f1", "macro_f1_space"):
        nothing, both = get(name).stats(items).tolist()
        assert nothing == [0, 0, 0, 0, 0, 0, 1, 0, 0], name
        assert both == [1, 0, 0, 1, 1, 0, 1, 0, 0], name
    # a distribution that knows nothing holds all labels alike
    assert items.probabilities.tolist() == [[0.5, 0.5, 0.0]] * 2
    assert chance(get("accuracy"), items) == 0.5


def test_ranks_have_the_shape_of_scores() -> None:
    with pytest.raises(ValueError, match="ranks must be shaped as scores"):
        ScoredItems(ONE, ONE, np.array([[1]]))


def test_probabilities_do_not_overflow() -> None:
    probabilities = ScoredItems(
        np.array([[-5000.0, -5000.0 + np.log(3), -np.inf, np.nan]]), np.array([[1.0, 0, 0, 0]])
    )
    assert probabilities.probabilities.tolist() == [pytest.approx([0.25, 0.75, 0.0, 0.0], abs=1e-9)]


@given(items())
def test_probabilities_sum_to_one_over_offered_labels(given_items: ScoredItems) -> None:
    assert given_items.probabilities.sum(axis=1) == pytest.approx(1.0)
    assert (given_items.probabilities[~given_items.offered] == 0).all()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Three labels, gold sets of one and two: (1/3 + 2/3) / 2 for each of these.
        ("relaxed_accuracy", 0.5),
        ("true_confidence", 0.5),
        # One gold of three stands at rank 1, 2 or 3: (1 + 1/2 + 1/3) / 3. Two of three: (1 + 5/6 +
        # 7/12) / 3.
        ("average_precision", (11 / 18 + 29 / 36) / 2),
        # all three labels are typical where all are alike: of two answers each, one is right
        ("macro_f1", 2 / 3),
        ("macro_f1_space", 2 / 3),
        ("spearman", float("nan")),
        ("vocabulary_accuracy", float("nan")),
        ("vocabulary_average_precision", float("nan")),
    ],
)
def test_chance(name: str, expected: float) -> None:
    given_items = ScoredItems(
        np.array([[0.0, -1.0, -2.0]] * 2), np.array([[1.0, 0, 0], [0, 1.0, 1.0]])
    )
    assert chance(get(name), given_items) == pytest.approx(expected, nan_ok=True)


@given(items(), st.sampled_from(["relaxed_accuracy", "true_confidence"]))
def test_equal_scores_give_the_share_of_gold_labels(given_items: ScoredItems, name: str) -> None:
    share = given_items.is_gold.sum(axis=1) / given_items.offered.sum(axis=1)
    assert chance(get(name), given_items) == pytest.approx(share.mean())


def test_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(UserError, match=r"Unknown metric 'acuracy'\. Did you mean 'accuracy'"):
        get("acuracy")
    with pytest.raises(UserError, match=r"Unknown metric '\?\?\?'"):
        get("???")


def test_names_are_keys() -> None:
    assert all(get(name).name == name and metric.meaning for name, metric in METRICS.items())
