"""Sentences as numbers: a vocabulary from the training sentences, in CLEVR's layout (NULL, START, END, UNK, words)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

SPECIAL = ("<NULL>", "<START>", "<END>", "<UNK>")
NULL, START, END, UNKNOWN = range(4)
_WORD = re.compile(r"[\w'-]+")


def split(sentence: str) -> list[str]:
    """The sentence's words, in small letters, without its punctuation."""
    return _WORD.findall(sentence.lower())


@dataclass(frozen=True)
class Words:
    """A vocabulary; a word it lacks is read as UNK."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, sentences: Iterable[str]) -> Words:
        """All words of the sentences, in ASCII order."""
        return cls(tuple(sorted({word for sentence in set(sentences) for word in split(sentence)})))

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.words)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Words as numbers."""
        return {word: len(SPECIAL) + i for i, word in enumerate(self.words)}

    def encode(self, sentences: Sequence[str]) -> NDArray[np.int64]:
        """A row for each sentence: START, its words, END, and NULL up to the longest."""
        rows = [[START, *(self.numbers.get(word, UNKNOWN) for word in split(text)), END] for text in sentences]
        found = np.full((len(rows), max(map(len, rows), default=0)), NULL, dtype=np.int64)
        for row, numbers in zip(found, rows, strict=True):
            row[: len(numbers)] = numbers
        return found
