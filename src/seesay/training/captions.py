"""Captions from files: plain text (one a line) or Flickr's tokens (`name#number`, tab, caption), either also gzipped.

Which picture a caption describes matters when some are held out: five captions of one picture say the same thing five
times. Flickr names the picture; files that differ only in a number (`train.1.en`, `train.2.en`, as in Multi30k) go line
by line, so there the line is the picture.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from seesay.data.lines import open_bytes
from seesay.errors import UserError
from seesay.models.words.vocabulary import joiner
from seesay.questions import BadRow

LONGEST_LINE = 65_536
_WORD = re.compile(r"\w+")
_FLICKR = re.compile(r"(\S+)#\d+[\t ]+(.*)")


class Caption(NamedTuple):
    """A caption, and a name for the picture that it describes."""

    text: str
    picture: str


@dataclass(frozen=True, slots=True)
class CaptionSplit:
    """Captions to learn from and captions held out, no picture on both sides; and the lines that could not be used.

    `repeated` captions of held-out pictures are on neither side: they stand word for word among those to learn from.
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


def read(path: Path) -> Iterator[Caption | BadRow]:
    """The captions of a file, one after another, blank lines left out; a line that cannot be used as a BadRow."""
    shape = re.sub(r"\d+", "#", path.name.removesuffix(".gz"))
    try:
        with open_bytes(path) as file:
            number = 0
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(LONGEST_LINE)
                    yield BadRow(number, f"longer than {LONGEST_LINE:,} bytes")
                    continue
                try:
                    line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                except UnicodeDecodeError:
                    yield BadRow(number, "not UTF-8 text")
                    continue
                found = _FLICKR.fullmatch(line)
                text, picture = (found[2].strip(), found[1]) if found else (line, f"{shape}:{number}")
                if text and not any(char.isalpha() for char in text):
                    yield BadRow(number, "without a single letter")
                elif text:
                    yield Caption(text, picture)
    except (FileNotFoundError, IsADirectoryError):
        raise UserError(f"There is no caption file {path}.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"{path} is damaged or not gzipped ({error}): fetch it again.") from error


def split(paths: Sequence[Path], *, held_out: float = 0.1, seed: int = 0) -> CaptionSplit:
    """All captions of the files, a share of the pictures held out: which ones depends on the seed and the captions.

    Corpora overlap (Flickr8k's pictures are in Flickr30k too), under other names. So a picture is drawn by the smallest
    digest among its captions: the same picture, with the same captions, falls on the same side wherever it stands. A
    caption that all the same was learnt from word for word is not held out.
    """
    pictures: dict[str, list[tuple[int, str]]] = {}
    bad_rows: list[tuple[Path, BadRow]] = []
    for path in paths:
        usable = False
        for row in read(path):
            if isinstance(row, BadRow):
                bad_rows.append((path, row))
            else:
                usable = True
                pictures.setdefault(row.picture, []).append((_digest(row.text, seed), row.text))
        if not usable:
            raise UserError(f"{path} holds no caption: give a text file with one caption a line.")
    train: list[tuple[int, str]] = []
    drawn: list[tuple[int, str]] = []
    for captions in pictures.values():
        (drawn if min(captions)[0] < _bound(held_out, len(captions)) else train).extend(captions)
    learnt = {digest for digest, _ in train}
    kept = [text for digest, text in drawn if digest not in learnt]
    return CaptionSplit([text for _, text in train], kept, bad_rows, len(drawn) - len(kept))


def join_phrases(texts: Iterable[str], phrases: Sequence[str]) -> Iterator[str]:
    """The texts with every phrase made one word (`on top of` → `on_top_of`), longest first."""
    return map(joiner(phrases), texts)


def plain(text: str) -> str:
    """A caption without its case and punctuation: what two files write of the same caption is the same."""
    return " ".join(_WORD.findall(text.lower()))


def _bound(share: float, captions: int) -> float:
    """The bound under which the smallest of so many random digests lies with the probability `share`."""
    bound: float = (1 - (1 - share) ** (1 / captions)) * 2.0**64
    return bound


def _digest(text: str, seed: int) -> int:
    """A random number for a caption, whatever its case and punctuation."""
    return int.from_bytes(hashlib.blake2b(f"{seed}:{plain(text)}".encode(), digest_size=8).digest(), "big")
