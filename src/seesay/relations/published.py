"""The figures of Ghanimifard & Dobnik (2019), reproduced from the files that they published.

The paper does not say which rows and columns of the 97 x 97 matrix each figure is based on, so every figure is computed
in each reading that the paper leaves open, and shown beside the printed one.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile

import numpy as np

from seesay.data.relations import Variants, shown_contexts, shown_relations, variants
from seesay.errors import UserError
from seesay.metrics.base import FloatArray
from seesay.relations import analogy, odd_one_out
from seesay.relations.correlation import HumanRatings, correlate, read_human
from seesay.relations.pvectors import PerplexityMatrix, shares
from seesay.relations.vectors import WordVectors, unit

SOURCE = "Ghanimifard & Dobnik 2019, What a neural language model tells us about spatial relations, SpLU-RoboNLP"
FILES = (
    "perplexity_vectors.npy", "words_contexts.npy", "embeddings.npy", "spatial_lexicon.npy", "composit2simple.npy",
    "logan_sadler_templates.csv", "word_association_from_figure.csv", "word_similarity_judgments_from_figure.csv",
)  # fmt: skip

NORMALIZATIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "columns by their sum": shares,
    "perplexities as they are": lambda table: table,
    "logarithms": np.log,
    "logarithms, columns by their sum": lambda table: shares(np.log(table)),
    "rows to length 1, then columns by their sum": lambda table: shares(unit(table)),
}


@dataclass(frozen=True)
class PublishedFiles:
    """The contents of the published files."""

    matrix: PerplexityMatrix
    embeddings: WordVectors
    templates: WordVectors
    simple: Mapping[str, str]
    association: HumanRatings
    similarity: HumanRatings


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A reproduced figure; `printed` is the paper's, None where it has none."""

    test: str
    vectors: str
    reading: str
    value: float
    n: int
    printed: float | None = None


def read(folder: Path) -> PublishedFiles:
    """The files of a folder, which may hold only numbers and words."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise UserError(f"'{folder}' lacks {missing[0]}: give the folder with the published files of the paper.")
    try:
        return _read(folder)
    except (ValueError, LookupError, TypeError, AttributeError, csv.Error) as error:
        raise UserError(f"'{folder}' holds a damaged file ({error}): fetch the published files again.") from error


def _read(folder: Path) -> PublishedFiles:
    words, contexts = (tuple(map(str, names)) for names in _load(folder / "words_contexts.npy"))
    lexicon = tuple(map(str, _load(folder / "spatial_lexicon.npy")))
    phrases, simple = _load(folder / "composit2simple.npy")
    return PublishedFiles(
        PerplexityMatrix(words, contexts, _load(folder / "perplexity_vectors.npy")),
        WordVectors(lexicon, _load(folder / "embeddings.npy").astype(np.float64)),
        _templates(folder / "logan_sadler_templates.csv"),
        dict(zip(map(str, phrases), map(str, simple), strict=True)),
        read_human(folder / "word_association_from_figure.csv"),
        read_human(folder / "word_similarity_judgments_from_figure.csv"),
    )


def reproduce(data: PublishedFiles) -> list[Reproduction]:
    """Every printed figure, in the reading that comes nearest to it."""
    shown = p_vectors_of(data, "67 x 57")
    whole = p_vectors_of(data, "97 x 97")
    figures = [
        Reproduction("analogy", "LM embeddings", "as published", *_analogy(data.embeddings), 0.86),
        Reproduction("analogy", "P-vectors", "67 x 57", *_analogy(shown), 0.62),
        Reproduction("analogy", "random", "one of nine", 1 / 9, 120, 0.11),
    ]
    for name, vectors, reading, printed in (
        ("LM embeddings", data.embeddings, "as published", (0.87, 0.90)),
        ("P-vectors", shown, "67 x 57", (0.72, 0.70)),
        ("spatial templates", data.templates, "7 x 7 cells", (0.22, 1.0)),
    ):
        for distance, value in zip(odd_one_out.DISTANCES, printed, strict=True):
            odd = _odd_one_out(vectors, distance)
            figures.append(Reproduction(f"odd one out, {distance}", name, reading, *odd, value))
    phrases = variants(shown.words, data.simple)
    figures.append(Reproduction("analogy, phrases", "P-vectors", "67 x 57", *_analogy(shown, phrases)))
    for distance in odd_one_out.DISTANCES:
        odd = _odd_one_out(shown, distance, phrases)
        figures.append(Reproduction(f"odd one out, phrases, {distance}", "P-vectors", "67 x 57", *odd))
    above_zero = data.association.where(data.association.values > 0)
    correlated: tuple[tuple[str, WordVectors, str, tuple[float | None, float | None]], ...] = (
        ("P-vectors", whole, "97 x 97", (0.48, 0.40)),
        ("LM embeddings", data.embeddings, "", (None, None)),
        ("spatial templates", data.templates, "", (None, None)),
    )
    for name, vectors, part, (all_pairs, related_pairs) in correlated:
        reading = f"{part}, the stronger direction" if part else "the stronger direction"
        figures += _correlation("word association", name, reading, vectors, data.association, all_pairs)
        figures += _correlation("word association above 0", name, reading, vectors, above_zero, related_pairs)
        figures += _correlation("word similarity", name, part, vectors, data.similarity, None)
    return figures


def readings(data: PublishedFiles) -> list[Reproduction]:
    """The P-vectors' figures in every reading: choices of rows and columns, and of the normalisation."""
    figures = []
    for part in ("67 x 57", "67 x 97", "97 x 97", "97 x 97 transposed"):
        for normalization in NORMALIZATIONS:
            vectors = p_vectors_of(data, part, normalization)
            reading = f"{part}; {normalization}"
            figures.append(Reproduction("analogy", "P-vectors", reading, *_analogy(vectors), 0.62))
            for distance, printed in (("cosine", 0.72), ("spearman", 0.70)):
                odd = _odd_one_out(vectors, distance)
                figures.append(Reproduction(f"odd one out, {distance}", "P-vectors", reading, *odd, printed))
            figures += _correlation("word association", "P-vectors", reading, vectors, data.association, 0.48)
    return figures


def p_vectors_of(data: PublishedFiles, part: str, normalization: str = "columns by their sum") -> WordVectors:
    """P-vectors of a part of the matrix; rows are scaled to length 1 last."""
    matrix = data.matrix
    if part.startswith("67"):
        matrix = matrix.take(shown_relations(), shown_contexts() if part == "67 x 57" else matrix.contexts)
    if part == "97 x 97 transposed":
        matrix = PerplexityMatrix(matrix.contexts, matrix.words, matrix.perplexity.T)
    return WordVectors(matrix.words, unit(NORMALIZATIONS[normalization](matrix.perplexity)))


def _analogy(vectors: WordVectors, phrases: Variants | None = None) -> tuple[float, int]:
    questions = analogy.analogies(phrases)
    return analogy.score(questions, vectors).accuracy, len(questions)


def _odd_one_out(vectors: WordVectors, distance: str, phrases: Variants | None = None) -> tuple[float, int]:
    questions = odd_one_out.triples(vectors.words, phrases)
    credit = odd_one_out.credit(questions, vectors, odd_one_out.DISTANCES[distance])
    return float(credit.mean()), questions.questions


def _correlation(
    test: str, name: str, reading: str, vectors: WordVectors, ratings: HumanRatings, printed: float | None
) -> list[Reproduction]:
    result = correlate(vectors, ratings, resamples=100)
    return [] if result is None else [Reproduction(test, name, reading, result.rho, result.pairs, printed)]


def _templates(path: Path) -> WordVectors:
    """Logan & Sadler's (1996) acceptability of 7 x 7 locations, by the first word of each relation (near to: near)."""
    cells: dict[str, list[float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cells.setdefault(row["relation"].split("_")[0], []).extend(float(row[f"c{i}"]) for i in range(7))
    return WordVectors(tuple(cells), np.array(list(cells.values())))


def _load(path: Path) -> Any:
    """An array of numbers or texts. Pickled objects are refused: they could run code."""
    try:
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False))  # mapped: no larger than its file
    except (ValueError, OSError, EOFError, SyntaxError, OverflowError, TokenError, BadZipFile) as error:
        raise UserError(f"{path} is damaged, or holds Python objects, which seesay does not load ({error}).") from error
