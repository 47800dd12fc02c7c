"""Word vectors from any source: P-vectors, a model's embeddings, GloVe or word2vec files."""

from __future__ import annotations

import re
import struct
import zlib
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

# A file of another kind may be a single line of gigabytes.
_MAX_LINE = 1 << 20


@dataclass(frozen=True)
class WordVectors:
    """One row per word."""

    words: tuple[str, ...]
    rows: FloatArray

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or len(self.rows) != len(self.words):
            raise ValueError(
                f"{len(self.words)} words need as many rows: got an array of shape "
                f"{self.rows.shape}"
            )
        if len(set(self.words)) < len(self.words):
            raise ValueError("a word occurs twice")

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The row of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def take(self, words: Sequence[str]) -> WordVectors:
        """Return the rows of these words, in this order."""
        return WordVectors(tuple(words), self.rows[[self.index[word] for word in words]])


def unit(rows: FloatArray) -> FloatArray:
    """Return rows scaled to length 1; a row of zeros stays as it is."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, length, out=np.zeros_like(rows), where=length > 0))


def cosine(rows: FloatArray) -> FloatArray:
    """Return the cosine similarity of every row with every row."""
    scaled = unit(np.asarray(rows, dtype=np.float64))
    # Rounding may leave a cosine just above 1, and a distance below 0.
    return np.clip(scaled @ scaled.T, -1.0, 1.0)


def rank_correlation(rows: FloatArray) -> FloatArray:
    """Return Spearman's ρ of every row with every row, ties at their mean rank."""
    from scipy.stats import rankdata

    # Spearman's ρ is Pearson's of the ranks, and that is the cosine of centred values.
    ranks = rankdata(rows, axis=1)
    return cosine(ranks - ranks.mean(axis=1, keepdims=True))


def read_vectors(path: Path, words: Iterable[str]) -> WordVectors:
    """Read the vectors of these words from a file.

    It is GloVe's or word2vec's text (plain or gzipped), or word2vec's binary format.

    Phrases are looked up with underscores (`in_front_of`), as such files write them. Words that are
    not in the file are left out. Only the requested words are kept in memory, so the file may have
    any size.
    """
    # Files of millions of words are read through once, and only these rows are kept.
    requested = {word.replace(" ", "_"): word for word in words}
    rows: dict[str, FloatArray] = {}
    try:
        with open_bytes(path) as file:
            header = file.readline(_MAX_LINE)
            shape = _shape(header)
            is_binary = path.name.removesuffix(".gz").endswith(".bin")
            if shape and is_binary:
                entries = _binary(file, *shape, path)
            else:
                entries = _text(file, header, shape, path)
            for word, row in entries:
                if word in requested and requested[word] not in rows:
                    rows[requested[word]] = row
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path} cannot be read as word vectors ({error}).") from error
    if not rows:
        raise UserError(
            f"{path} has a vector for none of the relations: is it a file of English word vectors?"
        )
    return WordVectors(tuple(rows), np.array(list(rows.values()), dtype=np.float64))


def lstm_embeddings(
    folder: Path,
    words: Sequence[str],
    spelt: Sequence[str],
) -> WordVectors | None:
    """Return the words' rows of an LSTM's embedding layer, spelt as it knows them.

    It is None if the folder holds no LSTM.
    """
    from seesay.language.words.lstm import MODEL_TYPE, load
    from seesay.models.files import model_type

    if model_type(folder) != MODEL_TYPE:
        return None
    network, vocabulary = load(folder)
    weights = network.embedding.weight.detach().numpy().astype(np.float64)
    rows = {}
    for word, token in zip(words, spelt, strict=True):
        if token in vocabulary:
            rows[word] = vocabulary.number[token]
    return WordVectors(tuple(rows), weights[list(rows.values())])


def write_vectors(path: Path, vectors: WordVectors) -> None:
    """Write a file in GloVe's format, phrases with underscores."""
    lines = []
    for word, row in zip(vectors.words, vectors.rows, strict=True):
        # `repr` keeps every digit.
        numbers = map(repr, row.tolist())
        lines.append(" ".join([word.replace(" ", "_"), *numbers]))
    write_text(path, "\n".join(lines) + "\n")


def _shape(header: bytes) -> tuple[int, int] | None:
    """Return the number of words and of dimensions in a word2vec header; None for another line."""
    match = re.fullmatch(rb"([0-9]{1,12})\s+([0-9]{1,5})", header.strip())
    return (int(match[1]), int(match[2])) if match else None


def _text(
    file: IO[bytes],
    header: bytes,
    shape: tuple[int, int] | None,
    path: Path,
) -> Iterator[tuple[str, FloatArray]]:
    """Return the words and vectors of a text file, of which the first line has been read."""
    # word2vec's first line is a header; GloVe's is a word already.
    width = shape[1] if shape else len(header.split()) - 1
    if width < 1:
        raise UserError(
            f"{path} is not a file of word vectors: each line must hold a word and its numbers."
        )
    line = file.readline(_MAX_LINE) if shape else header
    number = 2 if shape else 1
    while line:
        # From the right: a word of GloVe's may hold blanks.
        word, *numbers = line.rstrip().rsplit(b" ", width)
        try:
            row = _parse_row(numbers, width)
        except ValueError as error:
            raise UserError(f"{path}, line {number}, is not a word vector: {error}.") from None
        yield word.decode("utf-8", errors="replace"), row
        line = file.readline(_MAX_LINE)
        number += 1


def _parse_row(numbers: list[bytes], width: int) -> FloatArray:
    """Return a vector; raise ValueError if it is none."""
    if len(numbers) != width:
        raise ValueError(f"{len(numbers)} numbers instead of {width}")
    row = np.array(numbers, dtype=np.float64)
    if not np.isfinite(row).all():
        raise ValueError("a number is not finite")
    return row


def _binary(
    file: IO[bytes],
    count: int,
    width: int,
    path: Path,
) -> Iterator[tuple[str, FloatArray]]:
    """Return the words and vectors of word2vec's binary format, after its header."""
    size = 4 * width
    for _ in range(count):
        word = bytearray()
        while (byte := file.read(1)) not in (b" ", b""):
            word += byte
            # A file of another kind may have no blank at all.
            if len(word) > _MAX_LINE:
                raise UserError(f"{path} is not a binary word2vec file.")
        raw = file.read(size)
        if len(raw) < size:
            raise UserError(
                f"{path} ends before the last of its {count:,} word vectors: fetch it again."
            )
        row = np.array(struct.unpack(f"<{width}f", raw))
        # Some programs end a vector with a line break, others do not.
        yield word.lstrip(b"\n").decode("utf-8", errors="replace"), row
