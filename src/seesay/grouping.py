"""Rows by what they have in common, and so many at a time."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

Row = TypeVar("Row")
Key = TypeVar("Key", bound=Hashable)


def group_by(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    """The rows that share a key together, keys in order of first appearance.

    >>> group_by(["bird", "cat", "boat"], lambda word: word[0])
    {'b': ['bird', 'boat'], 'c': ['cat']}
    """
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def alike(labels: Iterable[str]) -> list[list[str]]:
    """Return the labels that seem to be one word written in several ways, those of a word together.

    >>> alike(["red", "green", "Red", "dark  red", "dark red"])
    [['red', 'Red'], ['dark  red', 'dark red']]
    """
    words = group_by(
        labels, lambda label: " ".join(unicodedata.normalize("NFC", label).split()).casefold()
    )
    return [spellings for spellings in words.values() if len(spellings) > 1]


def chunks(items: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """The items in lists of `size`, the last one shorter."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def bounded_batches(
    items: Iterable[Row], most: int, size: Callable[[Row], int], largest: int
) -> Iterator[list[Row]]:
    """The items in lists of `most`, or of fewer where they are `largest` together."""
    batch: list[Row] = []
    total = 0
    for item in items:
        batch.append(item)
        total += size(item)
        if len(batch) == most or total >= largest:
            yield batch
            batch = []
            total = 0
    if batch:
        yield batch
