"""Captions to train on and captions held out.

They come from corpora of any form that `seesay.data.captions` reads.
"""

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
from seesay.data.picture_features import PictureFeatures
from seesay.digests import text_number
from seesay.errors import UserError
from seesay.files import atomic_write
from seesay.language.defaults import HELD_OUT
from seesay.language.training.caption_features import CaptionFeatures, find_rows
from seesay.language.words.vocabulary import joiner
from seesay.questions import BadRow

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CaptionSplit:
    """Captions to train on and captions held out, no picture on both sides.

    `repeated` captions of held-out pictures are on neither side: they are word for word among the
    training captions. `sources` says how much of each corpus was read, `bad_rows` has the first few
    rows of each that could not be used. `features` are those of the pictures, where they are given.
    """

    train: list[str]
    held_out: list[str]
    repeated: int = 0
    sources: list[CorpusSummary] = field(default_factory=list)
    bad_rows: list[tuple[str, BadRow]] = field(default_factory=list)
    features: CaptionFeatures | None = None

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
        """Write `train.txt` and `held-out.txt`, and return the number of captions in each."""
        counts = {}
        for name, texts in (("train.txt", self.train), ("held-out.txt", self.held_out)):
            path = folder / name
            with atomic_write(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
                file.writelines(f"{text}\n" for text in texts)
            counts[path] = len(texts)
        return counts


def read_captions(corpus: Corpus) -> Iterator[Caption]:
    """Read the captions of a corpus that a model can be trained on; one without any is refused."""
    for caption in corpus.read():
        # A caption of digits and dashes is a broken row, not a sentence.
        if any(char.isalpha() for char in caption.text):
            yield caption._replace(text=caption.text.strip())
        else:
            corpus.reject(caption.row, "without a single letter")
    if not corpus.captions:
        reason = ""
        if corpus.bad_rows:
            first = corpus.bad_rows[0]
            reason = f" ({corpus.unit} {first.row}: {first.reason})"
        raise UserError(
            f"{corpus.name} holds no caption or other text{reason}: give a text file with one per "
            "line."
        )


def read_texts(path: Path, name: str) -> CaptionSplit:
    """Read all texts of a corpus, to mix in under this name: none is held out."""
    with Corpus(path, longest=LONGEST_LINE) as corpus:
        texts = [caption.text for caption in read_captions(corpus)]
    return CaptionSplit(
        train=texts,
        held_out=[],
        sources=[replace(corpus.summary, source=name)],
        bad_rows=[(corpus.name, row) for row in corpus.bad_rows],
    )


def split(
    paths: Sequence[Path],
    *,
    held_out: float = HELD_OUT,
    seed: int = 0,
    features: PictureFeatures | None = None,
) -> CaptionSplit:
    """Read all captions of the corpora, with a share of the pictures held out.

    The pictures are drawn by the seed and the captions.

    Corpora overlap (Flickr8k's pictures are in Flickr30k too, under other names). So a picture is
    drawn by the smallest digest among its captions: with the same captions, it is on the same side
    in every corpus. A held-out caption that is still word for word among the training captions is
    left out.

    With the features of pictures, every caption gets those of its picture.
    """
    if not 0 <= held_out < 1:
        raise UserError(f"--held-out is {held_out}: give a share between 0 and 1, as in 0.1.")
    result = CaptionSplit([], [])
    texts: list[str] = []
    # Arrays, and numbers for pictures: Conceptual Captions has millions, each with an address.
    digests = array("Q")
    numbers = array("Q")
    pictures: dict[int, int] = {}
    names: list[str] = []
    for path in distinct_sources(paths):
        with Corpus(path, longest=LONGEST_LINE) as corpus:
            for caption in read_captions(corpus):
                texts.append(caption.text)
                digests.append(_digest(plain(caption.text), seed))
                numbers.append(pictures.setdefault(_digest(caption.picture), len(pictures)))
                if features is not None and len(names) < len(pictures):
                    names.append(caption.picture)
        result.sources.append(corpus.summary)
        result.bad_rows.extend((corpus.name, row) for row in corpus.bad_rows)
    digest = np.array(digests, np.uint64)
    picture = np.array(numbers, np.int64)
    smallest = np.full(len(pictures), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(smallest, picture, digest)
    bounds = _bound(held_out, np.bincount(picture, minlength=len(pictures)))
    is_held_out = (smallest < bounds)[picture]
    is_repeated = is_held_out & np.isin(digest, digest[~is_held_out])
    # Picture by picture, in the order of their first captions.
    order = np.argsort(picture, kind="stable")
    train = order[~is_held_out[order]]
    test = order[(is_held_out & ~is_repeated)[order]]
    result.train.extend(texts[i] for i in train)
    result.held_out.extend(texts[i] for i in test)
    caption_features = None
    if features is not None:
        rows = find_rows(features, names)
        caption_features = CaptionFeatures(
            features.vectors,
            rows[picture[train]],
            rows[picture[test]],
            features.encoder,
        )
    return replace(result, repeated=int(is_repeated.sum()), features=caption_features)


def join_phrases(texts: Iterable[str], phrases: Sequence[str]) -> Iterator[str]:
    """Join every phrase of the texts to one word (`on top of` → `on_top_of`), longest first."""
    return map(joiner(phrases), texts)


def plain(text: str) -> str:
    """Return a caption without case and punctuation, in which files of one corpus differ."""
    return " ".join(_WORD.findall(text.lower()))


def _bound(share: float, captions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the bound below which the smallest of this many random digests lies.

    It lies there with probability `share`.
    """
    # All of n digests lie above b with probability (1 − b)^n, which is to be 1 − share.
    above = (1 - share) ** (1 / np.maximum(captions, 1))
    bound: NDArray[np.float64] = (1 - above) * 2.0**64
    return bound


def _digest(text: str, seed: int | None = None) -> int:
    """Return a number for a text, random by the seed."""
    seeded = text if seed is None else f"{seed}:{text}"
    return text_number(seeded)
