"""The number of times each object is in each bootstrap resample: multinomial counts, drawn fast and
reproducibly."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from seesay.metrics.base import FloatArray, IntArray

Counts = npt.NDArray[np.uint8]

_EXACT = 1 << 24  # float32 holds every whole number up to here

_CELLS = 1 << 17  # counts drawn at once: they stay in the processor's cache
_ROWS = 1024
# standard deviations between the expected number of Poisson draws and the number of objects
_MARGIN = 5.0


def draw_counts(objects: int, resamples: int, seed: int) -> Iterator[Counts]:
    """Yield counts (some resamples, objects), each row multinomial.

    A row has as many draws as there are objects, all equally likely.

    Independent Poisson counts are multinomial given their total, and adding independent uniform
    draws to a multinomial gives a multinomial. So most draws come as Poisson counts, with a mean a
    little below 1, and the rest, up to the number of objects, one by one; a row whose Poisson
    counts are too many draws all of its own one by one. This takes two random bytes per count, a
    fraction of the time of `Generator.multinomial`, and rests on raw bits, the one stream that
    NumPy promises not to change.
    """
    bits = np.random.SFC64(seed)
    thresholds = poisson_thresholds(max(0.0, 1.0 - _MARGIN / math.sqrt(objects)))
    most = max(1, min(_ROWS, _CELLS // objects))
    for start in range(0, resamples, most):
        rows = min(most, resamples - start)
        counts = _poisson(bits, rows * objects, thresholds).reshape(rows, objects)
        missing = objects - counts.sum(axis=1, dtype=np.int32)
        too_many = missing < 0
        counts[too_many] = 0
        missing[too_many] = objects
        row_starts = np.repeat(np.arange(rows) * objects, missing)
        places = row_starts + _uniform(bits, int(missing.sum()), objects)
        np.add.at(counts.reshape(-1), places, np.uint8(1))
        yield counts


def exact_type(columns: FloatArray) -> type[np.floating]:
    """Return float32 where sums of these rows, each counted as often as a resample has it or with
    either sign, are whole numbers that it holds exactly; else float64.

    The product is the same, in half the time.
    """
    largest = np.abs(columns).max(initial=0.0)
    are_whole = (columns == np.rint(columns)).all()
    # a resample has as many draws as there are rows
    if are_whole and len(columns) * largest < _EXACT:
        return np.float32
    return np.float64


def poisson_thresholds(mean: float) -> list[int]:
    """Return the Poisson distribution function in units of 2⁻¹⁶.

    A random 16-bit number's count is how many thresholds it reaches.

    The rounding changes the variance of a count by less than one in a thousand, far below the noise
    of 10,000 resamples, and its mean not at all: the total is fixed and all objects are alike.
    """
    thresholds: list[int] = []
    mass = cumulative = math.exp(-mean)
    while (threshold := round(cumulative * 65536)) < 65536:
        thresholds.append(threshold)
        mass *= mean / len(thresholds)
        cumulative += mass
    return thresholds


def _poisson(bits: np.random.SFC64, size: int, thresholds: list[int]) -> Counts:
    # four numbers of 16 bits to each of 64
    """Return so many Poisson counts: how many thresholds each random number reaches."""
    raw = bits.random_raw((size + 3) // 4).view(np.uint16)[:size]
    counts = np.zeros(size, dtype=np.uint8)
    reached = np.empty(size, dtype=np.bool_)
    for threshold in thresholds:
        np.greater_equal(raw, np.uint16(threshold), out=reached)
        counts += reached.view(np.uint8)
    return counts


def _uniform(bits: np.random.SFC64, size: int, below: int) -> IntArray:
    """Return whole numbers below a limit.

    Each is the high half of 32 random bits times the limit, with a bias of limit / 2³².
    """
    raw = bits.random_raw((size + 1) // 2).view(np.uint32)[:size]
    products = raw.astype(np.uint64) * np.uint64(below)
    return (products >> np.uint64(32)).view(np.int64)
