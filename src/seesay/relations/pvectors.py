"""P-vectors: a word's perplexities in the contexts of all relations, made comparable (Ghanimifard & Dobnik 2019).

A column divided by its sum takes out how hard its sentences are; rows are then scaled to length 1. The folder that
`seesay relations matrix` writes is read and written here.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seesay.errors import UserError
from seesay.files import write_text
from seesay.metrics.base import FloatArray
from seesay.relations.vectors import Vectors, unit
from seesay.training.checkpoint import write_whole

EMBEDDINGS = "embeddings.txt"
"""In the folder of a matrix: the model's own vectors of the same words, where it has any."""


@dataclass(frozen=True)
class Matrix:
    """Perplexities: rows are the words put in, columns the contexts that they are put into."""

    words: tuple[str, ...]
    contexts: tuple[str, ...]
    perplexity: FloatArray

    def __post_init__(self) -> None:
        if self.perplexity.shape != (len(self.words), len(self.contexts)):
            raise ValueError(
                f"{len(self.words)} words and {len(self.contexts)} contexts do not fit a matrix of shape "
                f"{self.perplexity.shape}"
            )
        for names in (self.words, self.contexts):
            if len(set(names)) < len(names):
                raise ValueError(f"'{next(n for n in names if names.count(n) > 1)}' stands twice")

    def take(self, words: tuple[str, ...], contexts: tuple[str, ...]) -> Matrix:
        """A part of it."""
        rows, columns = [self.words.index(word) for word in words], [self.contexts.index(word) for word in contexts]
        return Matrix(words, contexts, self.perplexity[np.ix_(rows, columns)])


def p_vectors(matrix: Matrix) -> Vectors:
    """Columns divided by their sum, rows then scaled to unit length."""
    return Vectors(matrix.words, unit(shares(matrix.perplexity)))


def shares(perplexity: FloatArray) -> FloatArray:
    """Each context's perplexities as shares of their sum: what the heat map shows before rows are scaled."""
    if not np.isfinite(perplexity).all() or (perplexity <= 0).any():
        raise UserError("A perplexity is not a positive number: the matrix cannot be normalised.")
    return np.asarray(perplexity / perplexity.sum(axis=0), dtype=np.float64)


def write(folder: Path, matrix: Matrix, about: dict[str, Any]) -> None:
    """`matrix` and `pvectors` as CSV and Parquet, and `about.json`: how they were made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("matrix", matrix.perplexity), ("pvectors", p_vectors(matrix).rows)):
        _write_table(folder / name, matrix, rows)
    write_text(folder / "about.json", json.dumps(about, indent=2, ensure_ascii=False))


def read(folder: Path) -> tuple[Matrix, dict[str, Any]]:
    """The matrix of a folder and how it was made; a folder with `matrix.csv` alone will do."""
    parquet, text = folder / "matrix.parquet", folder / "matrix.csv"
    try:
        if parquet.is_file():
            table = pq.read_table(parquet)
            names, columns = table.column_names, [column.to_pylist() for column in table.columns]
        elif text.is_file():
            with text.open(encoding="utf-8-sig", newline="") as file:
                names, *rows = list(csv.reader(file))
            columns = [[row[i] for row in rows] for i in range(len(names))]
        else:
            raise UserError(f"'{folder}' holds no matrix: `seesay relations matrix … -o {folder}` writes one.")
        words = tuple(map(str, columns[0]))
        values = np.array([[float(value) for value in column] for column in columns[1:]]).T
        matrix = Matrix(words, tuple(names[1:]), values)
    except (pa.ArrowException, ValueError, TypeError, IndexError, csv.Error) as error:
        raise UserError(
            f"The matrix in '{folder}' is damaged, or not one of relations by contexts ({error})."
        ) from error
    return matrix, _about(folder / "about.json")


def _about(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        if not isinstance(found, dict) or not isinstance(found.get("contexts", {}), dict):
            raise ValueError("not what `seesay relations matrix` writes")
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}): delete it, or make the matrix again.") from error
    return found


def _write_table(stem: Path, matrix: Matrix, rows: FloatArray) -> None:
    columns: dict[str, Any] = {"relation": list(matrix.words)}
    columns |= {name: rows[:, i] for i, name in enumerate(matrix.contexts)}
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, compression="zstd")
    write_whole(stem.with_suffix(".parquet"), sink.getvalue())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["relation", *matrix.contexts])
    writer.writerows([word, *map(repr, map(float, row))] for word, row in zip(matrix.words, rows, strict=True))
    write_text(stem.with_suffix(".csv"), text.getvalue())
