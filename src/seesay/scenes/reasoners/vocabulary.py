"""The vocabulary of the training sentences, in CLEVR's layout (NULL, START, END, UNK, words)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seesay.scenes.published import SPECIAL as SPECIAL

NULL, START, END, UNKNOWN = range(4)
_WORD = re.compile(r"[\w'-]+")


def split_words(sentence: str) -> list[str]:
    """Return the sentence's words, lower-cased, without punctuation."""
    return _WORD.findall(sentence.lower())


@dataclass(frozen=True)
class SentenceVocabulary:
    """The words a network reads; any other word is read as UNK."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, sentences: Iterable[str]) -> SentenceVocabulary:
        """Return the vocabulary of all words of the sentences, in ASCII order."""
        words: set[str] = set()
        # thousands of items share a few hundred sentences
        for sentence in set(sentences):
            words.update(split_words(sentence))
        return cls(tuple(sorted(words)))

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Return the id of every word."""
        return {word: len(SPECIAL) + i for i, word in enumerate(self.words)}

    def encode(self, sentences: Sequence[str]) -> NDArray[np.int64]:
        """Return one row per sentence: START, its words, END, and NULL up to the longest."""
        rows = []
        for sentence in sentences:
            words = [self.ids.get(word, UNKNOWN) for word in split_words(sentence)]
            rows.append([START, *words, END])
        longest = max(map(len, rows), default=0)
        encoded = np.full((len(rows), longest), NULL, dtype=np.int64)
        for row, ids in zip(encoded, rows, strict=True):
            row[: len(ids)] = ids
        return encoded
