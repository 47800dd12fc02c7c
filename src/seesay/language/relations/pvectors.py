"""P-vectors: a word's perplexities in the contexts of all relations, normalised.

They were introduced by Ghanimifard & Dobnik (2019).

Dividing each column by its sum removes how hard its sentences are; rows are then scaled to length
1. This module reads and writes the folder of `seesay relations matrix`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seesay.data.rows import every_row, read_rows
from seesay.errors import UserError
from seesay.files import atomic_write, read_json, refuse_newer, write_csv, write_json
from seesay.language.relations.vectors import WordVectors, unit
from seesay.metrics.base import FloatArray

FORMAT = 1
EMBEDDINGS = "embeddings.txt"
"""The model's own vectors of the same words, in the folder of a matrix."""


@dataclass(frozen=True)
class PerplexityMatrix:
    """Perplexities: rows are the substituted words, columns the contexts."""

    words: tuple[str, ...]
    contexts: tuple[str, ...]
    perplexity: FloatArray

    def __post_init__(self) -> None:
        rows = len(self.words)
        columns = len(self.contexts)
        shape = self.perplexity.shape
        if shape != (rows, columns):
            raise ValueError(
                f"{rows} words and {columns} contexts do not fit a matrix of shape {shape}"
            )
        for names in (self.words, self.contexts):
            if len(set(names)) < len(names):
                name = next(name for name in names if names.count(name) > 1)
                raise ValueError(f"'{name}' occurs twice")

    def take(
        self,
        words: tuple[str, ...],
        contexts: tuple[str, ...],
    ) -> PerplexityMatrix:
        """Return these rows and columns."""
        rows = [self.words.index(word) for word in words]
        columns = [self.contexts.index(word) for word in contexts]
        return PerplexityMatrix(words, contexts, self.perplexity[np.ix_(rows, columns)])


def p_vectors(matrix: PerplexityMatrix) -> WordVectors:
    """Return P-vectors: columns divided by their sum, rows then scaled to unit length."""
    return WordVectors(matrix.words, unit(shares(matrix.perplexity)))


def shares(perplexity: FloatArray) -> FloatArray:
    """Return each context's perplexities as shares of their sum."""
    if not np.isfinite(perplexity).all() or (perplexity <= 0).any():
        raise UserError("A perplexity is not a positive number: the matrix cannot be normalised.")
    return np.asarray(perplexity / perplexity.sum(axis=0), dtype=np.float64)


def write(folder: Path, matrix: PerplexityMatrix, about: dict[str, Any]) -> None:
    """Write `matrix` and `pvectors` as CSV and Parquet, and their origin as `about.json`."""
    _write_table(folder / "matrix", matrix, matrix.perplexity)
    _write_table(folder / "pvectors", matrix, p_vectors(matrix).rows)
    write_json(folder / "about.json", {"format": FORMAT, **about})


def read(folder: Path) -> tuple[PerplexityMatrix, dict[str, Any]]:
    """Read the matrix of a folder and its origin; `matrix.csv` alone is enough."""
    about = _read_about(folder / "about.json")
    # Parquet keeps every digit; the published matrix, and people's own, may be CSV.
    path = folder / "matrix.parquet"
    if not path.is_file():
        path = folder / "matrix.csv"
    if not path.is_file():
        raise UserError(
            f"'{folder}' holds no matrix: `seesay relations matrix … -o {folder}` writes one."
        )
    try:
        rows = [row.cells for row in every_row(path, read_rows(path))]
        first_column, *contexts = rows[0]
        words = tuple(str(row[first_column]) for row in rows)
        values = np.zeros((len(words), len(contexts)))
        for i, row in enumerate(rows):
            values[i] = [float(row[name]) for name in contexts]
        matrix = PerplexityMatrix(words, tuple(contexts), values)
    except (UserError, ValueError, TypeError, IndexError) as error:
        raise UserError(
            f"The matrix in '{folder}' is damaged, or not of relations by contexts ({error})."
        ) from error
    return matrix, about


def _read_about(path: Path) -> dict[str, Any]:
    """Read the origin of a matrix; a matrix may have none."""
    try:
        about = read_json(path) if path.is_file() else {}
        # A matrix made by hand has no origin, and one of another program may have any.
        refuse_newer(about, FORMAT, f"The matrix in '{path.parent}'")
        if not isinstance(about, dict) or not isinstance(about.get("contexts", {}), dict):
            raise ValueError("not what `seesay relations matrix` writes")
    except ValueError as error:
        raise UserError(
            f"{path} is damaged ({error}): delete it, or make the matrix again."
        ) from error
    return about


def _write_table(stem: Path, matrix: PerplexityMatrix, rows: FloatArray) -> None:
    """Write a table of words by contexts as Parquet and as CSV."""
    columns: dict[str, Any] = {"relation": list(matrix.words)}
    for i, name in enumerate(matrix.contexts):
        columns[name] = rows[:, i]
    table = pa.table(columns)
    with atomic_write(stem.with_suffix(".parquet")) as unfinished:
        pq.write_table(table, unfinished, compression="zstd")
    write_csv(stem.with_suffix(".csv"), table.column_names, table.to_pylist())
