"""Analogies of antonyms: left is to right as above is to …? (Ghanimifard & Dobnik 2019, section 4)

Every ordered pair with every ordered pair that shares no word: 120 questions from six pairs. The answer is the word
with the largest dot product with b − a + c among the pairs' words less those asked. With multi-word variants each of
a, b and c may stand in any of its phrases, and a phrase of the right word is right: 85,744 questions if every
published phrase has a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from seesay.data.relations import ANTONYMS, Variants, no_variants
from seesay.metrics.base import BoolArray, FloatArray, IntArray
from seesay.relations.vectors import Vectors

_CHUNK = 1 << 15


@dataclass(frozen=True)
class Analogies:
    """Questions as rows (a, b, c) of indices into `candidates`, and the number of the simple word that is right.

    `simple` gives each candidate the number of its simple word: a candidate is out of the question if its simple word
    is asked, in whatever phrase.
    """

    candidates: tuple[str, ...]
    simple: IntArray
    asked: IntArray
    right: IntArray

    def __len__(self) -> int:
        return len(self.asked)


@dataclass(frozen=True)
class Answered:
    """How far each question was right (ties share their credit), and how far chance is."""

    credit: FloatArray
    chance: float

    @property
    def accuracy(self) -> float:
        return float(self.credit.mean()) if len(self.credit) else float("nan")


def analogies(variants: Variants | None = None, pairs: Sequence[tuple[str, str]] = ANTONYMS) -> Analogies:
    """All questions that the variants allow; without variants, every simple word stands for itself."""
    words = [word for pair in pairs for word in pair]
    known = no_variants(words) if variants is None else variants
    phrases = [(phrase, number) for number, word in enumerate(words) for phrase in known.get(word, ())]
    places: dict[int, list[int]] = {}
    for place, (_, number) in enumerate(phrases):
        places.setdefault(number, []).append(place)
    ordered = [(2 * i + flip, 2 * i + 1 - flip) for i in range(len(pairs)) for flip in (0, 1)]
    asked, right = [], []
    for (a, b), (c, d) in product(ordered, ordered):
        if {words[a], words[b]} & {words[c], words[d]} or d not in places:
            continue
        found = list(product(places.get(a, ()), places.get(b, ()), places.get(c, ())))
        asked += found
        right += [d] * len(found)
    return Analogies(
        tuple(phrase for phrase, _ in phrases),
        np.array([number for _, number in phrases], dtype=np.int64),
        np.array(asked, dtype=np.int64).reshape(-1, 3),
        np.array(right, dtype=np.int64),
    )


def answer(questions: Analogies, vectors: Vectors) -> Answered:
    """Every question by the dot product; `vectors` must have all candidates. Scale the rows first for the cosine."""
    rows = vectors.take(questions.candidates).rows
    products = rows @ rows.T
    credit = np.empty(len(questions))
    allowed_right = allowed = 0.0
    for start in range(0, len(questions), _CHUNK):
        part = slice(start, start + _CHUNK)
        open_, right = _masks(questions, part)
        a, b, c = questions.asked[part].T
        scores = np.where(open_, products[b] - products[a] + products[c], -np.inf)
        best = scores == scores.max(axis=1, keepdims=True)
        credit[part] = (best & right).sum(axis=1) / best.sum(axis=1)
        counted = open_.sum(axis=1)
        allowed_right += float(((open_ & right).sum(axis=1) / counted).sum())
        allowed += len(counted)
    return Answered(credit, allowed_right / allowed if allowed else float("nan"))


def _masks(questions: Analogies, part: slice) -> tuple[BoolArray, BoolArray]:
    """The candidates that may be answered, and those of them that are right."""
    means = np.arange(questions.simple.max() + 1)[:, None] == questions.simple
    a, b, c = questions.simple[questions.asked[part]].T
    return ~(means[a] | means[b] | means[c]), means[questions.right[part]]
