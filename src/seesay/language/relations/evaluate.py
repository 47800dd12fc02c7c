"""All tests of one set of vectors: analogies, odd one out, correlation with people; and what chance
gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from seesay.defaults import RESAMPLES
from seesay.errors import UserError
from seesay.files import json_value
from seesay.language.relations import analogy, odd_one_out, pvectors
from seesay.language.relations.correlation import Correlation, HumanRatings, correlate, read_human
from seesay.language.relations.inventory import (
    ANTONYMS,
    GROUPS,
    NEIGHBOURS,
    Variants,
    no_variants,
    variants,
)
from seesay.language.relations.vectors import WordVectors, read_vectors
from seesay.metrics.base import FloatArray, weighted_mean
from seesay.metrics.bootstrap import Resamples


@dataclass(frozen=True, slots=True)
class VectorTest:
    """An accuracy with its interval over the answers, or None where too few words have vectors."""

    test: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    questions: int = 0
    chance: float | None = None


@dataclass(frozen=True)
class VectorEvaluation:
    """The tests of one set of vectors, and its correlation with each table of people's ratings.

    `descriptions` says of a table how many people rated and how far they agree, where that is
    known.
    """

    name: str
    words: int
    tests: list[VectorTest]
    people: dict[str, Correlation | None]
    descriptions: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As `seesay relations test --json` prints it: null for what is not finite."""
        return {key: json_value(value) for key, value in asdict(self).items()}


def evaluate(
    name: str, vectors: WordVectors, ratings: Sequence[HumanRatings] = (), *, seed: int = 0
) -> VectorEvaluation:
    """All tests of one set of vectors."""
    people = {table.name: correlate(vectors, table, seed=seed) for table in ratings}
    descriptions = {table.name: table.description for table in ratings if table.description}
    return VectorEvaluation(
        name, len(vectors.words), intrinsic(vectors, seed=seed), people, descriptions
    )


def evaluate_folder(
    folder: Path, vectors: Sequence[Path] = (), human: Sequence[Path] = (), *, seed: int = 0
) -> list[VectorEvaluation]:
    """The P-vectors of a folder, the model's own embeddings where the folder has them, and files of
    other vectors."""
    matrix, about = pvectors.read(folder)
    model = about.get("model", "the matrix")
    ratings = [read_human(path) for path in human]
    evaluations = [
        evaluate(f"P-vectors of {model}", pvectors.p_vectors(matrix), ratings, seed=seed)
    ]
    embeddings = folder / pvectors.EMBEDDINGS
    own = [(f"embeddings of {model}", embeddings)] if embeddings.is_file() else []
    words = _tested_words(matrix.words, ratings)
    for name, path in [*own, *((path.name, path) for path in vectors)]:
        evaluations.append(evaluate(name, read_vectors(path, words), ratings, seed=seed))
    return evaluations


def intrinsic(vectors: WordVectors, *, seed: int = 0) -> list[VectorTest]:
    """Analogies and odd one out, with the simple words alone and with every phrase that has a
    vector."""
    phrases = variants(vectors.words)
    words = no_variants(vectors.words)
    tests = [
        _analogy("analogy", words, vectors, seed),
        _analogy("analogy, phrases", phrases, vectors, seed),
    ]
    for name, by_word in (("odd one out", words), ("odd one out, phrases", phrases)):
        questions = odd_one_out.triples(vectors.words, by_word)
        odd = [questions.words[row[2]] for row in questions.rows]
        for distance, function in odd_one_out.DISTANCES.items():
            if odd:
                credit = odd_one_out.credit(questions, vectors, function)
            else:
                credit = np.empty(0)
            tests.append(
                _accuracy(f"{name}, {distance}", credit, odd, questions.questions, 1 / 3, seed)
            )
    return tests


def parse_pairs(texts: Sequence[str], matrix: pvectors.PerplexityMatrix) -> list[tuple[str, str]]:
    """Pairs of relations from texts such as `above,over`; the default pairs if there are none."""
    pairs = []
    for text in texts:
        a, _, b = (part.strip() for part in text.partition(","))
        if a == b or a not in matrix.words or b not in matrix.words:
            raise UserError(
                f"--pair {text!r} needs two relations of the matrix with a comma between them."
            )
        pairs.append((a, b))
    return pairs or list(NEIGHBOURS)


def _tested_words(words: Sequence[str], ratings: Sequence[HumanRatings]) -> tuple[str, ...]:
    """The words to look up in a file of vectors: those of the matrix, of the tests and of people's
    ratings."""
    tests = (word for group in (*ANTONYMS, *GROUPS) for word in group)
    people = (word for table in ratings for pair in table.pairs for word in pair)
    return tuple(dict.fromkeys((*words, *tests, *people)))


def _analogy(title: str, by_word: Variants, vectors: WordVectors, seed: int) -> VectorTest:
    questions = analogy.analogies(by_word)
    if not len(questions):
        return VectorTest(title)
    scores = analogy.score(questions, vectors)
    words = [word for pair in ANTONYMS for word in pair]
    answers = [words[i] for i in questions.answers]
    return _accuracy(title, scores.credit, answers, len(questions), scores.chance, seed)


def _accuracy(
    title: str, credit: FloatArray, answers: Sequence[str], questions: int, chance: float, seed: int
) -> VectorTest:
    """Questions with the same answer are not independent: the bootstrap draws answers, with all
    their questions."""
    if not answers:
        return VectorTest(title)
    stats = np.stack([credit, np.ones_like(credit)], axis=1)[None]
    interval = Resamples(answers, RESAMPLES, seed).interval(stats, weighted_mean)
    return VectorTest(title, interval.value, interval.low, interval.high, questions, chance)
