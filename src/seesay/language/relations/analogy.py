"""Analogies of antonyms: left is to right as above is to …?

They are those of Ghanimifard & Dobnik (2019), section 4.2.1.

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

# Questions scored at a time: each needs a row of all candidates, of which phrases make many.
_CHUNK = 1 << 15


@dataclass(frozen=True)
class Analogies:
    """Questions as rows (a, b, c) of indices into `candidates`.

    `answers` has the number of the simple word that is right.

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
        """The mean credit; NaN without questions."""
        if len(self.credit):
            return float(self.credit.mean())
        return float("nan")


def analogies(
    variants: Variants | None = None,
    pairs: Sequence[tuple[str, str]] = ANTONYMS,
) -> Analogies:
    """Return all questions that the variants allow.

    Without variants, every simple word stands for itself.
    """
    words = [word for pair in pairs for word in pair]
    by_word = no_variants(words) if variants is None else variants
    phrases: list[str] = []
    simple: list[int] = []
    indices: list[range] = []
    for number, word in enumerate(words):
        word_phrases = by_word.get(word, ())
        indices.append(range(len(phrases), len(phrases) + len(word_phrases)))
        phrases += word_phrases
        simple += [number] * len(word_phrases)
    ordered = []
    for left in range(0, len(words), 2):
        ordered += [(left, left + 1), (left + 1, left)]
    questions: list[tuple[int, ...]] = []
    answers = []
    for (a, b), (c, d) in product(ordered, ordered):
        # A word may be in two pairs: what counts is the word and not the pair.
        if {words[a], words[b]} & {words[c], words[d]} or not indices[d]:
            continue
        rows = list(product(indices[a], indices[b], indices[c]))
        questions += rows
        answers += [d] * len(rows)
    return Analogies(
        tuple(phrases),
        np.array(simple, dtype=np.int64),
        np.array(questions, dtype=np.int64).reshape(-1, 3),
        np.array(answers, dtype=np.int64),
    )


def score(analogies: Analogies, vectors: WordVectors) -> AnalogyScores:
    """Score every question by the dot product.

    `vectors` must have all candidates. Scale the rows first for the cosine.
    """
    if not len(analogies):
        return AnalogyScores(np.empty(0), float("nan"))
    rows = vectors.take(analogies.candidates).rows
    # (b − a + c) · d = b · d − a · d + c · d: all products of two candidates are computed once.
    products = rows @ rows.T
    simple = analogies.simple
    same_word = simple[:, None] == simple
    credit = np.empty(len(analogies))
    guessed = 0.0
    for start in range(0, len(analogies), _CHUNK):
        part = slice(start, start + _CHUNK)
        a, b, c = analogies.questions[part].T
        allowed = ~(same_word[a] | same_word[b] | same_word[c])
        right = analogies.answers[part, None] == simple
        scores = products[b] - products[a] + products[c]
        scores = np.where(allowed, scores, -np.inf)
        # Ties share the credit, so that the order of the candidates changes nothing.
        best = scores == scores.max(axis=1, keepdims=True)
        credit[part] = (best & right).sum(axis=1) / best.sum(axis=1)
        chances = (allowed & right).sum(axis=1) / allowed.sum(axis=1)
        guessed += float(chances.sum())
    return AnalogyScores(credit, guessed / len(analogies))
