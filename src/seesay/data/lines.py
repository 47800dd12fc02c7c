"""Texts, one a line, from a file of any length (plain or gzipped) or standard input; one line in memory at a time."""

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

LONGEST_LINE = 1 << 26
NAMED = 10
GZIP = b"\x1f\x8b"


def opened(path: Path) -> IO[bytes]:
    """A file's bytes, unzipped if it is gzipped whatever its name says."""
    with path.open("rb") as file:
        zipped = file.read(2) == GZIP
    return cast("IO[bytes]", gzip.open(path, "rb")) if zipped else path.open("rb")


class Texts:
    """The file's lines that are texts; what the others were is counted, and the first few are named (`bad_rows`)."""

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
        zipped = raw.peek(2)[:2] == GZIP
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
        """Of the texts given so far, blank and unusable lines left out."""
        return self._digest.hexdigest()

    def lines(self, limit: int | None = None) -> Iterator[tuple[int, str]]:
        """The texts with the numbers of their lines (from 1), `limit` of them at most."""
        number = given = 0
        try:
            while (limit is None or given < limit) and (raw := self._file.readline(LONGEST_LINE + 1)):
                number += 1
                text = self._text(raw, number)
                if text is not None:
                    given += 1
                    self._digest.update(text.encode() + b"\n")
                    yield number, text
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UserError(f"'{self.name}' is damaged after line {number:,} ({error}): fetch it again.") from error

    def leave_out(self, number: int, reason: str) -> None:
        """Count a line that cannot be used, and name it if it is among the first."""
        self.bad += 1
        if len(self.bad_rows) < NAMED:
            self.bad_rows.append(BadRow(number, reason))

    def _text(self, raw: bytes, number: int) -> str | None:
        """The line as a text; one that is none is counted."""
        reason = None
        text = ""
        if len(raw) > LONGEST_LINE:
            while raw and not raw.endswith(b"\n"):
                raw = self._file.readline(LONGEST_LINE)
            reason = f"longer than {LONGEST_LINE >> 20} MiB"
        else:
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                reason = "holds NUL characters, which no text does" if "\0" in text else None
            except UnicodeDecodeError:
                reason = "not UTF-8 text"
        if reason is not None:
            self.leave_out(number, reason)
        elif not text.strip():
            self.blank += 1
        else:
            return text
        return None
