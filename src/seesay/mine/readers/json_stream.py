"""Large JSON files entry by entry: annotation files of gigabytes are one array, or one object of arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

CHUNK = 1 << 16
LARGEST = 1 << 26
"""Characters an entry may have: a bracket that is never closed must not bring the whole file into memory."""
_NEAR = 16
_SPACE = " \t\n\r"


class BrokenFileError(Exception):
    """The file breaks off or is not JSON from here on; entries before it were given."""


def entries(path: Path) -> Iterator[tuple[str, Any]]:
    """The entries of a file that is an array (under the key ""), or of every array in an object (under its key).

    Values of the object that are no arrays come as one entry. Raises `BrokenFileError` where the JSON breaks.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        text = _Text(file)
        opening = text.peek()
        if opening == "[":
            for value in _array(text):
                yield "", value
        elif opening == "{":
            yield from _object(text)
        else:
            raise BrokenFileError("the file holds neither a JSON array nor an object")
        if text.peek():
            raise BrokenFileError(f"there is more after the end of the JSON, from character {text.position}")


def _object(text: _Text) -> Iterator[tuple[str, Any]]:
    text.take("{")
    if text.peek() == "}":
        text.take("}")
        return
    while True:
        key = text.value()
        if not isinstance(key, str):
            raise BrokenFileError(f"a key is not a text, at character {text.position}")
        text.take(":")
        if text.peek() == "[":
            for value in _array(text):
                yield key, value
        else:
            yield key, text.value()
        if text.take(",}") == "}":
            return


def _array(text: _Text) -> Iterator[Any]:
    text.take("[")
    if text.peek() == "]":
        text.take("]")
        return
    while True:
        yield text.value()
        if text.take(",]") == "]":
            return


class _Text:
    """A file of which only a piece is in memory: from the next entry to as far as was needed to decode it."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._decode = json.JSONDecoder().raw_decode
        self._buffer, self._at, self._gone, self._ended = "", 0, 0, False

    @property
    def position(self) -> int:
        """Characters read so far."""
        return self._gone + self._at

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            while self._at < len(self._buffer):
                if (character := self._buffer[self._at]) not in _SPACE:
                    return character
                self._at += 1
            if not self._more(CHUNK):
                return ""

    def take(self, expected: str) -> str:
        """The next character, which must be one of these."""
        character = self.peek()
        if not character or character not in expected:
            raise BrokenFileError(f"expected {' or '.join(expected)} at character {self.position}")
        self._at += 1
        return character

    def value(self) -> Any:
        """The next JSON value. What is cut off by the end of the buffer is decoded again with twice as much."""
        self.peek()
        while True:
            try:
                value, end = self._decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                cut_off = error.msg.startswith("Unterminated") or error.pos > len(self._buffer) - _NEAR
                if not cut_off or not self._more(len(self._buffer) - self._at):
                    raise BrokenFileError(f"{error.msg} at character {self._gone + error.pos}") from error
            except (RecursionError, ValueError) as error:
                raise BrokenFileError(f"an entry that cannot be read at character {self.position} ({error})") from error
            else:
                # A number may go on in the next chunk ("1" of "1e+5"): the last three characters are not sure.
                if len(self._buffer) - end >= 3 or not self._more(CHUNK):
                    self._at = end
                    if isinstance(value, int | float) and self.peek() not in tuple(",]}:"):  # it breaks off
                        raise BrokenFileError(f"expected , or ] at character {self.position}")
                    return value

    def _more(self, wanted: int) -> bool:
        """Read on; what was used is dropped."""
        if self._ended:
            return False
        if len(self._buffer) - self._at > LARGEST:
            raise BrokenFileError(f"an entry longer than {LARGEST} characters, or never closed, at {self.position}")
        new = self._file.read(max(wanted, CHUNK))
        self._ended = not new
        if new:
            self._gone += self._at
            self._buffer, self._at = self._buffer[self._at :] + new, 0
        return not self._ended
