"""Odd one out: two words of one group and one of another (Ghanimifard & Dobnik 2019, section
4.2.2).

The odd one has the largest sum of distances to the other two. Neither the distances nor the sum
depend on the order of the three, so each triple is scored once and counts for its six orders: 528
questions are 88 triples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from seesay.language.relations.inventory import GROUPS, Variants, no_variants
from seesay.language.relations.vectors import WordVectors, cosine, rank_correlation
from seesay.metrics.base import FloatArray, IntArray

ORDERS = 6


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
    """Every triple of these words; with variants, every phrase of a simple word stands for it."""
    available = set(words)
    if variants is None:
        by_word = no_variants(word for group in GROUPS for word in group)
    else:
        by_word = variants
    phrases = {
        word: [p for p in by_word.get(word, ()) if p in available]
        for group in GROUPS
        for word in group
    }
    names = tuple(dict.fromkeys(phrase for options in phrases.values() for phrase in options))
    index = {name: i for i, name in enumerate(names)}
    rows = [
        (index[a], index[b], index[c])
        for group in GROUPS
        for first, second in combinations(group, 2)
        for other_group in GROUPS
        if other_group is not group
        for odd in other_group
        for a, b, c in product(phrases[first], phrases[second], phrases[odd])
    ]
    return Triples(names, np.array(rows, dtype=np.int64).reshape(-1, 3))


def cosine_distance(vectors: WordVectors) -> FloatArray:
    """One minus the cosine."""
    return 1.0 - cosine(vectors.rows)


def rank_distance(vectors: WordVectors) -> FloatArray:
    """One minus the absolute Spearman correlation: opposite templates are near each other."""
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
    """The credit of each triple: 1, the odd one's share of a tie, or 0."""
    between = distance(vectors.take(questions.words))
    first, second, odd = questions.rows.T
    near = between[first, second]
    left = between[first, odd]
    right = between[second, odd]
    sums = np.stack([near + left, near + right, left + right], axis=1)
    best = np.isclose(sums, sums.max(axis=1, keepdims=True), rtol=0.0, atol=1e-12)
    return np.asarray(best[:, 2] / best.sum(axis=1), dtype=np.float64)
