"""Caption files: plain text (one caption per line) or Flickr's tokens (`name#number`, tab, caption), also gzipped.

Which picture a caption describes matters when some are held out: five captions of one picture say the same thing five
times. Flickr names the picture; files whose names differ only in a number (`train.1.en`, `train.2.en`, as in Multi30k)
are parallel, so there the line is the picture.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from seesay.data.lines import read_lines
from seesay.errors import UserError
from seesay.files import atomic_write
from seesay.models.words.vocabulary import joiner
from seesay.questions import BadRow

_WORD = re.compile(r"\w+")
_FLICKR = re.compile(r"(\S+)#\d+[\t ]+(.*)")


class Caption(NamedTuple):
    """A caption, and a name for the picture that it describes."""

    text: str
    picture: str


@dataclass(frozen=True, slots=True)
class CaptionSplit:
    """Captions to train on and captions held out, no picture on both sides; and the lines that could not be used.

    `repeated` captions of held-out pictures are on neither side: they are word for word among the training captions.
    """

    train: list[str]
    held_out: list[str]
    bad_rows: list[tuple[Path, BadRow]]
    repeated: int = 0

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


def read(path: Path) -> Iterator[Caption | BadRow]:
    """The captions of a file, blank lines left out; an unusable line as a BadRow."""
    parallel = re.sub(r"\d+", "#", path.name.removesuffix(".gz"))
    for number, line in read_lines(path):
        if isinstance(line, BadRow):
            yield line
            continue
        flickr = _FLICKR.fullmatch(line.strip())
        text, picture = (flickr[2].strip(), flickr[1]) if flickr else (line.strip(), f"{parallel}:{number}")
        if text and not any(char.isalpha() for char in text):
            yield BadRow(number, "without a single letter")
        elif text:
            yield Caption(text, picture)


def read_captions(path: Path) -> tuple[list[Caption], list[tuple[Path, BadRow]]]:
    """The captions of a file and its unusable lines; a file without a caption is refused."""
    rows = list(read(path))
    captions = [row for row in rows if isinstance(row, Caption)]
    if not captions:
        raise UserError(f"{path} holds no caption or other text: give a text file with one per line.")
    return captions, [(path, row) for row in rows if isinstance(row, BadRow)]


def split(paths: Sequence[Path], *, held_out: float = 0.1, seed: int = 0) -> CaptionSplit:
    """All captions of the files, with a share of the pictures held out, drawn by the seed and the captions.

    Corpora overlap (Flickr8k's pictures are in Flickr30k too, under other names). So a picture is drawn by the smallest
    digest among its captions: with the same captions, it is on the same side in every corpus. A held-out caption that
    is still word for word among the training captions is left out.
    """
    if not 0 <= held_out < 1:
        raise UserError(f"--held-out is {held_out}: give a share between 0 and 1, as in 0.1.")
    pictures: dict[str, list[tuple[int, str]]] = {}
    bad_rows: list[tuple[Path, BadRow]] = []
    for path in paths:
        rows, unusable = read_captions(path)
        bad_rows += unusable
        for row in rows:
            pictures.setdefault(row.picture, []).append((_digest(row.text, seed), row.text))
    train: list[tuple[int, str]] = []
    drawn: list[tuple[int, str]] = []
    for captions in pictures.values():
        (drawn if min(captions)[0] < _bound(held_out, len(captions)) else train).extend(captions)
    training = {digest for digest, _ in train}
    new = [text for digest, text in drawn if digest not in training]
    return CaptionSplit([text for _, text in train], new, bad_rows, len(drawn) - len(new))


def join_phrases(texts: Iterable[str], phrases: Sequence[str]) -> Iterator[str]:
    """The texts with every phrase joined to one word (`on top of` → `on_top_of`), longest first."""
    return map(joiner(phrases), texts)


def plain(text: str) -> str:
    """A caption without case and punctuation, in which files differ for the same caption."""
    return " ".join(_WORD.findall(text.lower()))


def _bound(share: float, captions: int) -> float:
    """The bound below which the smallest of this many random digests lies with probability `share`."""
    bound: float = (1 - (1 - share) ** (1 / captions)) * 2.0**64
    return bound


def _digest(text: str, seed: int) -> int:
    """A random number for a caption that ignores case and punctuation."""
    return int.from_bytes(hashlib.blake2b(f"{seed}:{plain(text)}".encode(), digest_size=8).digest(), "big")
