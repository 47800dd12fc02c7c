"""Natural breaks (Fisher 1958; Jenks 1977): k classes of values with the least squared deviation
within classes.

Exact. The squared deviation of a set is its sum of squares minus S²/n (S: its sum), and the sum of
squares is the same for every partition: so the best partition has the greatest Σ S²/n, which prefix
sums give. Pictures are processed together, in array operations; those with very many regions one by
one, by divide and conquer.

Equal values are never separated: with fewer than k distinct values, each is a class of its own. Of
equally good partitions the one with the earliest breaks is taken, from the last class to the first.
"""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, IntArray
from seesay.mining.choices import SIZE_CLASSES

LONG = 96
"""Longer rows are processed one by one: the array of all segments grows with the square of the
length."""
BLOCK = 1 << 20
"""Segments (n² per row) in memory at once: enough to amortise the call of an operation."""


def natural_breaks(values: FloatArray, classes: int = SIZE_CLASSES) -> IntArray:
    """The class of every value (0: the lowest) in each row of an array (B, n); NaN, the padding, is
    of class −1.

    >>> natural_breaks(np.array([[1.0, 50.0, 2.0, 1.0, 49.0], [3.0, 2.0, 3.0, np.nan, np.nan]]), 2).tolist()
    [[0, 1, 0, 0, 1], [1, 0, 1, -1, -1]]
    """
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(values, axis=1, kind="stable")  # NaNs come last
    rows = np.take_along_axis(values, order, axis=1)
    counts = (~np.isnan(rows)).sum(axis=1)
    classified = np.full(rows.shape, -1, dtype=np.int64)
    short = np.flatnonzero((counts > 0) & (counts <= LONG))
    width = int(counts[short].max(initial=0))
    block = max(1, BLOCK // max(width, 1) ** 2)
    for at in range(0, len(short), block):
        chosen = short[at : at + block]
        classified[chosen, :width] = _block(
            np.ascontiguousarray(rows[chosen, :width].T), counts[chosen], classes
        ).T
    for row in np.flatnonzero(counts > LONG):
        classified[row, : counts[row]] = _long(rows[row, : counts[row]], classes)
    result = np.empty_like(classified)
    np.put_along_axis(result, order, classified, axis=1)
    return result


def _block(values: FloatArray, counts: IntArray, classes: int) -> IntArray:
    """Classes of sorted columns (n, B), O(k n²) each, without a loop over columns.

    A partition of the first j values does not depend on later ones, so a column's padding does no
    harm.
    """
    n, columns = values.shape
    padding = np.arange(n)[:, None] >= counts
    values = np.where(padding, 0.0, values)
    # no class starts at a value that equals the one before
    barred = np.zeros((n + 1, columns), dtype=bool)
    barred[1:n] = values[1:] == values[:-1]
    class_count = np.minimum(counts - (barred[:n] & ~padding).sum(axis=0), classes)
    sums = np.zeros((n + 1, columns))
    np.cumsum(values - values[counts // 2, np.arange(columns)], axis=0, out=sums[1:])
    lengths = np.arange(1.0, n + 1)[:, None]
    segments = [np.square(sums[i + 1 :] - sums[i]) / lengths[: n - i] for i in range(n)]
    first = np.where(barred, -np.inf, np.concatenate([np.full((1, columns), -np.inf), segments[0]]))
    # [c][j]: the best of the first j values in c + 1 classes, where a class may start at j
    partitions = [first]
    for _ in range(classes - 2):
        best = np.full((n + 1, columns), -np.inf)
        before = partitions[-1]
        for i in range(1, n):
            np.maximum(best[i + 1 :], segments[i] + before[i], out=best[i + 1 :])
        partitions.append(np.where(barred, -np.inf, best))
    marks = np.zeros((n, columns), dtype=np.int64)
    end = counts.copy()
    each = np.arange(columns)
    starts = np.arange(n)[:, None]
    for number in range(classes, 1, -1):
        length = end - starts
        gain = np.square(sums[end, each] - sums[:n]) / np.maximum(length, 1)
        total = np.where(length > 0, partitions[number - 2][:n] + gain, -np.inf)
        cut = total.argmax(axis=0)
        inside = np.flatnonzero(class_count >= number)
        marks[cut[inside], inside] = 1
        end[inside] = cut[inside]
    return np.where(padding, -1, np.cumsum(marks, axis=0))


def _long(row: FloatArray, classes: int) -> IntArray:
    """Classes of one sorted row: the best cut moves right as the end does, so O(k n log n)
    suffices."""
    distinct, where, repeats = np.unique(row, return_inverse=True, return_counts=True)
    n = len(distinct)
    counts = np.concatenate([[0], np.cumsum(repeats)])
    sums = np.concatenate([[0.0], np.cumsum((distinct - distinct[n // 2]) * repeats)])
    best = np.full(n + 1, -np.inf)
    best[1:] = np.square(sums[1:]) / counts[1:]
    cuts = []
    for number in range(2, min(classes, n) + 1):
        best, cut = _step(best, sums, counts, number)
        cuts.append(cut)
    result = np.zeros(n, dtype=np.int64)
    end = n
    for cut in reversed(cuts):
        end = cut[end]
        result[end:] += 1
    return result[where]


def _step(
    best: FloatArray, sums: FloatArray, counts: IntArray, number: int
) -> tuple[FloatArray, IntArray]:
    """From the best partitions into number − 1 classes to those into `number`, all midpoints of a
    level at once."""
    n = len(best) - 1
    result = np.full(n + 1, -np.inf)
    cut = np.zeros(n + 1, dtype=np.int64)
    # prefixes still to do
    low = np.array([number])
    high = np.array([n])
    # where their cut may be
    left = np.array([number - 1])
    right = np.array([n - 1])
    while len(low):
        middle = (low + high) // 2
        until = np.minimum(right, middle - 1)
        width = until - left + 1
        offsets = np.concatenate([[0], np.cumsum(width)[:-1]])
        of = np.repeat(np.arange(len(middle)), width)
        tried = np.arange(len(of)) - offsets[of] + left[of]
        end = middle[of]
        total = best[tried] + np.square(sums[end] - sums[tried]) / (counts[end] - counts[tried])
        top = np.maximum.reduceat(total, offsets)
        reached = np.flatnonzero(total == top[of])
        at = tried[reached[np.searchsorted(of[reached], np.arange(len(middle)))]]
        result[middle], cut[middle] = top, at
        below = low < middle
        above = middle < high
        low = np.concatenate([low[below], middle[above] + 1])
        high = np.concatenate([middle[below] - 1, high[above]])
        left = np.concatenate([left[below], at[above]])
        right = np.concatenate([at[below], right[above]])
    return result, cut
