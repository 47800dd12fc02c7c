"""The one reader of text lines: UTF-8, plain or gzipped, bounded, with one line in memory at a time.

A file is never trusted to be what its name says: a line that cannot be read is reported as a BadRow and costs only
itself; a damaged or missing file is one sentence for the user.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from seesay.errors import UserError
from seesay.questions import BadRow

LONGEST_LINE = 1 << 16
LONGEST_TEXT_LINE = 1 << 26
GZIP = b"\x1f\x8b\x08"
_REPORTED_ROWS = 10


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading bytes, decompressed if it is gzipped, whatever its name says."""
    with path.open("rb") as file:
        zipped = file.read(len(GZIP)) == GZIP
    return cast("IO[bytes]", gzip.open(path, "rb")) if zipped else path.open("rb")


def decode_lines(file: IO[bytes], name: Path | str, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str | BadRow]]:
    """The lines of an open file with their numbers (from 1), without line ends; an unreadable one as a BadRow."""
    number = 0
    try:
        while raw := file.readline(longest + 1):
            number += 1
            if len(raw) > longest:
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(longest)
                yield number, BadRow(number, f"longer than {longest:,} bytes")
                continue
            try:
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError:
                yield number, BadRow(number, "not UTF-8 text")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"{name} is damaged after line {number:,} ({error}): fetch it again.") from error


def read_lines(
    path: Path, *, longest: int = LONGEST_LINE, most: int | None = None
) -> Iterator[tuple[int, str | BadRow]]:
    """`decode_lines` of a file; one with more than `most` lines is refused."""
    try:
        with open_bytes(path) as file:
            for number, line in decode_lines(file, path, longest):
                if most is not None and number > most:
                    raise UserError(f"{path} has more than {most:,} lines: this is not a file that seesay knows.")
                yield number, line
    except FileNotFoundError:
        raise UserError(f"There is no file {path}.") from None
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error


class Texts:
    """One text per line, from a file or standard input ("-"); blank and unusable lines are counted.

    The first few unusable lines are kept with their reasons (`bad_rows`).
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.blank = self.bad = 0
        self.bad_rows: list[BadRow] = []
        self.size: int | None = None
        self._digest = hashlib.blake2b(digest_size=8)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self.name == "-":
            self._raw: IO[bytes] = sys.stdin.buffer
            self._file: IO[bytes] = self._raw
            return self
        path = Path(self.name).expanduser()
        if not path.is_file():
            raise UserError(f"There is no file '{self.name}'.")
        raw = self._stack.enter_context(path.open("rb"))
        self.size = path.stat().st_size
        zipped = raw.peek(len(GZIP)).startswith(GZIP)
        self._raw = raw
        self._file = cast("IO[bytes]", self._stack.enter_context(gzip.GzipFile(fileobj=raw))) if zipped else raw
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def position(self) -> int:
        """How many bytes of the file have been read."""
        return self._raw.tell()

    @property
    def digest(self) -> str:
        """A digest of the texts returned so far, blank and unusable lines left out."""
        return self._digest.hexdigest()

    def lines(self, limit: int | None = None) -> Iterator[tuple[int, str]]:
        """The texts with the numbers of their lines (from 1), `limit` of them at most."""
        count = 0
        for number, line in decode_lines(self._file, f"'{self.name}'", LONGEST_TEXT_LINE):
            if isinstance(line, BadRow):
                self.leave_out(number, line.reason)
            elif "\0" in line:
                self.leave_out(number, "holds NUL characters, which no text does")
            elif not line.strip():
                self.blank += 1
            else:
                count += 1
                self._digest.update(line.encode() + b"\n")
                yield number, line
                if count == limit:
                    return

    def leave_out(self, number: int, reason: str) -> None:
        """Count a line that cannot be used; the first few are kept with their reasons."""
        self.bad += 1
        if len(self.bad_rows) < _REPORTED_ROWS:
            self.bad_rows.append(BadRow(number, reason))
