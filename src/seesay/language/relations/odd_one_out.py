"""Odd one out: two words of one group and one of another.

The questions are those of Ghanimifard & Dobnik (2019), section 4.2.2.

The odd one has the largest sum of distances to the other two. Neither the distances nor the sum
depend on the order of the three, so each triple is scored once and counts for its six orders: 528
questions are 88 triples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product

import numpy as np

from seesay.language.relations.inventory import GROUPS, Variants, no_variants
from seesay.language.relations.vectors import WordVectors, cosine, rank_correlation
from seesay.metrics.base import FloatArray, IntArray

ORDERS = 6
"""The orders of a triple, each of which is a question of the paper."""


@dataclass(frozen=True)
class Triples:
    """Rows (first, second, odd) of indices into `words`."""

    words: tuple[str, ...]
    rows: IntArray

    @property
    def questions(self) -> int:
        """The number of ordered triples."""
        return ORDERS * len(self.rows)


def triples(words: Sequence[str], variants: Variants | None = None) -> Triples:
    """Return every triple of these words.

    With variants, every phrase of a simple word stands for it.
    """
    tested_words = list(chain.from_iterable(GROUPS))
    by_word = no_variants(tested_words) if variants is None else variants
    available = set(words)
    phrases: dict[str, list[str]] = {}
    for word in tested_words:
        phrases[word] = [phrase for phrase in by_word.get(word, ()) if phrase in available]
    names = tuple(dict.fromkeys(chain.from_iterable(phrases.values())))
    index = {name: i for i, name in enumerate(names)}
    rows: list[list[int]] = []
    for group in GROUPS:
        others = chain.from_iterable(other for other in GROUPS if other is not group)
        for (first, second), odd in product(combinations(group, 2), others):
            for triple in product(phrases[first], phrases[second], phrases[odd]):
                rows.append([index[phrase] for phrase in triple])
    return Triples(names, np.array(rows, dtype=np.int64).reshape(-1, 3))


def cosine_distance(vectors: WordVectors) -> FloatArray:
    """Return one minus the cosine."""
    return 1.0 - cosine(vectors.rows)


def rank_distance(vectors: WordVectors) -> FloatArray:
    """Return one minus the absolute Spearman correlation: opposite templates are near each
    other."""
    return 1.0 - np.abs(rank_correlation(vectors.rows))


DISTANCES: dict[str, Callable[[WordVectors], FloatArray]] = {
    "cosine": cosine_distance,
    "spearman": rank_distance,
}


def credit(
    questions: Triples,
    vectors: WordVectors,
    distance: Callable[[WordVectors], FloatArray] = cosine_distance,
) -> FloatArray:
    """Return the credit of each triple: 1, the odd one's share of a tie, or 0."""
    distances = distance(vectors.take(questions.words))
    first, second, odd = questions.rows.T
    between = distances[first, second]
    first_to_odd = distances[first, odd]
    second_to_odd = distances[second, odd]
    sums = np.stack(
        [
            between + first_to_odd,
            between + second_to_odd,
            first_to_odd + second_to_odd,
        ],
        axis=1,
    )
    # Sums of the same distances in another order may differ in the last digit: that is a tie.
    best = np.isclose(sums, sums.max(axis=1, keepdims=True), rtol=0.0, atol=1e-12)
    return np.asarray(best[:, 2] / best.sum(axis=1), dtype=np.float64)
