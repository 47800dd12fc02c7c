"""The figures of Ghanimifard & Dobnik (2019), computed again from the files that they published.

Nobody wrote down which rows and columns of the 97 x 97 matrix stand behind which figure, so every figure is computed in
each reading that the paper leaves open, and shown beside the one in print.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seesay.data.relations import shown_contexts, shown_relations, variants
from seesay.errors import UserError
from seesay.metrics.base import FloatArray
from seesay.relations import analogy, odd_one_out
from seesay.relations.correlation import Judged, correlate, read_human
from seesay.relations.pvectors import Matrix, shares
from seesay.relations.vectors import Vectors, unit

SOURCE = "Ghanimifard & Dobnik 2019, What a neural language model tells us about spatial relations, SpLU-RoboNLP"
FILES = (
    "perplexity_vectors.npy", "words_contexts.npy", "embeddings.npy", "spatial_lexicon.npy", "composit2simple.npy",
    "logan_sadler_templates.csv", "word_association_from_figure.csv", "word_similarity_judgments_from_figure.csv",
)  # fmt: skip

Normal = Callable[[FloatArray], FloatArray]
NORMALISATIONS: dict[str, Normal] = {
    "columns by their sum": shares,
    "perplexities as they are": lambda table: table,
    "logarithms": np.log,
    "logarithms, columns by their sum": lambda table: shares(np.log(table)),
    "rows to length 1, then columns by their sum": lambda table: shares(unit(table)),
}


@dataclass(frozen=True)
class Published:
    """The published files, read."""

    matrix: Matrix
    embeddings: Vectors
    templates: Vectors
    simple: Mapping[str, str]
    association: Judged
    similarity: Judged


@dataclass(frozen=True, slots=True)
class Again:
    """A figure computed again; `printed` is what the paper has, None where it has nothing."""

    test: str
    vectors: str
    reading: str
    value: float
    n: int
    printed: float | None = None


def read(folder: Path) -> Published:
    """The files of a folder, none of which may hold anything but numbers and words."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise UserError(f"'{folder}' lacks {missing[0]}: give the folder with the published files of the paper.")
    names, contexts = _load(folder / "words_contexts.npy")
    matrix = Matrix(tuple(map(str, names)), tuple(map(str, contexts)), _load(folder / "perplexity_vectors.npy"))
    lexicon = tuple(map(str, _load(folder / "spatial_lexicon.npy")))
    phrases, simple = _load(folder / "composit2simple.npy")
    return Published(
        matrix,
        Vectors(lexicon, _load(folder / "embeddings.npy").astype(np.float64)),
        _templates(folder / "logan_sadler_templates.csv"),
        dict(zip(map(str, phrases), map(str, simple), strict=True)),
        read_human(folder / "word_association_from_figure.csv"),
        read_human(folder / "word_similarity_judgments_from_figure.csv"),
    )


def again(data: Published) -> list[Again]:
    """Every figure in print, in the reading that comes nearest to it."""
    shown = vectors_of(data, "67 x 57")
    whole = vectors_of(data, "97 x 97")
    association, similarity = data.association, data.similarity
    found = [
        Again("analogy", "LM embeddings", "as published", *_analogy(data.embeddings), 0.86),
        Again("analogy", "P-vectors", "67 x 57", *_analogy(shown), 0.62),
        Again("analogy", "random", "one of nine", 1 / 9, 120, 0.11),
    ]
    for name, made, reading, printed in (
        ("LM embeddings", data.embeddings, "as published", (0.87, 0.90)),
        ("P-vectors", shown, "67 x 57", (0.72, 0.70)),
        ("spatial templates", data.templates, "7 x 7 cells", (0.22, 1.0)),
    ):
        for distance, figure in zip(odd_one_out.DISTANCES, printed, strict=True):
            found.append(Again(f"odd one out, {distance}", name, reading, *_odd(made, distance), figure))
    phrases = variants(shown.words, data.simple)
    asked = analogy.analogies(phrases)
    found.append(Again("analogy, phrases", "P-vectors", "67 x 57", analogy.answer(asked, shown).accuracy, len(asked)))
    for distance in odd_one_out.DISTANCES:
        value, n = _odd(shown, distance, phrases)
        found.append(Again(f"odd one out, phrases, {distance}", "P-vectors", "67 x 57", value, n))
    for name, made in (("P-vectors", whole), ("LM embeddings", data.embeddings), ("spatial templates", data.templates)):
        mine = name == "P-vectors"
        reading = "97 x 97, the stronger direction" if mine else "the stronger direction"
        found += _correlations("word association", name, reading, made, association, 0.48 if mine else None)
        found += _correlations(
            "word association above 0", name, reading, made, association.above_zero(), 0.40 if mine else None
        )
        found += _correlations("word similarity", name, reading.split(",")[0] if mine else "", made, similarity, None)
    return found


def readings(data: Published) -> list[Again]:
    """The P-vectors' figures in every reading: which rows and columns, and how they are normalised."""
    found = []
    for part in ("67 x 57", "67 x 97", "97 x 97", "97 x 97 transposed"):
        for normal in NORMALISATIONS:
            made = vectors_of(data, part, normal)
            reading = f"{part}; {normal}"
            found.append(Again("analogy", "P-vectors", reading, *_analogy(made), 0.62))
            found.append(Again("odd one out, cosine", "P-vectors", reading, *_odd(made, "cosine"), 0.72))
            found.append(Again("odd one out, spearman", "P-vectors", reading, *_odd(made, "spearman"), 0.70))
            found += _correlations("word association", "P-vectors", reading, made, data.association, 0.48)
    return found


def vectors_of(data: Published, part: str, normal: str = "columns by their sum") -> Vectors:
    """P-vectors of a part of the matrix; rows are scaled to length 1 last."""
    matrix = data.matrix
    if part.startswith("67"):
        matrix = matrix.take(shown_relations(), shown_contexts() if part == "67 x 57" else matrix.contexts)
    if part == "97 x 97 transposed":
        matrix = Matrix(matrix.contexts, matrix.words, matrix.perplexity.T)
    return Vectors(matrix.words, unit(NORMALISATIONS[normal](matrix.perplexity)))


def _analogy(vectors: Vectors) -> tuple[float, int]:
    asked = analogy.analogies()
    return analogy.answer(asked, vectors).accuracy, len(asked)


def _odd(vectors: Vectors, distance: str, phrases: Mapping[str, tuple[str, ...]] | None = None) -> tuple[float, int]:
    asked = odd_one_out.triples(vectors.words, phrases)
    return float(odd_one_out.credit(asked, vectors, odd_one_out.DISTANCES[distance]).mean()), asked.questions


def _correlations(
    test: str, name: str, reading: str, vectors: Vectors, judged: Judged, printed: float | None
) -> list[Again]:
    found = correlate(vectors, judged, resamples=100)
    return [] if found is None else [Again(test, name, reading, found.rho, found.pairs, printed)]


def _templates(path: Path) -> Vectors:
    """Logan & Sadler's (1996) acceptability of 7 x 7 places, under the first word of each relation (near to: near)."""
    cells: dict[str, list[float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cells.setdefault(row["relation"].split("_")[0], []).extend(float(row[f"c{i}"]) for i in range(7))
    return Vectors(tuple(cells), np.array(list(cells.values())))


def _load(path: Path) -> Any:
    """An array of numbers or texts. Files with pickled objects are never opened: they could run anything."""
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise UserError(f"{path} is damaged, or holds Python objects, which seesay does not load ({error}).") from error
