"""All tests of one set of vectors, and what chance gives.

The tests are analogies, odd one out, and correlation with people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
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
from seesay.metrics.bootstrap import SHARE, Resamples, not_degenerate


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
        """Return what `seesay relations test --json` prints: null for what is not finite."""
        return {key: json_value(value) for key, value in asdict(self).items()}


def evaluate(
    name: str,
    vectors: WordVectors,
    ratings: Sequence[HumanRatings] = (),
    *,
    seed: int = 0,
) -> VectorEvaluation:
    """Run all tests of one set of vectors."""
    people = {table.name: correlate(vectors, table, seed=seed) for table in ratings}
    descriptions = {table.name: table.description for table in ratings if table.description}
    return VectorEvaluation(
        name,
        len(vectors.words),
        intrinsic(vectors, seed=seed),
        people,
        descriptions,
    )


def evaluate_folder(
    folder: Path,
    vectors: Sequence[Path] = (),
    human: Sequence[Path] = (),
    *,
    seed: int = 0,
) -> list[VectorEvaluation]:
    """Evaluate the P-vectors of a folder, and other vectors of the same words.

    The others are the model's own embeddings where the folder has them, and files.
    """
    matrix, about = pvectors.read(folder)
    model = about.get("model", "the matrix")
    ratings = [read_human(path) for path in human]
    p_vectors = pvectors.p_vectors(matrix)
    evaluations = [evaluate(f"P-vectors of {model}", p_vectors, ratings, seed=seed)]
    files = [(path.name, path) for path in vectors]
    embeddings = folder / pvectors.EMBEDDINGS
    if embeddings.is_file():
        files.insert(0, (f"embeddings of {model}", embeddings))
    # A file may have words that the matrix lacks: each set of vectors is tested on all its words.
    words = _tested_words(matrix.words, ratings)
    for name, path in files:
        evaluations.append(evaluate(name, read_vectors(path, words), ratings, seed=seed))
    return evaluations


def intrinsic(vectors: WordVectors, *, seed: int = 0) -> list[VectorTest]:
    """Run the analogies and odd one out.

    Both are run with the simple words alone, and with every phrase that has a vector.
    """
    phrases = variants(vectors.words)
    words = no_variants(vectors.words)
    tests = [
        _analogy("analogy", words, vectors, seed),
        _analogy("analogy, phrases", phrases, vectors, seed),
    ]
    for name, by_word in (("odd one out", words), ("odd one out, phrases", phrases)):
        triples = odd_one_out.triples(vectors.words, by_word)
        answers = [triples.words[odd] for odd in triples.rows[:, 2]]
        for distance, function in odd_one_out.DISTANCES.items():
            title = f"{name}, {distance}"
            if not answers:
                tests.append(VectorTest(title))
                continue
            # One of three words is odd, whichever words have vectors.
            credit = odd_one_out.credit(triples, vectors, function)
            tests.append(_accuracy(title, credit, answers, triples.questions, 1 / 3, seed))
    return tests


def parse_pairs(texts: Sequence[str], matrix: pvectors.PerplexityMatrix) -> list[tuple[str, str]]:
    """Parse pairs of relations such as `above,over`; the default pairs if there are none."""
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
    """Return the words to look up in a file of vectors.

    They are those of the matrix, of the tests and of people's ratings.
    """
    groups: list[Sequence[str]] = [words, *ANTONYMS, *GROUPS]
    for table in ratings:
        groups += table.pairs
    return tuple(dict.fromkeys(chain.from_iterable(groups)))


def _analogy(
    title: str,
    by_word: Variants,
    vectors: WordVectors,
    seed: int,
) -> VectorTest:
    """Return the accuracy on the analogies that the phrases allow."""
    questions = analogy.analogies(by_word)
    if not len(questions):
        return VectorTest(title)
    scores = analogy.score(questions, vectors)
    words = list(chain.from_iterable(ANTONYMS))
    answers = [words[i] for i in questions.answers]
    return _accuracy(title, scores.credit, answers, len(questions), scores.chance, seed)


def _accuracy(
    title: str,
    credit: FloatArray,
    answers: Sequence[str],
    questions: int,
    chance: float,
    seed: int,
) -> VectorTest:
    """Return a test's accuracy with its interval.

    Questions with the same answer are not independent: the bootstrap draws answers, with all their
    questions.
    """
    stats = np.stack([credit, np.ones_like(credit)], axis=1)[None]
    draw = Resamples(answers, RESAMPLES, seed)
    resampled = draw.interval(stats, weighted_mean, bounds=SHARE)
    interval = not_degenerate(resampled, draw.clusters.size)
    return VectorTest(
        title,
        interval.value,
        interval.low,
        interval.high,
        questions,
        chance,
    )
