"""The counts of a bootstrap are multinomial, however many objects there are."""

from __future__ import annotations

from collections import Counter
from math import factorial

import numpy as np
import pytest
from scipy import stats

from seesay.metrics import Resamples, bootstrap, paired, sign_flip
from seesay.metrics import counts as module
from seesay.metrics.base import FloatArray
from seesay.metrics.counts import draw_counts, exact_type, poisson_thresholds
from seesay.metrics.macro_f1 import macro_f1


def all_counts(objects: int, resamples: int, seed: int = 0) -> FloatArray:
    return np.concatenate(list(draw_counts(objects, resamples, seed))).astype(np.float64)


@pytest.mark.parametrize("objects", [1, 2, 7, 40, 300, 5000])
def test_every_resample_is_as_large_as_the_sample(objects: int) -> None:
    counts = all_counts(objects, 50)
    assert counts.shape == (50, objects)
    assert (counts.sum(axis=1) == objects).all()


@pytest.mark.seconds
@pytest.mark.parametrize("margin", [0.0, 1.0, 5.0])
def test_three_objects_by_enumeration(margin: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # 27 equally likely resamples of three objects; a small margin lets Poisson counts take part,
    # and be too many.
    monkeypatch.setattr(module, "_MARGIN", margin)
    counts_by_row = Counter(map(tuple, all_counts(3, 54_000).astype(int).tolist()))
    expected = {
        (a, b, 3 - a - b): 6 / (factorial(a) * factorial(b) * factorial(3 - a - b)) * 2000
        for a in range(4)
        for b in range(4 - a)
    }
    assert counts_by_row.keys() == expected.keys()
    assert (
        stats.chisquare([counts_by_row[key] for key in expected], list(expected.values())).pvalue
        > 1e-3
    )


@pytest.mark.parametrize(("objects", "resamples"), [(40, 20_000), (300, 4000), (2000, 600)])
def test_one_count_is_binomial(objects: int, resamples: int) -> None:
    counts = all_counts(objects, resamples)
    highest = 6
    shares = (
        np.bincount(np.minimum(counts, highest).astype(np.int64).ravel(), minlength=highest + 1)
        / counts.size
    )
    binomial = stats.binom(objects, 1 / objects)
    expected = [*binomial.pmf(range(highest)), binomial.sf(highest - 1)]
    assert shares == pytest.approx(expected, abs=0.002)
    assert counts.var() == pytest.approx(1 - 1 / objects, rel=0.006)
    assert counts.mean(axis=0) == pytest.approx(1.0, abs=5 / np.sqrt(resamples))


def test_resamples_are_independent() -> None:
    correlation = np.asarray(np.corrcoef(all_counts(500, 300)))[np.triu_indices(300, k=1)]
    assert np.abs(correlation).max() < 6 / np.sqrt(500)
    assert correlation.mean() == pytest.approx(0, abs=0.002)


def test_thresholds_keep_mean_and_variance() -> None:
    for mean in np.linspace(0.01, 1, 100):
        shares = np.diff([0, *poisson_thresholds(float(mean)), 65536]) / 65536
        count = np.arange(len(shares))
        ours = (count * shares).sum()
        assert ours == pytest.approx(mean, abs=1e-4)
        assert (count**2 * shares).sum() - ours**2 == pytest.approx(mean, abs=5e-4)


def test_a_seed_gives_the_same_counts_and_another_seed_others() -> None:
    assert (all_counts(60, 80, 1) == all_counts(60, 80, 1)).all()
    assert (all_counts(60, 80, 1) != all_counts(60, 80, 2)).any()


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ([[0.0, 3.0], [-2.0, 1.0]], np.float32),
        ([[0.5, 3.0], [-2.0, 1.0]], np.float64),
        ([[np.nan, 3.0], [-2.0, 1.0]], np.float64),
        ([[np.inf, 3.0], [-2.0, 1.0]], np.float64),
        # the sum of two may be 2^24, beyond which float32 has no odd numbers
        ([[2.0**23, 0.0], [0.0, 0.0]], np.float64),
        ([[2.0**23 - 1, 0.0], [0.0, 0.0]], np.float32),
    ],
)
def test_single_precision_is_for_whole_numbers_that_it_holds(
    columns: list[list[float]], kind: type[np.floating]
) -> None:
    assert exact_type(np.array(columns)) is kind


def test_whole_numbers_have_equal_products_in_either_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = np.random.default_rng(0)
    a, b = draw.integers(0, 3, (2, 4, 90, 6)).astype(np.float64)
    objects = [f"thing {item % 40}" for item in range(90)]

    def figures() -> tuple[float, list[float]]:
        resamples = Resamples(objects, 2000)
        ((_, resampled),) = resamples.values([(resamples.sums(a), macro_f1)])
        return sign_flip(a, b, objects, macro_f1, flips=2000), resampled.tolist()

    in_single = figures()
    assert exact_type(a) is np.float32
    for user in (bootstrap, paired):
        monkeypatch.setattr(user, "exact_type", lambda columns: np.float64)
    assert figures() == in_single
