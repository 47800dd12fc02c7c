"""N-grams of many texts at once, as integer arrays: BLEU and CIDEr are sums over them.

A gram of order k is numbered by the pair (number of its first k − 1 words, last word), so that no number outgrows 64
bits whatever the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from seesay.metrics.base import FloatArray

Ints = NDArray[np.int64]
ORDERS = 4


@dataclass(frozen=True)
class GramCounts:
    """The grams of one order: row i says that text `text[i]` holds gram `gram[i]` `count[i]` times.

    Rows are sorted by text, then gram. `first` says where among all words each gram is first written.
    """

    text: Ints
    gram: Ints
    count: Ints
    first: Ints

    @property
    def kinds(self) -> int:
        """How many different grams there are."""
        return len(self.first)


@dataclass(frozen=True)
class Grams:
    """All words in a row, the number of words of each text, and its grams of order 1, 2, …"""

    words: list[str]
    lengths: Ints
    tables: list[GramCounts]

    def spell(self, order: int) -> list[str]:
        """The grams of an order by number, their words joined by blanks."""
        return [" ".join(self.words[i : i + order]) for i in self.tables[order - 1].first.tolist()]


def count_grams(texts: Sequence[str], orders: int = ORDERS) -> Grams:
    """The grams of order 1 to `orders` of texts, split at white space."""
    words: list[str] = []
    ends = []
    for text in texts:
        words += text.split()
        ends.append(len(words))
    lengths = np.asarray([end - start for start, end in pairwise([0, *ends])], np.int64)
    numbers = {word: i for i, word in enumerate(dict.fromkeys(words))}
    numbered = np.fromiter((numbers[word] for word in words), np.int64, len(words))
    text_of = np.repeat(np.arange(len(texts)), lengths)
    left = np.repeat(np.asarray(ends, np.int64), lengths) - np.arange(len(words))  # words from here to the text's end
    gram, at = numbered, np.arange(len(words))
    tables = []
    for order in range(1, orders + 1):
        if order > 1:
            keep = left[at] >= order
            at = at[keep]
            gram = gram[keep] * np.int64(len(numbers)) + numbered[at + order - 1]
        _, first, gram = np.unique(gram, return_index=True, return_inverse=True)
        width = np.int64(max(1, len(first)))
        rows, counts = np.unique(text_of[at] * width + gram, return_counts=True)
        tables.append(GramCounts(rows // width, rows % width, counts, at[first]))
    return Grams(words, lengths, tables)


def lookup(keys: Ints, values: FloatArray, queries: Ints) -> FloatArray:
    """`values` at the keys `queries`, 0 where a key is absent; `keys` are sorted."""
    if not len(keys):
        return np.zeros(len(queries))
    place = np.minimum(np.searchsorted(keys, queries), len(keys) - 1)
    return np.where(keys[place] == queries, values[place], 0.0)
