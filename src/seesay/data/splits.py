"""Reproducible splits and samples: seeded, from NumPy's legacy generator, as ViPhy's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TypeVar

import numpy as np

from seesay.errors import UserError
from seesay.questions import Question

T = TypeVar("T")

SHARES = {
    "train": 0.2,
    "val": 0.1,
    "test": 0.7,
}
"""ViPhy's shares: most of the data is for testing, because a probe needs little training data."""


def split(
    rows: Sequence[T],
    seed: int = 0,
    shares: Mapping[str, float] = SHARES,
) -> dict[str, list[T]]:
    """Return rows shuffled and cut into train, val and test.

    With seed 0 the parts are the nine published files, row for row. Every part has int(share · n)
    rows, so that a row or two may be left over (`left_over`), as they are there.
    """
    order = shuffle_indices(len(rows), seed)
    parts: dict[str, list[T]] = {}
    start = 0
    for name, share in shares.items():
        stop = start + int(share * len(rows))
        parts[name] = [rows[i] for i in order[start:stop]]
        start = stop
    return parts


def split_by_object(
    questions: Sequence[Question],
    seed: int = 0,
) -> dict[str, tuple[Question, ...]]:
    """Return questions by split, those about one object in the same one.

    As in ViPhy, most of them are for testing.
    """
    by_object: dict[str, list[Question]] = {}
    for question in questions:
        by_object.setdefault(question.object, []).append(question)
    # Objects are divided and not questions: a probe must not be tested on what it was trained on.
    parts = split(list(by_object.values()), seed)
    return {
        "train": tuple(chain.from_iterable(parts["train"])),
        "validation": tuple(chain.from_iterable(parts["val"])),
        "test": tuple(chain.from_iterable(parts["test"])),
    }


def left_over(n: int) -> int:
    """Return the number of rows, of n, that are in no part.

    >>> left_over(43_096), left_over(6_570)
    (1, 0)
    """
    return n - sum(int(share * n) for share in SHARES.values())


def sample(
    rows: Sequence[T],
    fraction: float,
    seed: int,
) -> list[T]:
    """Return a fraction of the rows, one at least.

    With one seed, a larger fraction holds all of a smaller one.
    """
    if not 0 < fraction <= 1:
        raise UserError(
            f"A fraction of the training data is above 0 and at most 1, not {fraction}."
        )
    size = max(1, int(fraction * len(rows)))
    order = shuffle_indices(len(rows), seed)
    return [rows[i] for i in order[:size]]


def shuffle_indices(n: int, seed: int) -> list[int]:
    """Return the numbers below n in a shuffled order.

    It is the one that `numpy.random.seed(seed); numpy.random.shuffle(…)` gives.
    """
    # A generator of its own: the global one of NumPy is not touched, and gives the same order.
    order = np.arange(n)
    np.random.RandomState(seed).shuffle(order)
    return [int(i) for i in order]
