"""N-grams of many texts at once, as integer arrays: BLEU and CIDEr are sums over them.

A gram of order k is numbered by the pair (number of its first k − 1 words, last word), so that no
number outgrows 64 bits whatever the vocabulary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seesay.metrics.base import BoolArray, FloatArray

Ints = NDArray[np.int64]
ORDERS = 4


@dataclass(frozen=True)
class Words:
    """The words of many texts in a row, as numbers of a vocabulary, and the number of words of each
    text."""

    vocabulary: list[str]
    numbers: Ints
    lengths: Ints

    @property
    def text(self) -> Ints:
        """The text that each word belongs to."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def number_words(texts: Sequence[str]) -> Words:
    """The words of texts, split at white space."""
    words: list[str] = []
    lengths = []
    for text in texts:
        split = text.split()
        words += split
        lengths.append(len(split))
    numbers = numbering()
    flat = np.fromiter(map(numbers.__getitem__, words), np.int64, len(words))
    return Words(list(numbers), flat, np.asarray(lengths, np.int64))


def numbering() -> defaultdict[str, int]:
    """A table that gives every new word the next number."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def expand(starts: Ints, counts: Ints) -> Ints:
    """For each start so many numbers from it on, one after the other."""
    ends = np.cumsum(counts)
    return np.repeat(starts - ends + counts, counts) + np.arange(counts.sum())


@dataclass(frozen=True)
class GramCounts:
    """The grams of one order: row i says that text `text[i]` holds gram `gram[i]` `count[i]` times.

    Rows are sorted by gram, then text. `place` says where among all words each gram is first
    written.
    """

    text: Ints
    gram: Ints
    count: Ints
    place: Ints

    def take(self, rows: BoolArray) -> GramCounts:
        """Some of the rows; the grams keep their numbers."""
        return GramCounts(self.text[rows], self.gram[rows], self.count[rows], self.place)


@dataclass(frozen=True)
class Grams:
    """Numbered words and their grams of order 1, 2, …"""

    words: Words
    tables: list[GramCounts]

    def spell(self, order: int) -> list[str]:
        """The grams of an order by number, their words joined by blanks."""
        rows = self.words.numbers[self.tables[order - 1].place[:, None] + np.arange(order)]
        return [" ".join(map(self.words.vocabulary.__getitem__, row)) for row in rows.tolist()]


def count_grams(words: Words) -> Grams:
    """The grams of order 1 to `ORDERS`."""
    numbers = words.numbers
    text_of = words.text
    at = np.arange(len(words.numbers))
    left = np.cumsum(words.lengths)[text_of] - at  # words from here to the text's end
    key = gram = numbers
    tables = []
    for order in range(1, ORDERS + 1):
        if order > 1:
            keep = left[at] >= order
            at = at[keep]
            key = gram[keep] * np.int64(len(words.vocabulary)) + numbers[at + order - 1]
        by_key = np.argsort(key, kind="stable")
        texts = text_of[at[by_key]]
        new = changes(key[by_key])
        number = np.cumsum(new) - 1
        gram = np.empty_like(key)
        gram[by_key] = number
        rows = np.flatnonzero(new | changes(texts))
        tables.append(
            GramCounts(texts[rows], number[rows], np.diff(rows, append=len(at)), at[by_key[new]])
        )
    return Grams(words, tables)


def changes(values: Ints) -> BoolArray:
    """Where a value differs from the one before it; the first one does."""
    changed = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def lookup(keys: Ints, values: FloatArray, queries: Ints) -> FloatArray:
    """`values` at the keys `queries`, 0 where a key is absent; `keys` are sorted."""
    if not len(keys):
        return np.zeros(len(queries))
    place = np.minimum(np.searchsorted(keys, queries), len(keys) - 1)
    return np.where(keys[place] == queries, values[place], 0.0)
