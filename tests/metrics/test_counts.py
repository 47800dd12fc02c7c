"""The counts of a bootstrap are multinomial, however many objects there are."""

from __future__ import annotations

from collections import Counter
from math import factorial

import numpy as np
import pytest
from scipy import stats

from seesay.metrics import counts as module
from seesay.metrics.base import FloatArray
from seesay.metrics.counts import draw_counts, poisson_thresholds


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
