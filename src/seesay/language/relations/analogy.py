"""Analogies of antonyms: left is to right as above is to …? (Ghanimifard & Dobnik 2019, section
4.2.1)

Every ordered pair with every ordered pair that shares no word: 120 questions from six pairs. The
answer is the word with the largest dot product with b − a + c among the pairs' words other than a,
b and c. With multi-word variants each of a, b and c may be any of its phrases, and any phrase of
the right word is right: 85,744 questions if every published phrase has a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from seesay.language.relations.inventory import ANTONYMS, Variants, no_variants
from seesay.language.relations.vectors import WordVectors
from seesay.metrics.base import FloatArray, IntArray

_CHUNK = 1 << 15


@dataclass(frozen=True)
class Analogies:
    """Questions as rows (a, b, c) of indices into `candidates`, and the number of the simple word
    that is right.

    `simple` gives each candidate the number of its simple word: a candidate is excluded if its
    simple word is part of the question, in whatever phrase.
    """

    candidates: tuple[str, ...]
    simple: IntArray
    questions: IntArray
    answers: IntArray

    def __len__(self) -> int:
        return len(self.questions)


@dataclass(frozen=True)
class AnalogyScores:
    """The credit of each question (ties share it), and the credit of guessing."""

    credit: FloatArray
    chance: float

    @property
    def accuracy(self) -> float:
        if len(self.credit):
            return float(self.credit.mean())
        return float("nan")


def analogies(
    variants: Variants | None = None, pairs: Sequence[tuple[str, str]] = ANTONYMS
) -> Analogies:
    """All questions that the variants allow; without variants, every simple word stands for
    itself."""
    words = [word for pair in pairs for word in pair]
    by_word = no_variants(words) if variants is None else variants
    phrases = [
        (phrase, number) for number, word in enumerate(words) for phrase in by_word.get(word, ())
    ]
    indices: dict[int, list[int]] = {}
    for index, (_, number) in enumerate(phrases):
        indices.setdefault(number, []).append(index)
    ordered = [(2 * i + flip, 2 * i + 1 - flip) for i in range(len(pairs)) for flip in (0, 1)]
    questions = []
    answers = []
    for (a, b), (c, d) in product(ordered, ordered):
        if {words[a], words[b]} & {words[c], words[d]} or d not in indices:
            continue
        rows = list(product(indices.get(a, ()), indices.get(b, ()), indices.get(c, ())))
        questions += rows
        answers += [d] * len(rows)
    return Analogies(
        tuple(phrase for phrase, _ in phrases),
        np.array([number for _, number in phrases], dtype=np.int64),
        np.array(questions, dtype=np.int64).reshape(-1, 3),
        np.array(answers, dtype=np.int64),
    )


def score(analogies: Analogies, vectors: WordVectors) -> AnalogyScores:
    """Every question by the dot product; `vectors` must have all candidates. Scale the rows first
    for the cosine."""
    rows = vectors.take(analogies.candidates).rows
    products = rows @ rows.T
    same_word = analogies.simple[:, None] == analogies.simple
    credit = np.empty(len(analogies))
    guessed = 0.0
    for start in range(0, len(analogies), _CHUNK):
        part = slice(start, start + _CHUNK)
        a, b, c = analogies.questions[part].T
        allowed = ~(same_word[a] | same_word[b] | same_word[c])
        right = analogies.answers[part, None] == analogies.simple
        scores = np.where(allowed, products[b] - products[a] + products[c], -np.inf)
        best = scores == scores.max(axis=1, keepdims=True)
        credit[part] = (best & right).sum(axis=1) / best.sum(axis=1)
        guessed += float(((allowed & right).sum(axis=1) / allowed.sum(axis=1)).sum())
    return AnalogyScores(credit, guessed / len(analogies) if len(analogies) else float("nan"))
