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
    """The words of many texts in a row, as numbers of a vocabulary."""

    vocabulary: list[str]
    """The words by number."""
    numbers: Ints
    """The number of each word of the texts."""
    lengths: Ints
    """How many words each text has."""

    @property
    def text(self) -> Ints:
        """The text that each word belongs to."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def number_words(texts: Sequence[str]) -> Words:
    """Number the words of texts, split at white space."""
    words: list[str] = []
    lengths = []
    for text in texts:
        text_words = text.split()
        words += text_words
        lengths.append(len(text_words))
    numbers = numbering()
    flat = np.fromiter(map(numbers.__getitem__, words), np.int64, len(words))
    return Words(list(numbers), flat, np.asarray(lengths, np.int64))


def numbering() -> defaultdict[str, int]:
    """Return a table that gives every new word the next number."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def expand(starts: Ints, counts: Ints) -> Ints:
    """Return for each start so many numbers from it on, one after the other."""
    # Counting goes on through all runs: each is shifted by what came before it.
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(counts.sum())


@dataclass(frozen=True)
class GramCounts:
    """The grams of one order: row i says that text `text[i]` holds gram `gram[i]` `count[i]` times.

    Rows are sorted by gram, then text.
    """

    text: Ints
    """The text of each row."""
    gram: Ints
    """The number of each row's gram."""
    count: Ints
    """How often the text holds the gram."""
    place: Ints
    """Where among all words each gram, by number, is first written."""

    def take(self, rows: BoolArray) -> GramCounts:
        """Return some of the rows; the grams keep their numbers."""
        return GramCounts(
            self.text[rows],
            self.gram[rows],
            self.count[rows],
            self.place,
        )


@dataclass(frozen=True)
class Grams:
    """Numbered words and their grams."""

    words: Words
    tables: list[GramCounts]
    """The grams of order 1, 2, …"""

    def spell(self, order: int) -> list[str]:
        """Return the grams of an order by number, their words joined by blanks."""
        starts = self.tables[order - 1].place
        rows = self.words.numbers[starts[:, None] + np.arange(order)]
        word = self.words.vocabulary.__getitem__
        return [" ".join(map(word, row)) for row in rows.tolist()]


def count_grams(words: Words) -> Grams:
    """Count the grams of order 1 to `ORDERS`."""
    numbers = words.numbers
    kinds = np.int64(len(words.vocabulary))
    text_of = words.text
    at = np.arange(len(numbers))
    words_to_end = np.cumsum(words.lengths)[text_of] - at
    key = gram = numbers
    tables = []
    for order in range(1, ORDERS + 1):
        if order > 1:
            # A gram must not run over the end of its text.
            fits = words_to_end[at] >= order
            at = at[fits]
            key = gram[fits] * kinds + numbers[at + order - 1]
        # Stable: places rise with texts, so the texts of a gram come out in order.
        by_key = np.argsort(key, kind="stable")
        texts = text_of[at[by_key]]
        new = changes(key[by_key])
        number = np.cumsum(new) - 1
        gram = np.empty_like(key)
        gram[by_key] = number
        # Equal pairs of gram and text lie together: the length of such a run is the count.
        rows = np.flatnonzero(new | changes(texts))
        table = GramCounts(
            text=texts[rows],
            gram=number[rows],
            count=np.diff(rows, append=len(at)),
            place=at[by_key[new]],
        )
        tables.append(table)
    return Grams(words, tables)


def changes(values: Ints) -> BoolArray:
    """Return where a value differs from the one before it; the first one does."""
    changed = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def lookup(keys: Ints, values: FloatArray, queries: Ints) -> FloatArray:
    """Return `values` at the keys `queries`, 0 where a key is absent; `keys` are sorted."""
    if not len(keys):
        return np.zeros(len(queries))
    place = np.searchsorted(keys, queries)
    # A query above all keys would lie beyond the end.
    place = np.minimum(place, len(keys) - 1)
    return np.where(keys[place] == queries, values[place], 0.0)
