"""Texts of different lengths in one flat array, and batches of them with hardly any padding.

Captions are short and of similar length: sorted by length and cut by a token budget, a batch has
nearly no padding. (Packing several into a row of 128 with a block-diagonal mask is no faster on a
CPU, which then spends the time on attention.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ragged:
    """Rows of numbers; row i is `values[offsets[i]:offsets[i + 1]]`."""

    values: NDArray[np.int32]
    offsets: Rows

    @classmethod
    def of(cls, rows: Iterable[list[int]]) -> Ragged:
        """Make rows of lists."""
        lists = list(rows)
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        values = np.fromiter(chain.from_iterable(lists), np.int32, int(lengths.sum()))
        return cls(values, _offsets(lengths))

    @property
    def lengths(self) -> Rows:
        """The rows' lengths."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def matrix(self, rows: Rows, fill: int) -> Rows:
        """Return some rows as a matrix, padded with `fill`."""
        lengths = self.lengths[rows]
        places = np.arange(lengths.max())
        real = places < lengths[:, None]
        starts = self.offsets[rows]
        # What is padded is looked up too: at place 0, as beyond a row's end there may be nothing.
        at = np.where(real, starts[:, None] + places, 0)
        return np.where(real, self.values[at], fill).astype(np.int64)


def concatenate_rows(parts: list[Ragged]) -> Ragged:
    """Return the rows of all parts, one part after the other."""
    lengths = np.concatenate([part.lengths for part in parts])
    values = np.concatenate([part.values for part in parts])
    return Ragged(values, _offsets(lengths))


def _offsets(lengths: Rows) -> Rows:
    """Return where each row begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])


def cut(
    lengths: Rows,
    rows: Rows,
    *,
    tokens: int | None = None,
    texts: int | None = None,
) -> list[Rows]:
    """Return the rows in batches of at most this many tokens, padding included, or texts.

    The shortest row is the first; rows of one length stay in their order.
    """
    rows = rows[np.argsort(lengths[rows], kind="stable")]
    batches: list[Rows] = []
    start = 0
    while start < len(rows):
        stop = min(start + (texts or len(rows)), len(rows))
        if tokens is not None:
            # Rows only get longer, so the batch grows until its longest times its size passes the
            # budget.
            sizes = np.arange(1, stop - start + 1)
            padded = sizes * lengths[rows[start:stop]]
            stop = start + max(1, int(np.searchsorted(padded, tokens, side="right")))
        batches.append(rows[start:stop])
        start = stop
    return batches


def draw(weights: NDArray[np.float64], rng: np.random.Generator) -> Rows:
    """Return the rows of an epoch in random order: each as often as its weight, fractions by
    chance."""
    times = np.floor(weights + rng.random(len(weights))).astype(np.int64)
    return rng.permutation(np.repeat(np.arange(len(weights)), times))
