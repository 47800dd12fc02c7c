"""Reproducible splits and samples: seeded, from NumPy's legacy generator, as ViPhy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from seesay.errors import UserError
from seesay.questions import Question

T = TypeVar("T")

SHARES = {"train": 0.2, "val": 0.1, "test": 0.7}
"""ViPhy's shares: most of the data is for testing, because a probe needs little training data."""


def split(rows: Sequence[T], seed: int = 0) -> dict[str, list[T]]:
    """Rows shuffled and cut into train, val and test; with seed 0 as in the nine published files,
    row for row.

    Every part has int(share · n) rows, so that a row or two may be left over (`left_over`), as they
    are there.
    """
    order = shuffled(len(rows), seed)
    parts: dict[str, list[T]] = {}
    start = 0
    for name, share in SHARES.items():
        stop = start + int(share * len(rows))
        parts[name] = [rows[i] for i in order[start:stop]]
        start = stop
    return parts


def split_by_object(
    questions: Sequence[Question], seed: int = 0
) -> dict[str, tuple[Question, ...]]:
    """Questions by split, those about one object in the same one; as ViPhy's, most of them are for
    testing."""
    by_object: dict[str, list[Question]] = {}
    for question in questions:
        by_object.setdefault(question.object, []).append(question)
    parts = split(list(by_object.values()), seed)
    names = {"train": "train", "validation": "val", "test": "test"}
    return {name: tuple(q for group in parts[part] for q in group) for name, part in names.items()}


def left_over(n: int) -> int:
    """The number of rows, of n, that are in no part.

    >>> left_over(43_096), left_over(6_570)
    (1, 0)
    """
    return n - sum(int(share * n) for share in SHARES.values())


def sample(rows: Sequence[T], fraction: float, seed: int) -> list[T]:
    """A fraction of the rows, one at least. With one seed, a larger fraction holds all of a smaller
    one."""
    if not 0 < fraction <= 1:
        raise UserError(
            f"A fraction of the training data is above 0 and at most 1, not {fraction}."
        )
    return [rows[i] for i in shuffled(len(rows), seed)[: max(1, int(fraction * len(rows)))]]


def shuffled(n: int, seed: int) -> list[int]:
    """The numbers below n in the order that `numpy.random.seed(seed); numpy.random.shuffle(…)`
    gives."""
    order = np.arange(n)
    np.random.RandomState(seed).shuffle(order)
    return [int(i) for i in order]
