"""The figures of Ghanimifard & Dobnik (2019), reproduced from the files that they published.

The paper does not say which rows and columns of the 97 x 97 matrix each figure is based on, so
every figure is computed in each reading that the paper leaves open, and shown beside the printed
one. What is printed is after the authors' own source of the paper
(github.com/GU-CLASP/mehdi_thesis, studies/splu2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile

import numpy as np
import yaml

from seesay.data.rows import every_row, read_table
from seesay.errors import UserError
from seesay.language.relations import analogy, odd_one_out
from seesay.language.relations.correlation import HumanRatings, correlate, read_human
from seesay.language.relations.inventory import Variants, shown_contexts, shown_relations, variants
from seesay.language.relations.pvectors import PerplexityMatrix, shares
from seesay.language.relations.vectors import WordVectors, unit
from seesay.metrics.base import FloatArray

SOURCE = (
    "Ghanimifard & Dobnik 2019, What a neural language model tells us about spatial relations, "
    "SpLU-RoboNLP"
)
FILES = (
    "perplexity_vectors.npy",
    "words_contexts.npy",
    "embeddings.npy",
    "spatial_lexicon.npy",
    "composit2simple.npy",
    "logan_sadler_templates.csv",
    "word_association_from_figure.csv",
    "word_similarity_judgments_from_figure.csv",
)

LM = "LM embeddings"
P = "P-vectors"
TEMPLATES = "spatial templates"
NOT_PRINTED = "-"
TABLES: Mapping[str, Mapping[str, Any]] = yaml.load(
    (files("seesay.language.relations") / "published.yaml").read_text(encoding="utf-8"),
    Loader=yaml.BaseLoader,  # every cell a text, as printed
)
"""The printed tables: `title`, `header`, `rows` by the name in their first column, `source`."""
CLUSTERS = tuple(tuple(cells[0].split(", ")) for cells in TABLES["Table 2"]["rows"].values())
"""The clusters of the 67 P-vectors, k = 30."""


def printed_cells() -> dict[tuple[str, str], str]:
    """Return the printed accuracies and, of Table 5, Spearman's ρ, by test and vectors."""
    cells = {}
    for name in ("Table 3", "Table 4", "Table 5"):
        _, *tests = TABLES[name]["header"]
        for vectors, row in TABLES[name]["rows"].items():
            for test, cell in zip(tests, row, strict=True):
                if cell != NOT_PRINTED:
                    cells[test, vectors] = cell
    return cells


PRINTED = printed_cells()

# The paper divides columns by their sum; whether of perplexities or of their logarithms, and
# whether rows are scaled before, it leaves open.
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
    """Read the files of a folder, which may hold only numbers and words."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise UserError(
            f"'{folder}' lacks {missing[0]}: give the folder with the published files of the paper."
        )
    try:
        return _read(folder)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UserError(
            f"'{folder}' holds a damaged file ({error}): fetch the published files again."
        ) from error


def _read(folder: Path) -> PublishedFiles:
    """Read the files of a folder that has them all."""
    words, contexts = map(_texts, _load(folder / "words_contexts.npy"))
    lexicon = _texts(_load(folder / "spatial_lexicon.npy"))
    phrases, simple = map(_texts, _load(folder / "composit2simple.npy"))
    embeddings = _load(folder / "embeddings.npy").astype(np.float64)
    return PublishedFiles(
        matrix=PerplexityMatrix(words, contexts, _load(folder / "perplexity_vectors.npy")),
        embeddings=WordVectors(lexicon, embeddings),
        templates=_templates(folder / "logan_sadler_templates.csv"),
        simple=dict(zip(phrases, simple, strict=True)),
        association=read_human(folder / "word_association_from_figure.csv"),
        similarity=read_human(folder / "word_similarity_judgments_from_figure.csv"),
    )


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    """Return the texts of an array as Python's own."""
    return tuple(map(str, values))


def reproduce(data: PublishedFiles) -> list[Reproduction]:
    """Reproduce every printed figure, in the reading that comes nearest to it."""
    shown = p_vectors_of(data, "67 x 57")
    whole = p_vectors_of(data, "97 x 97")
    # Table 3; the templates of seven words make no analogy.
    figures = [
        _reproduction("analogy", LM, "as published", *_analogy(data.embeddings)),
        _reproduction("analogy", P, "67 x 57", *_analogy(shown)),
        _reproduction("analogy", "random", "one of nine", 1 / 9, 120),
    ]
    # Table 4, simple words
    for name, vectors, reading in (
        (LM, data.embeddings, "as published"),
        (P, shown, "67 x 57"),
        (TEMPLATES, data.templates, "7 x 7 cells"),
    ):
        for distance in odd_one_out.DISTANCES:
            odd = _odd_one_out(vectors, distance)
            figures.append(_reproduction(f"odd one out, {distance}", name, reading, *odd))
    # Tables 3 and 4, phrases
    for name, vectors, reading in (
        (LM, phrase_embeddings(data), "summed words of the 67"),
        (P, shown, "67 x 57"),
    ):
        by_word = variants(vectors.words, data.simple)
        analogies = _analogy(vectors, by_word)
        figures.append(_reproduction("analogy, phrases", name, reading, *analogies))
        for distance in odd_one_out.DISTANCES:
            odd = _odd_one_out(vectors, distance, by_word)
            figures.append(_reproduction(f"odd one out, phrases, {distance}", name, reading, *odd))
    # Table 5
    for name, vectors, reading in (
        (P, whole, "97 x 97"),
        (LM, data.embeddings, ""),
        (TEMPLATES, data.templates, ""),
    ):
        for test, ratings in judgements(data).items():
            figures += _correlation(test, name, reading, vectors, ratings)
    return figures


def judgements(data: PublishedFiles) -> dict[str, HumanRatings]:
    """Return people's ratings by the tests of Table 5.

    They are of all pairs, and of those of which one word is ever associated with the other.
    """
    association = data.association
    associated = set()
    for pair, value in zip(association.pairs, association.values, strict=True):
        if value > 0:
            associated.add(frozenset(pair))
    tables = {"word association": association, "word similarity": data.similarity}
    parts = {}
    for test, table in tables.items():
        mask = [frozenset(pair) in associated for pair in table.pairs]
        parts[f"{test}, associated pairs"] = table.where(mask)
    return tables | parts


def phrase_embeddings(data: PublishedFiles) -> WordVectors:
    """Return the embeddings of the 67 relations, each the sum of its words' (section 3.3)."""
    embeddings = data.embeddings
    sums = {}
    for relation in shown_relations():
        words = relation.split()
        if set(words) <= embeddings.index.keys():
            sums[relation] = embeddings.take(words).rows.sum(axis=0)
    return WordVectors(tuple(sums), np.array(list(sums.values())))


def readings(data: PublishedFiles) -> list[Reproduction]:
    """Return the P-vectors' figures in every reading.

    The readings are choices of rows and columns, and of the normalisation.
    """
    figures = []
    for part in ("67 x 57", "67 x 97", "97 x 97", "97 x 97 transposed"):
        for normalization in NORMALIZATIONS:
            vectors = p_vectors_of(data, part, normalization)
            reading = f"{part}; {normalization}"
            figures.append(_reproduction("analogy", P, reading, *_analogy(vectors)))
            for distance in odd_one_out.DISTANCES:
                odd = _odd_one_out(vectors, distance)
                figures.append(_reproduction(f"odd one out, {distance}", P, reading, *odd))
            figures += _correlation("word association", P, reading, vectors, data.association)
    return figures


def p_vectors_of(
    data: PublishedFiles,
    part: str,
    normalization: str = "columns by their sum",
) -> WordVectors:
    """Return P-vectors of a part of the matrix; rows are scaled to length 1 last."""
    matrix = data.matrix
    if part == "67 x 57":
        matrix = matrix.take(shown_relations(), shown_contexts())
    elif part == "67 x 97":
        matrix = matrix.take(shown_relations(), matrix.contexts)
    elif part == "97 x 97 transposed":
        matrix = PerplexityMatrix(matrix.contexts, matrix.words, matrix.perplexity.T)
    rows = NORMALIZATIONS[normalization](matrix.perplexity)
    return WordVectors(matrix.words, unit(rows))


def _analogy(vectors: WordVectors, phrases: Variants | None = None) -> tuple[float, int]:
    """Return the accuracy on the analogies, and their number."""
    questions = analogy.analogies(phrases)
    return analogy.score(questions, vectors).accuracy, len(questions)


def _odd_one_out(
    vectors: WordVectors,
    distance: str,
    phrases: Variants | None = None,
) -> tuple[float, int]:
    """Return the accuracy on odd one out, and the number of questions."""
    triples = odd_one_out.triples(vectors.words, phrases)
    credit = odd_one_out.credit(triples, vectors, odd_one_out.DISTANCES[distance])
    return float(credit.mean()), triples.questions


def _reproduction(
    test: str,
    name: str,
    reading: str,
    value: float,
    n: int,
) -> Reproduction:
    """Return a figure beside the one in print."""
    printed = None
    if (test, name) in PRINTED:
        # stars say how significant a correlation is
        cell = PRINTED[test, name].rstrip("*")
        printed = float(cell.replace("−", "-"))
    return Reproduction(test, name, reading, value, n, printed)


def _correlation(
    test: str,
    name: str,
    reading: str,
    vectors: WordVectors,
    ratings: HumanRatings,
) -> list[Reproduction]:
    """Return the correlation with people, if there are pairs enough."""
    # Of the result only ρ is shown: shuffles, which give its p-value, may be few.
    result = correlate(vectors, ratings, resamples=100)
    if result is None:
        return []
    return [_reproduction(test, name, reading, result.rho, result.pairs)]


def _templates(path: Path) -> WordVectors:
    """Read Logan & Sadler's (1996) acceptability of 7 x 7 locations.

    A relation is called by its first word (near to: near).
    """
    cells: dict[str, list[float]] = {}
    for row in every_row(path, read_table(path)):
        relation = row.cells["relation"].split("_")[0]
        values = [float(row.cells[f"c{place}"]) for place in range(7)]
        cells.setdefault(relation, []).extend(values)
    return WordVectors(tuple(cells), np.array(list(cells.values())))


def _load(path: Path) -> Any:
    """Load an array of numbers or texts; pickled objects are refused, as they could run code."""
    try:
        # Mapped, an array is no larger than its file, whatever its header says.
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False))
    except (
        ValueError,
        OSError,
        EOFError,
        SyntaxError,
        OverflowError,
        TokenError,
        BadZipFile,
    ) as error:
        raise UserError(
            f"{path} is damaged, or holds Python objects, which seesay does not load ({error})."
        ) from error
