"""The clustered bootstrap: reproducible, independent of order, and honest about its level."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.strategies import random_items

from seesay.metrics import Interval, Resamples, bootstrap, get
from seesay.metrics.base import FloatArray, Value, weighted_mean
from seesay.metrics.bootstrap import (
    SHARE,
    UNBOUNDED,
    Clusters,
    not_degenerate,
    summarise,
    wilson,
)


def interval(
    stats: FloatArray,
    objects: Sequence[str] | npt.NDArray[np.generic],
    value: Value,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """One figure with its interval."""
    return Resamples(objects, resamples, seed).interval(stats, value, level=level)


def means(values: FloatArray) -> FloatArray:
    """Values (t, n) as the statistics of a mean."""
    return np.stack([values, np.ones_like(values)], axis=-1)


def test_clusters_are_summed_by_name() -> None:
    sums = Clusters(["b", "a", "b"]).sums(
        means(np.array([[1.0, 2.0, 4.0]])), np.array([True, True, False])
    )
    assert sums.tolist() == [[[2.0, 1.0]], [[1.0, 1.0]]]


def test_two_objects_by_hand() -> None:
    # Two objects, 0 and 1: resamples are 00, 01, 10, 11, so the mean is 0, ½ or 1 with
    # probabilities ¼, ½, ¼.
    resamples = Resamples(["a", "b"], 20_000, seed=1)
    [(point, resampled)] = resamples.values(
        [(resamples.sums(means(np.array([[0.0, 1.0]]))), weighted_mean)]
    )
    assert point == 0.5
    assert [np.mean(resampled == value) for value in (0, 0.5, 1)] == pytest.approx(
        [0.25, 0.5, 0.25], abs=0.01
    )


@settings(max_examples=40)
@given(st.integers(1, 3), st.integers(1, 30), st.integers(0, 10**6), st.integers(0, 2**32))
def test_laws(templates: int, n: int, seed: int, draw: int) -> None:
    rng = np.random.default_rng(seed)
    stats = means(rng.integers(0, 9, (templates, n)) / 8)
    objects = rng.integers(0, max(1, n // 2), n).astype(str)
    ours = interval(stats, objects, weighted_mean, resamples=400, seed=draw)
    assert ours.value == pytest.approx(stats[..., 0].mean())
    assert ours.low - 1e-12 <= ours.value <= ours.high + 1e-12
    assert ours == interval(stats, objects, weighted_mean, resamples=400, seed=draw)
    order = rng.permutation(n)
    shuffled = interval(stats[:, order], objects[order], weighted_mean, resamples=400, seed=draw)
    assert [shuffled.value, shuffled.low, shuffled.high] == pytest.approx(
        [ours.value, ours.low, ours.high]
    )
    narrower = interval(stats, objects, weighted_mean, resamples=400, seed=draw, level=0.5)
    assert ours.low <= narrower.low <= narrower.high <= ours.high


def test_a_seed_gives_the_same_numbers_for_ever() -> None:
    # Raw bits of SFC64 are promised not to change: these hold on any machine and NumPy.
    values = np.arange(20.0)[None] / 20
    draw = Resamples([f"o{i % 7}" for i in range(20)], 1000, 3)
    ((point, resampled),) = draw.values([(draw.sums(means(values)), weighted_mean)])
    percentiles = summarise(point, resampled)
    assert percentiles.value == pytest.approx(0.475)
    assert [percentiles.low, percentiles.high] == pytest.approx([0.42142857, 0.535])
    # seven objects: t has 2.447 where the normal has 1.960, and √(7/6) is 1.080
    ours = draw.interval(means(values), weighted_mean)
    ratio = 2.447 / 1.960 * 1.080
    ends = [0.475 - ratio * (0.475 - 0.42142857), 0.475 + ratio * (0.535 - 0.475)]
    assert [ours.low, ours.high] == pytest.approx(ends, abs=2e-4)


def test_percentiles_of_many_objects_stay() -> None:
    values = np.random.default_rng(0).random((1, 30))
    draw = Resamples(np.arange(30), 500)
    ((point, resampled),) = draw.values([(draw.sums(means(values)), weighted_mean)])
    assert draw.interval(means(values), weighted_mean) == summarise(point, resampled)


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    stats = means(np.repeat(rng.random(40), 10)[None])
    alone = interval(stats, np.arange(400), weighted_mean)
    together = interval(stats, np.repeat(np.arange(40), 10), weighted_mean)
    # Ten copies of one value are one observation: the interval is √10 wider.
    assert (together.high - together.low) / (alone.high - alone.low) == pytest.approx(
        np.sqrt(10), rel=0.1
    )


def test_several_figures_in_one_pass_are_the_same_figures() -> None:
    items = random_items(0, n=60)
    resamples = Resamples(np.arange(60) // 2, 500, seed=5)
    where = np.arange(60) < 20
    figures, alone = [], []
    for name in ("relaxed_accuracy", "macro_f1", "spearman", "average_precision"):
        metric = get(name)
        stats = metric.stats(items)[None]
        for part in (None, where):
            figures.append((resamples.sums(stats, part), metric.value))
            alone.append(resamples.interval(stats, metric.value, where=part))
    for together, single in zip(resamples.intervals(figures), alone, strict=True):
        assert [together.value, together.low, together.high] == pytest.approx(
            [single.value, single.low, single.high]
        )


def test_too_much_to_keep_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stats = means(np.random.default_rng(0).random((1, 50)))
    from_memory = interval(stats, np.arange(50), weighted_mean, resamples=300)
    monkeypatch.setattr(bootstrap, "_KEPT_BYTES", 0)
    monkeypatch.setattr(bootstrap, "_BLOCK", 1)
    again = interval(stats, np.arange(50), weighted_mean, resamples=300)
    # one product of matrices against one per block: BLAS may add in another order
    assert [again.value, again.low, again.high] == pytest.approx(
        [from_memory.value, from_memory.low, from_memory.high], rel=1e-12
    )


def test_a_slice_of_one_object() -> None:
    # A third of the resamples miss the one object of the slice: they have no figure and are left
    # out.
    stats = means(np.linspace(0, 1, 10)[None])
    ours = Resamples(np.arange(10), 1000).interval(stats, weighted_mean, where=np.arange(10) == 4)
    assert [ours.value, ours.low, ours.high] == pytest.approx([4 / 9] * 3)


def test_an_empty_slice_is_nan() -> None:
    ours = Resamples(np.arange(10), 100).interval(
        means(np.ones((1, 10))), weighted_mean, where=np.zeros(10, dtype=np.bool_)
    )
    assert np.isnan([ours.value, ours.low, ours.high]).all()


def test_a_slice_has_the_interval_it_would_have_alone() -> None:
    rng = np.random.default_rng(2)
    stats, where = means(rng.random((1, 400))), np.arange(400) < 200
    sliced = Resamples(np.arange(400)).interval(stats, weighted_mean, where=where)
    alone = Resamples(np.arange(200)).interval(stats[:, :200], weighted_mean)
    assert sliced.high - sliced.low == pytest.approx(alone.high - alone.low, rel=0.06)


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["relaxed_accuracy", "true_confidence", "macro_f1"])
def test_coverage(name: str) -> None:
    """Of 95 % intervals, about 95 % hold the true value: objects of two questions from a known
    population."""
    metric = get(name)
    truth = metric(random_items(99, n=40_000, width=4))
    covered = 0
    for trial in range(200):
        stats = metric.stats(random_items(trial + 1000, n=240, width=4))[None]
        ours = interval(stats, np.arange(240) // 2, metric.value, resamples=400, seed=trial)
        covered += ours.low <= truth <= ours.high
    assert 0.90 <= covered / 200 <= 0.99


def coverage(objects: int, easiness: float, spread: float) -> float:
    """The share of 2,000 worlds in which an interval holds the truth.

    Objects are easy or hard; each has three questions in three templates.
    """
    worlds = 2_000
    rng = np.random.default_rng([objects, int(10 * easiness), int(spread)])

    def draw_shares(size: int) -> FloatArray:
        return np.asarray(1 / (1 + np.exp(-rng.normal(easiness, spread, size))))

    truth = draw_shares(2_000_000).mean()
    names = np.arange(3 * objects) // 3
    covered = 0
    for seed in range(worlds):
        shares = draw_shares(objects)[names]
        right = rng.random((3, len(names))) < shares
        ours = interval(means(right.astype(float)), names, weighted_mean, resamples=400, seed=seed)
        ours = not_degenerate(ours, objects)
        covered += ours.low <= truth <= ours.high
    print(f"{objects} objects, {easiness} ± {spread}: {covered / worlds:.3f}")
    return covered / worlds


WORLDS_OF_OBJECTS = [(0.0, 1.0), (1.5, 1.0), (0.0, 2.0)]


@pytest.mark.slow
@pytest.mark.parametrize("objects", [10, 15, 20, 30, 60])
@pytest.mark.parametrize(("easiness", "spread"), WORLDS_OF_OBJECTS)
def test_coverage_of_few_objects(objects: int, easiness: float, spread: float) -> None:
    """Percentiles alone hold the truth in 88 to 92 % of the worlds with ten objects."""
    assert 0.92 <= coverage(objects, easiness, spread) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("objects", [2, 3, 5, 7, 9])
@pytest.mark.parametrize(("easiness", "spread"), WORLDS_OF_OBJECTS)
def test_coverage_of_fewer_than_ten(objects: int, easiness: float, spread: float) -> None:
    """Such figures are marked, and their intervals are no promise."""
    assert coverage(objects, easiness, spread) >= 0.87


def test_no_figures_have_no_intervals() -> None:
    assert Resamples(["a"], 10).intervals([]) == []


def test_wrong_input_is_named() -> None:
    with pytest.raises(ValueError, match="at least one item"):
        Resamples([])
    with pytest.raises(ValueError, match="resamples must be at least 1"):
        Resamples(["a"], 0)
    with pytest.raises(ValueError, match=r"\(templates, 1 items, k\)"):
        interval(np.ones((1, 2, 2)), ["a"], weighted_mean)
    with pytest.raises(ValueError, match="level must be between"):
        interval(np.ones((1, 1, 2)), ["a"], weighted_mean, level=95)


@pytest.mark.parametrize(
    ("right", "items", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(right: int, items: int, low: float, high: float) -> None:
    """Newcombe 1998, Two-sided confidence intervals for the single proportion, Table I, method
    3."""
    assert wilson(right / items, items) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_is_symmetric(counts: tuple[int, int]) -> None:
    right, items = counts
    low, high = wilson(right / items, items)
    assert 0 <= low <= right / items <= high <= 1
    assert wilson((items - right) / items, items) == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_intervals_at_the_ends_are_wilsons() -> None:
    # Newcombe 1998, Statistics in Medicine 17: 857-872, Table I, method 3: 0 of 20 and 1 of 29
    assert wilson(0, 20) == pytest.approx((0, 0.1611), abs=5e-5)
    assert wilson(1 / 29, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    perfect = not_degenerate(Interval(1, 1, 1), 20)
    # what BLEU's constants make of captions without a match
    smoothed = not_degenerate(Interval(1.36e-6, 1.26e-6, 1.6e-6), 12)
    assert smoothed.high == pytest.approx(0.2425, abs=1e-4)
    assert (perfect.value, perfect.low, perfect.high) == pytest.approx((1, 1 - 0.1611, 1), abs=5e-5)
    assert (
        not_degenerate(Interval(0.5, 0.5, 0.5), 1).low
        < 0.5
        < not_degenerate(Interval(0.5, 0.5, 0.5), 1).high
    )
    # a quarter of every object: up to .1611 of others may be wrong, or right
    alike = not_degenerate(Interval(0.25, 0.25, 0.25), 20)
    expected = (0.25 - 0.1611 * 0.25, 0.25 + 0.1611 * 0.75)
    assert (alike.low, alike.high) == pytest.approx(expected, abs=1e-4)
    # resamples that differ, a distance beyond 1, and what is not defined stay as they are
    for interval in (Interval(0.9, 0.8, 1.0), Interval(2.0, 2.0, 2.0)):
        assert not_degenerate(interval, 20) == interval
    assert np.isnan(not_degenerate(Interval(np.nan, np.nan, np.nan), 20).low)


def test_difference_of_nothing_throughout_has_two_sides() -> None:
    """No gain in any of 20 objects: up to .1611 of others may gain or lose all (0 of 20 above)."""
    for value, low, high in (
        (0.0, -0.1611, 0.1611),
        (1.0, 1 - 2 * 0.1611, 1.0),
        (-1.0, -1.0, 2 * 0.1611 - 1),
    ):
        interval = not_degenerate(Interval(value, value, value), 20, signed=True)
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-4)
    rounded = not_degenerate(Interval(1e-17, -1e-17, 2e-17), 20, signed=True)
    assert (rounded.low, rounded.high) == pytest.approx((-0.1611, 0.1611), abs=1e-4)
    doubtful = Interval(0.0, -0.5, 0.5)
    assert not_degenerate(doubtful, 20, signed=True) == doubtful


def test_bounds_decide_what_is_clipped() -> None:
    """Three objects that happen to lie between 0 and 1 are a share only where they are said to
    be."""
    values = means(np.array([[0.0, 1.0, 1.0]]))
    draw = Resamples(np.arange(3), 500)
    share = draw.interval(values, weighted_mean, bounds=SHARE)
    assert (share.low, share.high) == (0.0, 1.0)
    signed = draw.interval(values, weighted_mean, bounds=(-1.0, 1.0))
    assert (signed.low, signed.high) == (-1.0, 1.0)
    free = draw.interval(values, weighted_mean)
    assert free.low < -1.0
    assert free.high > 1.0
    both = draw.intervals([(draw.sums(values), weighted_mean)] * 2, bounds=[SHARE, UNBOUNDED])
    assert both == [share, free]


def test_a_correlation_may_be_below_zero() -> None:
    for name in ("spearman", "kendall", "gain_over_blind"):
        assert get(name).bounds == (-1.0, 1.0)
    assert get("brier").bounds == (0.0, 2.0)
    assert get("mean_score").bounds == (0.0, np.inf)
    assert get("macro_f1").bounds == SHARE


def test_a_figure_above_1_without_a_largest_value_is_not_certain() -> None:
    """Unseen objects may have anything from 0 to twice the figure: as often as Wilson's interval of
    none of 20 allows, 0.1611."""
    alike = not_degenerate(Interval(7.0, 7.0, 7.0), 20, most=math.inf)
    assert (alike.low, alike.high) == pytest.approx((7 * (1 - 0.1611), 7 * (1 + 0.1611)), abs=1e-3)
    one = not_degenerate(Interval(7.0, 7.0, 7.0), 1, most=math.inf)
    assert one.low < 7 < one.high
    # what looks like a share is doubted as one, as before
    share = Interval(1.0, 1.0, 1.0)
    assert not_degenerate(share, 20, most=math.inf) == not_degenerate(share, 20)
