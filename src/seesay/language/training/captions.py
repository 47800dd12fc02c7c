"""Captions to train on and captions held out, from corpora of any form that `seesay.data.captions`
reads."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.data.captions import Caption, Corpus, CorpusSummary, distinct_sources
from seesay.data.lines import LONGEST_LINE
from seesay.digests import text_number
from seesay.errors import UserError
from seesay.files import atomic_write
from seesay.language.defaults import HELD_OUT
from seesay.language.words.vocabulary import joiner
from seesay.questions import BadRow

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CaptionSplit:
    """Captions to train on and captions held out, no picture on both sides.

    `repeated` captions of held-out pictures are on neither side: they are word for word among the
    training captions. `sources` says how much of each corpus was read, `bad_rows` has the first few
    rows of each that could not be used.
    """

    train: list[str]
    held_out: list[str]
    repeated: int = 0
    sources: list[CorpusSummary] = field(default_factory=list)
    bad_rows: list[tuple[str, BadRow]] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        """A digest of the captions: other captions are another training."""
        digest = hashlib.blake2b(digest_size=8)
        for part in (self.train, self.held_out):
            for text in part:
                digest.update(text.encode() + b"\n")
            digest.update(b"\0")
        return digest.hexdigest()

    def write(self, folder: Path) -> dict[Path, int]:
        """Write `train.txt` and `held-out.txt`; the number of captions in each."""
        parts = {folder / "train.txt": self.train, folder / "held-out.txt": self.held_out}
        for path, texts in parts.items():
            with atomic_write(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
                file.writelines(f"{text}\n" for text in texts)
        return {path: len(texts) for path, texts in parts.items()}


def read_captions(corpus: Corpus) -> Iterator[Caption]:
    """The captions of a corpus that a model can be trained on; a corpus without one is refused."""
    for caption in corpus.read():
        if any(char.isalpha() for char in caption.text):
            yield caption._replace(text=caption.text.strip())
        else:
            corpus.reject(caption.row, "without a single letter")
    if not corpus.captions:
        if corpus.bad_rows:
            first = f" ({corpus.unit} {corpus.bad_rows[0].row}: {corpus.bad_rows[0].reason})"
        else:
            first = ""
        raise UserError(
            f"{corpus.name} holds no caption or other text{first}: give a text file with one per "
            "line."
        )


def read_texts(path: Path, name: str) -> CaptionSplit:
    """All texts of a corpus, to mix in under this name: none is held out."""
    with Corpus(path, longest=LONGEST_LINE) as corpus:
        texts = [caption.text for caption in read_captions(corpus)]
    sources = [replace(corpus.summary, source=name)]
    return CaptionSplit(texts, [], 0, sources, [(corpus.name, row) for row in corpus.bad_rows])


def split(paths: Sequence[Path], *, held_out: float = HELD_OUT, seed: int = 0) -> CaptionSplit:
    """All captions of the corpora, with a share of the pictures held out, drawn by the seed and the
    captions.

    Corpora overlap (Flickr8k's pictures are in Flickr30k too, under other names). So a picture is
    drawn by the smallest digest among its captions: with the same captions, it is on the same side
    in every corpus. A held-out caption that is still word for word among the training captions is
    left out.
    """
    if not 0 <= held_out < 1:
        raise UserError(f"--held-out is {held_out}: give a share between 0 and 1, as in 0.1.")
    result = CaptionSplit([], [])
    texts: list[str] = []
    digests = array("Q")
    numbers = array("Q")
    # by a digest of the name: Conceptual Captions has millions of addresses
    pictures: dict[int, int] = {}
    for path in distinct_sources(paths):
        with Corpus(path, longest=LONGEST_LINE) as corpus:
            for caption in read_captions(corpus):
                texts.append(caption.text)
                digests.append(_digest(plain(caption.text), seed))
                numbers.append(pictures.setdefault(_digest(caption.picture), len(pictures)))
        result.sources.append(corpus.summary)
        result.bad_rows.extend((corpus.name, row) for row in corpus.bad_rows)
    digest = np.array(digests, np.uint64)
    picture = np.array(numbers, np.int64)
    smallest = np.full(len(pictures), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(smallest, picture, digest)
    drawn = (smallest < _bound(held_out, np.bincount(picture, minlength=len(pictures))))[picture]
    repeated = drawn & np.isin(digest, digest[~drawn])
    # picture by picture, in the order of their first captions
    order = np.argsort(picture, kind="stable")
    result.train.extend(texts[i] for i in order[~drawn[order]])
    result.held_out.extend(texts[i] for i in order[(drawn & ~repeated)[order]])
    return replace(result, repeated=int(repeated.sum()))


def join_phrases(texts: Iterable[str], phrases: Sequence[str]) -> Iterator[str]:
    """The texts with every phrase joined to one word (`on top of` → `on_top_of`), longest first."""
    return map(joiner(phrases), texts)


def plain(text: str) -> str:
    """A caption without case and punctuation, in which files differ for the same caption."""
    return " ".join(_WORD.findall(text.lower()))


def _bound(share: float, captions: NDArray[np.int64]) -> NDArray[np.float64]:
    """The bound below which the smallest of this many random digests lies with probability
    `share`."""
    bound: NDArray[np.float64] = (1 - (1 - share) ** (1 / np.maximum(captions, 1))) * 2.0**64
    return bound


def _digest(text: str, seed: int | None = None) -> int:
    """A number for a text, random by the seed."""
    seeded = text if seed is None else f"{seed}:{text}"
    return text_number(seeded)
