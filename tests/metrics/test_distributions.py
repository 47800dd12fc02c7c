"""Jensen–Shannon divergence and rank correlations beside SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import stats
from scipy.spatial.distance import jensenshannon
from tests.metrics.strategies import items, random_items

from seesay.metrics import ScoredItems, get
from seesay.metrics.jensen_shannon import jensen_shannon
from seesay.metrics.rank_correlation import kendall, spearman


def test_jensen_shannon_by_hand() -> None:
    # P = (1, 0), Q = (1/2, 1/2), M = (3/4, 1/4): ½·log2(4/3) + ½·(½·log2(2/3) + ½·log2(2)) =
    # 0.311278.
    assert jensen_shannon(
        ScoredItems(np.array([[0.0, -np.inf]]), np.array([[2.0, 2.0]]))
    ) == pytest.approx([0.311278], abs=1e-6)


def test_jensen_shannon_as_scipy() -> None:
    given_items = random_items(1)
    expected = jensenshannon(given_items.probabilities, given_items.gold, base=2, axis=1) ** 2
    assert jensen_shannon(given_items) == pytest.approx(expected)


def test_rank_correlations_by_hand() -> None:
    # Model orders a > b > c, gold weights b > a > c: d² = 1 + 1 + 0, rho = 1 − 6·2/(3·8); one of
    # three pairs disagrees.
    given_items = ScoredItems(np.array([[3.0, 2.0, 1.0]]), np.array([[0.3, 0.6, 0.1]]))
    assert spearman(given_items) == pytest.approx([0.5])
    assert kendall(given_items) == pytest.approx([1 / 3])


@pytest.mark.parametrize("levels", [None, 4])
def test_rank_correlations_as_scipy(levels: int | None) -> None:
    given_items = random_items(2, levels=levels)
    rows = list(zip(given_items.scores, given_items.gold, strict=True))
    assert spearman(given_items) == pytest.approx([stats.spearmanr(*row).statistic for row in rows])
    assert kendall(given_items) == pytest.approx([stats.kendalltau(*row).statistic for row in rows])


@given(items())
def test_rank_correlations_as_scipy_with_labels_missing(given_items: ScoredItems) -> None:
    rho, tau = spearman(given_items), kendall(given_items)
    for row, offered in enumerate(given_items.offered):
        scores = np.nan_to_num(given_items.scores[row, offered], neginf=-1e9)
        gold = given_items.gold[row, offered]
        if len(set(scores)) < 2 or len(set(gold)) < 2:
            assert np.isnan([rho[row], tau[row]]).all()
        else:
            assert rho[row] == pytest.approx(stats.spearmanr(scores, gold).statistic)
            assert tau[row] == pytest.approx(stats.kendalltau(scores, gold).statistic)


def test_undefined_items_have_no_weight() -> None:
    given_items = ScoredItems(
        np.array([[3.0, 2.0, 1.0], [1.0, 1.0, 1.0]]), np.array([[0.3, 0.6, 0.1]] * 2)
    )
    assert get("spearman")(given_items) == pytest.approx(0.5)


def test_kendall_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    given_items = random_items(4)
    whole = kendall(given_items)
    monkeypatch.setattr("seesay.metrics.rank_correlation._CHUNK", 300)
    assert kendall(given_items).tolist() == whole.tolist()
