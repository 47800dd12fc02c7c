"""P-vectors by hand, the laws they keep, and the folder they live in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seesay.errors import NewerVersionError, UserError
from seesay.files import write_json
from seesay.language.relations.pvectors import PerplexityMatrix, p_vectors, read, shares, write

MATRIX = PerplexityMatrix(
    ("above", "over", "in"), ("above", "in"), np.array([[1.0, 2.0], [3.0, 2.0], [4.0, 4.0]])
)
positive = arrays(np.float64, (4, 3), elements=st.floats(0.5, 5000))


def test_three_words_by_hand() -> None:
    """Both columns sum to 8; the first row is (1/8, 2/8), of length √5/8, so (1, 2)/√5."""
    assert shares(MATRIX.perplexity).tolist() == [[0.125, 0.25], [0.375, 0.25], [0.5, 0.5]]
    expected = [[1 / 5**0.5, 2 / 5**0.5], [3 / 13**0.5, 2 / 13**0.5], [0.5**0.5, 0.5**0.5]]
    assert p_vectors(MATRIX).rows == pytest.approx(np.array(expected))


@given(positive, st.floats(0.01, 100), st.permutations(range(4)), st.permutations(range(3)))
def test_scale_of_a_column_and_order_change_nothing(
    table: np.ndarray, factor: float, rows: list[int], columns: list[int]
) -> None:
    vectors = p_vectors(PerplexityMatrix(tuple("abcd"), tuple("xyz"), table)).rows
    harder = table.copy()
    harder[:, 1] *= factor
    assert p_vectors(PerplexityMatrix(tuple("abcd"), tuple("xyz"), harder)).rows == pytest.approx(
        vectors
    )
    moved = p_vectors(
        PerplexityMatrix(tuple("abcd"), tuple("xyz"), table[np.ix_(rows, columns)])
    ).rows
    assert moved == pytest.approx(vectors[np.ix_(rows, columns)])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
def test_invalid_perplexities_are_refused(bad: float) -> None:
    with pytest.raises(UserError, match="not a positive number"):
        shares(np.array([[1.0, bad]]))


def test_a_folder_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(tmp_path / "m", MATRIX, {"model": "toy"})
    for missing in (None, "matrix.parquet"):
        if missing:
            (tmp_path / "m" / missing).unlink()
        matrix, about = read(tmp_path / "m")
        assert (matrix.words, matrix.contexts, about) == (
            MATRIX.words,
            MATRIX.contexts,
            {"format": 1, "model": "toy"},
        )
        assert (matrix.perplexity == MATRIX.perplexity).all()
    assert MATRIX.take(("in",), ("above",)).perplexity.tolist() == [[4.0]]


def test_a_matrix_of_a_newer_version_says_so(tmp_path: Path) -> None:
    write(tmp_path, MATRIX, {"model": "toy"})
    write_json(tmp_path / "about.json", {"format": 2})
    (tmp_path / "matrix.parquet").write_text("another format")
    with pytest.raises(
        NewerVersionError, match=r"The matrix in .* was written by a newer version of seesay"
    ):
        read(tmp_path)


def test_missing_or_damaged_matrix_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no matrix"):
        read(tmp_path)
    (tmp_path / "matrix.csv").write_text("relation,in\nin,1\non,two\n", encoding="utf-8")
    with pytest.raises(UserError, match="damaged"):
        read(tmp_path)
