"""Bootstrap intervals: seesay beside `scipy.stats.bootstrap`, the same number of resamples of the
same questions.

    python benchmarks/bootstrap.py

SciPy knows no clusters, so every question is its own object here.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import scipy.stats

from seesay.metrics import Interval, Metric, Resamples, ScoredItems, get
from seesay.metrics.base import FloatArray, IntArray

RESAMPLES = 10_000
T = TypeVar("T")


def main() -> None:
    """Print one line a case: both times, the ratio, and both intervals."""
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"{os.cpu_count()} cores"
    )
    print(f"{'case':<46}{'seesay':>9}{'SciPy':>9}{'ratio':>8}   95 % interval (seesay | SciPy)")
    for name, n in (("relaxed_accuracy", 1_000), ("relaxed_accuracy", 10_000), ("macro_f1", 1_000)):
        compare(get(name), n)
    slices(10_000, 50)


def compare(metric: Metric[ScoredItems], n: int) -> None:
    """One figure: seesay draws and multiplies, SciPy draws and gathers."""
    stats = metric.stats(random_items(n))
    ours, our_time = timed(
        lambda: Resamples(np.arange(n), RESAMPLES).interval(stats[None], metric.value)
    )
    theirs, their_time = timed(lambda: by_scipy(metric, stats))
    both = f"{ours.low:.4f}–{ours.high:.4f} | {theirs.low:.4f}–{theirs.high:.4f}"
    case = f"{metric.name}, {n:,} questions x {RESAMPLES:,}"
    print(
        f"{case:<46}{our_time:>7.2f} s{their_time:>7.2f} s{their_time / our_time:>7.1f}x   {both}"
    )


def slices(n: int, count: int) -> None:
    """Many figures share the counts; SciPy begins anew for each."""
    metric, items = get("relaxed_accuracy"), random_items(n)
    stats, rng = metric.stats(items)[None], np.random.default_rng(1)
    masks = [rng.random(n) < 0.1 for _ in range(count)]

    def run() -> list[Interval]:
        resamples = Resamples(np.arange(n), RESAMPLES)
        return resamples.intervals([(resamples.sums(stats, mask), metric.value) for mask in masks])

    _, our_time = timed(run)
    _, their_time = timed(lambda: [by_scipy(metric, stats[0, mask]) for mask in masks])
    case = f"{count} slices of {n:,} questions x {RESAMPLES:,}"
    print(f"{case:<46}{our_time:>7.2f} s{their_time:>7.2f} s{their_time / our_time:>7.1f}x")


def by_scipy(metric: Metric[ScoredItems], stats: FloatArray) -> Interval:
    """A mean is resampled as SciPy does best, by value; macro F1 by the numbers of the
    questions."""

    def mean(drawn: FloatArray, axis: int = -1) -> FloatArray:
        return np.asarray(np.mean(drawn, axis=axis))

    def other(drawn: IntArray, axis: int = -1) -> FloatArray:
        return metric.value(stats[drawn].sum(axis=axis - 1))

    data, statistic = (stats[:, 0], mean) if stats.shape[1] == 2 else (np.arange(len(stats)), other)
    found = scipy.stats.bootstrap(
        (data,),
        statistic,
        n_resamples=RESAMPLES,
        batch=100,
        method="percentile",
        vectorized=True,
        rng=0,
    ).confidence_interval
    return Interval(metric.value(stats.sum(axis=0)).item(), float(found.low), float(found.high))


def random_items(n: int) -> ScoredItems:
    """Questions of eleven labels with one to three gold ones, which the model knows a little
    about."""
    rng = np.random.default_rng(0)
    gold = np.zeros((n, 11))
    np.put_along_axis(gold, rng.integers(0, 11, (n, 3)), 1.0, axis=1)
    return ScoredItems(rng.normal(size=(n, 11)) + gold, gold)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result of the best of three runs and its seconds."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return result, best


if __name__ == "__main__":
    main()
