"""Vectors of words, wherever they come from: P-vectors, a model's embeddings, GloVe or word2vec files."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np

from seesay.data.lines import open_bytes
from seesay.errors import UserError
from seesay.files import write_text
from seesay.metrics.base import FloatArray

_LONGEST = 1 << 20


@dataclass(frozen=True)
class Vectors:
    """One row a word."""

    words: tuple[str, ...]
    rows: FloatArray

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or len(self.rows) != len(self.words):
            raise ValueError(f"{len(self.words)} words need as many rows: got an array of shape {self.rows.shape}")
        if len(set(self.words)) < len(self.words):
            raise ValueError("a word stands twice")

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Word to row."""
        return {word: i for i, word in enumerate(self.words)}

    def take(self, words: Sequence[str]) -> Vectors:
        """These words' rows, in this order."""
        return Vectors(tuple(words), self.rows[[self.place[word] for word in words]])

    def known(self, words: Iterable[str]) -> tuple[str, ...]:
        """Those of the words that have a row."""
        return tuple(word for word in words if word in self.place)


def unit(rows: FloatArray) -> FloatArray:
    """Rows scaled to length 1; a row of zeros stays what it is."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, length, out=np.zeros_like(rows), where=length > 0))


def cosine(rows: FloatArray) -> FloatArray:
    """Cosine similarity of every row with every row."""
    scaled = unit(np.asarray(rows, dtype=np.float64))
    return np.clip(scaled @ scaled.T, -1.0, 1.0)


def rank_correlation(rows: FloatArray) -> FloatArray:
    """Spearman's rho of every row with every row, ties at their mean rank."""
    from scipy.stats import rankdata

    ranks = rankdata(rows, axis=1)
    return cosine(ranks - ranks.mean(axis=1, keepdims=True))


def read_vectors(path: Path, words: Iterable[str]) -> Vectors:
    """The vectors of these words in a file: GloVe's or word2vec's text (gzipped or not), or word2vec's binary form.

    A phrase is looked up with underscores (`in_front_of`), as phrases are written in such files. Words that the file
    lacks are left out. Only the words asked for are kept, so a file of any size will do.
    """
    wanted = {word.replace(" ", "_"): word for word in words}
    found: dict[str, FloatArray] = {}
    try:
        with open_bytes(path) as file:
            header = file.readline(_LONGEST)
            shape = _shape(header)
            entries = _binary(file, *shape, path) if shape and _is_binary(path) else _text(file, header, shape, path)
            for word, row in entries:
                if word in wanted and wanted[word] not in found:
                    found[wanted[word]] = row
    except (OSError, EOFError) as error:
        raise UserError(f"{path} cannot be read as word vectors ({error}).") from error
    if not found:
        raise UserError(f"{path} has a vector for none of the relations: is it a file of English word vectors?")
    return Vectors(tuple(found), np.array(list(found.values()), dtype=np.float64))


def lstm_embeddings(folder: Path, words: Sequence[str], spelt: Sequence[str]) -> Vectors | None:
    """What an LSTM's embedding layer says of the words, spelt as it knows them; None if no LSTM is in the folder."""
    from seesay.models.hf.loading import model_type
    from seesay.models.words.lstm import MODEL_TYPE, load

    if model_type(folder) != MODEL_TYPE:
        return None
    network, vocabulary = load(folder)
    weights = network.embedding.weight.detach().numpy().astype(np.float64)
    rows = {word: vocabulary.number[one] for word, one in zip(words, spelt, strict=True) if one in vocabulary}
    return Vectors(tuple(rows), weights[list(rows.values())])


def write_vectors(path: Path, vectors: Vectors) -> None:
    """A file as GloVe's, phrases with underscores."""
    lines = (
        " ".join([word.replace(" ", "_"), *map(repr, map(float, row))])
        for word, row in zip(vectors.words, vectors.rows, strict=True)
    )
    write_text(path, "\n".join(lines) + "\n")


def _is_binary(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".bin")


def _shape(header: bytes) -> tuple[int, int] | None:
    """word2vec files say on their first line how many words and dimensions follow; GloVe's do not."""
    parts = header.split()
    if len(parts) == 2 and all(part.isdigit() for part in parts):
        return int(parts[0]), int(parts[1])
    return None


def _text(
    file: IO[bytes], header: bytes, shape: tuple[int, int] | None, path: Path
) -> Iterator[tuple[str, FloatArray]]:
    width = shape[1] if shape else len(header.split()) - 1
    if width < 1:
        raise UserError(f"{path} is no file of word vectors: a line is a word and its numbers.")
    line, number = (file.readline(_LONGEST), 2) if shape else (header, 1)
    while line:
        word, *numbers = line.rstrip().rsplit(b" ", width)
        try:
            if len(numbers) != width:
                raise ValueError(f"{len(numbers)} numbers where {width} are due")
            row = np.array(numbers, dtype=np.float64)
            if not np.isfinite(row).all():
                raise ValueError("a number is not finite")
        except ValueError as error:
            raise UserError(f"{path}, line {number}, is no word vector: {error}.") from None
        yield word.decode("utf-8", errors="replace"), row
        line, number = file.readline(_LONGEST), number + 1


def _binary(file: IO[bytes], count: int, width: int, path: Path) -> Iterator[tuple[str, FloatArray]]:
    for _ in range(count):
        word = bytearray()
        while (byte := file.read(1)) not in (b" ", b""):
            word += byte
            if len(word) > _LONGEST:
                raise UserError(f"{path} is no word2vec file in binary form.")
        raw = file.read(4 * width)
        if len(raw) < 4 * width:
            raise UserError(f"{path} ends before its {count:,} word vectors do: fetch it again.")
        yield word.lstrip(b"\n").decode("utf-8", errors="replace"), np.array(struct.unpack(f"<{width}f", raw))
