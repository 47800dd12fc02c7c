"""The one reader of text lines: UTF-8, plain or gzipped, bounded, with one line in memory at a
time.

A file is never trusted to be what its name says: a line that cannot be read is reported as a BadRow
and costs only itself; a damaged or missing file is one sentence for the user.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from seesay.errors import UserError
from seesay.questions import BadRow

Line = tuple[int, str | BadRow]
"""A line with its number from 1, without its end; or why it cannot be read."""

NOT_UTF8 = "not UTF-8 text"
LONGEST_LINE = 1 << 16
LONGEST_TEXT_LINE = 1 << 24
MOST_LISTED = 1_000_000
GZIP = b"\x1f\x8b\x08"
# What Python raises for a gzip file that ends early, holds wrong bytes, or has a wrong checksum.
DAMAGED_GZIP = (EOFError, zlib.error, gzip.BadGzipFile)
MOST_UNZIPPED = 1 << 24
MOST_GROWTH = 12
"""A gzip file may hold this many bytes, or so many times its own length if that is more: captions
shrink to a quarter, tables to a tenth at best, and a bomb to a thousandth."""
MOST_UNZIPPED_LINES = 1 << 20
LEAST_ZIPPED_LINE = 4
"""It may have this many lines, or one for every so many bytes if these are more: a caption takes
thirty of them, a line without text a thousandth, and reading it as long as any other."""


_WAY_OUT = ", which is no text; if it is, unpack it first"


class BoundedGzipFile(gzip.GzipFile):
    """A gzip file that is damaged, for its readers, where it holds more than any text would."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        super().__init__(fileobj=file)
        self.compressed = file
        self._most = max(MOST_UNZIPPED, MOST_GROWTH * size)
        self._most_lines = max(MOST_UNZIPPED_LINES, size // LEAST_ZIPPED_LINE)
        self._lines = 0

    def read(self, size: int | None = -1) -> bytes:
        """Read bytes as any file does, up to the bound."""
        # Reading everything stops one byte after the bound, where a bomb shows itself.
        if size is None or size < 0:
            size = self._most + 1
        return self._refuse_excess(super().read(size))

    def read1(self, size: int = -1) -> bytes:
        """Read what is at hand as any file does, up to the bound."""
        return self._refuse_excess(super().read1(size))

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line as any file does, up to the bound."""
        if size is None:
            size = -1
        self._lines += 1
        if self._lines > self._most_lines:
            raise gzip.BadGzipFile(f"it has more than {self._most_lines:,} lines{_WAY_OUT}")
        return self._refuse_excess(super().readline(size))

    def close(self) -> None:
        """Close the gzip file and the file on disk, which gzip leaves open."""
        super().close()
        self.compressed.close()

    def _refuse_excess(self, content: bytes) -> bytes:
        """Return what was read, unless the file has given more than any text would."""
        if self.tell() > self._most:
            raise gzip.BadGzipFile(f"it holds more than {self._most:,} bytes{_WAY_OUT}")
        return content


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading bytes, decompressed if it is gzipped, whatever its name says."""
    file = path.open("rb")
    head = file.peek(len(GZIP))
    if head.startswith(GZIP):
        return cast("IO[bytes]", BoundedGzipFile(file, path.stat().st_size))
    return file


def read_head(path: Path, size: int) -> bytes:
    """Read the first bytes of a file, decompressed.

    A damaged file gives fewer; that it is damaged is said when it is read as a whole.
    """
    head = b""
    with read_errors(path), open_bytes(path) as file, suppress(*DAMAGED_GZIP):
        # In small pieces: what was unpacked before the damage would be lost with a large one.
        while len(head) < size and (more := file.read(min(4096, size - len(head)))):
            head += more
    return head


def decode_lines(
    file: IO[bytes],
    name: Path | str,
    longest: int = LONGEST_LINE,
) -> Iterator[Line]:
    """Yield the lines of an open file with their numbers (from 1), without line ends.

    An unreadable line comes as a BadRow.
    """
    number = 0
    try:
        while raw := file.readline(longest + 1):
            number += 1
            if len(raw) > longest:
                # The rest of an endless line is skipped in pieces, never held in memory at once.
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(longest)
                yield number, BadRow(number, f"longer than {longest:,} bytes")
                continue
            # Only a file's first line may begin with a byte order mark.
            encoding = "utf-8-sig" if number == 1 else "utf-8"
            try:
                yield number, raw.decode(encoding).rstrip("\r\n")
            except UnicodeDecodeError:
                yield number, BadRow(number, NOT_UTF8)
    except DAMAGED_GZIP as error:
        raise UserError(
            f"{name} is damaged after line {number:,} ({error}): fetch it again."
        ) from error


def read_lines(
    path: Path,
    *,
    longest: int = LONGEST_LINE,
    most: int | None = None,
) -> Iterator[Line]:
    """Yield the lines of a file with their numbers (from 1), an unreadable one as a BadRow.

    A file with more than `most` lines is refused.
    """
    with read_errors(path), open_bytes(path) as file:
        for number, line in decode_lines(file, path, longest):
            if most is not None and number > most:
                raise UserError(
                    f"{path} has more than {most:,} lines: this is not a file that seesay knows."
                )
            yield number, line


def whole_lines(path: Path) -> list[str]:
    """Read the lines of a list that is useful only as a whole, without blank ones.

    A line that cannot be read is an error.
    """
    lines = []
    for number, line in read_lines(path, most=MOST_LISTED):
        if isinstance(line, BadRow):
            raise UserError(f"{path}, line {number}: {line.reason}.")
        if line.strip():
            lines.append(line)
    return lines


@contextmanager
def read_errors(path: Path) -> Iterator[None]:
    """Turn whatever keeps a file from being read into one sentence for the user."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"There is no file {path}.") from None
    except DAMAGED_GZIP as error:
        raise UserError(f"{path} is damaged ({error}): fetch it again.") from error
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error
