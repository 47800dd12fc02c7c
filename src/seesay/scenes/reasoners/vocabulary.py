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


def split_words(sentence: str, *, cased: bool = False) -> list[str]:
    """Return the sentence's words without punctuation; those of a `cased` one keep their capitals.

    >>> split_words("The red circle is the biggest circle.")[:4]
    ['the', 'red', 'circle', 'is']
    """
    return _WORD.findall(sentence if cased else sentence.lower())


@dataclass(frozen=True)
class SentenceVocabulary:
    """The words a network reads; any other word is read as UNK.

    A vocabulary with capital letters tells them apart, as the published ones do, where `The` and
    `the` are two words.
    """

    words: tuple[str, ...]

    @classmethod
    def of(cls, sentences: Iterable[str], *, cased: bool = False) -> SentenceVocabulary:
        """Return the vocabulary of all words of the sentences, in ASCII order."""
        words: set[str] = set()
        # thousands of items share a few hundred sentences
        for sentence in set(sentences):
            words.update(split_words(sentence, cased=cased))
        return cls(tuple(sorted(words)))

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.words)

    @cached_property
    def cased(self) -> bool:
        """Return whether capitals count."""
        return any(word != word.lower() for word in self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Return the id of every word."""
        return {word: len(SPECIAL) + i for i, word in enumerate(self.words)}

    def encode(self, sentences: Sequence[str]) -> NDArray[np.int64]:
        """Return one row per sentence: START, its words, END, and NULL up to the longest."""
        rows = []
        for sentence in sentences:
            words = split_words(sentence, cased=self.cased)
            rows.append([START, *(self.ids.get(word, UNKNOWN) for word in words), END])
        longest = max(map(len, rows), default=0)
        encoded = np.full((len(rows), longest), NULL, dtype=np.int64)
        for row, ids in zip(encoded, rows, strict=True):
            row[: len(ids)] = ids
        return encoded
