"""Natural breaks (Fisher 1958; Jenks 1977): k classes of values with the least squared deviation
within classes.

ViPhy clusters the objects of a picture by size with them (section 2.2, appendix A.1: 5 classes).

Exact. The squared deviation of a set is its sum of squares minus S²/n (S: its sum), and the sum of
squares is the same for every partition: so the best partition has the greatest Σ S²/n, which prefix
sums give. Pictures are processed together, in array operations.

Equal values are never separated: with fewer than k distinct values, each is a class of its own. Of
equally good partitions the one with the earliest breaks is taken, from the last class to the first.
"""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import BoolArray, FloatArray, IntArray
from seesay.mining.choices import SIZE_CLASSES


def natural_breaks(values: FloatArray, classes: int = SIZE_CLASSES) -> IntArray:
    """Return the class of every value (0: the lowest) in each row of an array (B, n).

    NaN, the padding, is of class −1.

    >>> rows = np.array([[1.0, 50.0, 2.0, 1.0, 49.0], [3.0, 2.0, 3.0, np.nan, np.nan]])
    >>> natural_breaks(rows, 2).tolist()
    [[0, 1, 0, 0, 1], [1, 0, 1, -1, -1]]
    """
    # NaNs come last.
    order = np.argsort(values, axis=1, kind="stable")
    columns = np.ascontiguousarray(np.take_along_axis(values, order, axis=1).T)
    result = np.empty_like(order)
    np.put_along_axis(result, order, _classify(columns, classes).T, axis=1)
    return result


def _classify(values: FloatArray, classes: int) -> IntArray:
    """Return the classes of sorted columns (n, B), O(k n²) each, without a loop over columns.

    A partition of the first j values does not depend on later ones, so a column's padding does no
    harm: NaN, below all values.
    """
    n, columns = values.shape
    column = np.arange(columns)
    is_padding = np.isnan(values)
    counts = n - is_padding.sum(axis=0)
    values = np.where(is_padding, 0.0, values)
    # A class cannot start at a value that equals the one before it.
    barred = np.zeros((n + 1, columns), dtype=bool)
    barred[1:n] = values[1:] == values[:-1]
    # Prefix sums about the median lose fewer digits than those of large values; shifting all
    # values leaves the partition as it is.
    sums = np.zeros((n + 1, columns))
    np.cumsum(values - values[counts // 2, column], axis=0, out=sums[1:])
    partitions = _best_partitions(sums, barred, classes)
    # Trace the breaks back, from the start of the last class to that of the second.
    marks = np.zeros((n, columns), dtype=np.int64)
    end = counts.copy()
    starts = np.arange(n)[:, None]
    for number in range(classes, 1, -1):
        length = end - starts
        gain = np.square(sums[end, column] - sums[:n]) / np.maximum(length, 1)
        total = np.where(length > 0, partitions[number - 2][:n] + gain, -np.inf)
        cut = total.argmax(axis=0)
        # A column with fewer distinct values has fewer classes: it joins in later.
        inside = np.flatnonzero(total[cut, column] > -np.inf)
        marks[cut[inside], inside] = 1
        end[inside] = cut[inside]
    return np.where(is_padding, -1, np.cumsum(marks, axis=0))


def _best_partitions(
    sums: FloatArray,
    barred: BoolArray,
    classes: int,
) -> list[FloatArray]:
    """Return in [c][j] the greatest Σ S²/n of the first j values in c + 1 classes.

    It is −inf where no class may start at j, since only such a partition can be continued. The
    table ends one class short of all, because the last class is found while tracing back.

    `sums`: (n + 1, B), prefix sums.
    `barred`: (n + 1, B), whether a value equals the one before it.
    """
    n = len(sums) - 1
    lengths = np.arange(1.0, n + 1)[:, None]
    # segments[i][j]: S²/n of the values from i to i + j, as one class
    segments = [np.square(sums[i + 1 :] - sums[i]) / lengths[: n - i] for i in range(n)]
    best = np.full(sums.shape, -np.inf)
    best[1:] = segments[0]
    partitions = [np.where(barred, -np.inf, best)]
    for _ in range(classes - 2):
        best = np.full(sums.shape, -np.inf)
        for i in range(1, n):
            np.maximum(best[i + 1 :], segments[i] + partitions[-1][i], out=best[i + 1 :])
        partitions.append(np.where(barred, -np.inf, best))
    return partitions
