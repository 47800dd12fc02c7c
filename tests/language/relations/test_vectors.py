"""Files of word vectors: GloVe's, word2vec's, and files that are none."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from seesay.errors import UserError
from seesay.language.relations.vectors import WordVectors, cosine, read_vectors, unit

ROWS = {"in": [1.0, 2.0], "in_front_of": [0.5, -1.5], "off": [3.0, 0.25]}
TEXT = "".join(f"{word} {a} {b}\n" for word, (a, b) in ROWS.items())


def files(folder: Path) -> dict[str, Path]:
    paths = {
        name: folder / name
        for name in ("glove.txt", "glove.txt.gz", "word2vec.vec", "word2vec.bin")
    }
    paths["glove.txt"].write_text(TEXT, encoding="utf-8")
    with gzip.open(paths["glove.txt.gz"], "wt", encoding="utf-8") as file:
        file.write(TEXT)
    paths["word2vec.vec"].write_text("3 2\n" + TEXT, encoding="utf-8")
    body = b"".join(
        f"{word} ".encode() + np.array(row, "<f4").tobytes() + b"\n" for word, row in ROWS.items()
    )
    paths["word2vec.bin"].write_bytes(b"3 2\n" + body)
    return paths


@pytest.mark.parametrize("name", ["glove.txt", "glove.txt.gz", "word2vec.vec", "word2vec.bin"])
def test_every_form_gives_the_same_vectors(tmp_path: Path, name: str) -> None:
    vectors = read_vectors(files(tmp_path)[name], ["off", "in front of", "far"])
    assert vectors.words == ("in front of", "off")
    assert vectors.rows.tolist() == [ROWS["in_front_of"], ROWS["off"]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("in 1 2\non 1\n", "line 2, is not a word vector: 1 numbers instead of 2"),
        ("in 1 2\non 1 nan\n", "line 2, is not a word vector: a number is not finite"),
        ("in one two\n", "line 1, is not a word vector"),
        ("far 1 2\n", "a vector for none of the relations"),
        ("\n", "is not a file of word vectors"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=reason):
        read_vectors(path, ["in", "on"])


def test_a_binary_file_cut_short(tmp_path: Path) -> None:
    path = files(tmp_path)["word2vec.bin"]
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(UserError, match="ends before the last of its 3 word vectors"):
        read_vectors(path, ["off"])


def test_rows_of_zeros_stay() -> None:
    assert unit(np.array([[3.0, 4], [0, 0]])).tolist() == [[0.6, 0.8], [0, 0]]
    # 0.36 + 0.64 is rounded once or twice, depending on whether the processor fuses the product and
    # the sum
    assert cosine(np.array([[3.0, 4], [0, 0]])) == pytest.approx(
        np.array([[1.0, 0], [0, 0]]), abs=1e-15
    )


def test_words_occur_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        WordVectors(("in", "in"), np.eye(2))
    with pytest.raises(ValueError, match="as many rows"):
        WordVectors(("in",), np.eye(2))
