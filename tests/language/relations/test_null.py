"""Vectors that have nothing to do with people's ratings: how often does the test say they have?

`pytest -m slow -s tests/language/relations/test_null.py` prints the rates that docs/relations.md
shows.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from seesay.language.relations.correlation import HumanRatings, correlate
from seesay.language.relations.vectors import WordVectors

WORLDS = 2_000
WORDS = tuple(f"w{number:02}" for number in range(20))


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 2.0])
def test_unrelated_vectors_correlate_in_one_case_of_twenty(effect: float) -> None:
    """Some words are close to all others in the vectors, others in people's minds."""
    significant = 0
    covered = 0
    pairs = tuple(combinations(WORDS, 2))
    first, second = np.array(list(combinations(range(len(WORDS)), 2))).T
    for seed in range(WORLDS):
        rng = np.random.default_rng(seed)
        weights = effect * rng.random((len(WORDS), 1))
        rows = rng.normal(size=(len(WORDS), 30)) + weights * rng.normal(size=(1, 30))
        liked = effect * rng.normal(size=len(WORDS))
        ratings = liked[first] + liked[second] + rng.normal(size=len(pairs))
        result = correlate(
            WordVectors(WORDS, rows),
            HumanRatings("drawn", pairs, ratings),
            resamples=300,
            seed=seed,
        )
        assert result is not None
        significant += result.p_words <= 0.05
        covered += result.low <= 0 <= result.high
    print(f"effect {effect}: p {significant / WORLDS:.3f}, interval {covered / WORLDS:.3f}")
    assert significant / WORLDS <= 0.05 + 3 * (0.05 * 0.95 / WORLDS) ** 0.5
    # a bootstrap over pairs that knows nothing of shared words covered 0.94 and 0.57 of 200 worlds;
    # where words have no effect, what pairs may share makes the interval wider than it need be
    most = 0.97 if effect else 0.99
    assert 0.92 <= covered / WORLDS <= most
