"""Large JSON files entry by entry: annotation files of gigabytes are one array, or one object of
arrays.

ijson is not used: at the first NaN, byte that is not UTF-8 or integer beyond 64 bits it gives up
the rest of the file, deep nesting exhausts its memory, and its one-pass interface takes twice as
long.
"""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from seesay.data.lines import DAMAGED_GZIP, open_bytes

CHUNK = 1 << 16
MAX_ENTRY = 1 << 24
"""Limit of characters per entry, or line: a bracket that is never closed must not bring the whole
file into memory, and an entry of brackets takes twenty times its length."""
BROKEN = "the file is broken from here on"
_NEAR = 16
_SPACE = " \t\n\r"


class BrokenFileError(Exception):
    """The file ends early or is not JSON from here on; the entries before were yielded."""


class DuplicateKeys(dict[str, Any]):
    """An object in which a key is there twice; the first value is the one that counts."""


def parse_json(text: str | bytes) -> Any:
    """A JSON value of somebody else's. ValueError for what JSON should not hold: NaN, numbers that
    overflow, half a surrogate pair, and nesting without end. An object with a key twice comes back
    as `DuplicateKeys`."""
    if isinstance(text, bytes):  # strictly: json.loads would let halves of a surrogate pair pass
        text = text.decode(json.detect_encoding(text))
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_object_with_keys,
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("nested too deep") from None
    return value


def is_text(value: object) -> bool:
    """Whether a value is a text that can be written: JSON may hold half a surrogate pair."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number")


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def _object_with_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    return DuplicateKeys(value | dict(reversed(pairs)))


def entries(path: Path, duplicates: list[str] | None = None) -> Iterator[tuple[str, Any]]:
    """The entries of a file, gzipped or not: see `decode_entries`."""
    with open_bytes(path) as file:
        yield from decode_entries(file, duplicates)


def decode_entries(
    file: IO[bytes], duplicates: list[str] | None = None
) -> Iterator[tuple[str, Any]]:
    """The entries of a document that is an array (under the key ""), or of every array in an object
    (under its key).

    Values of the object that are not arrays are one entry each. Raises `BrokenFileError` where the
    JSON breaks. With `duplicates`, keys of the object that come a second time are added there, and
    what they hold is left out.
    """
    text = _Text(file, None if duplicates is None else _object_with_keys)
    opening = text.peek()
    if opening == "[":
        for value in _array(text):
            yield "", value
    elif opening == "{":
        yield from _object(text, duplicates)
    else:
        raise BrokenFileError("it holds neither a JSON array nor an object")
    if text.peek():
        raise BrokenFileError(
            f"there is more after the end of the JSON, from character {text.position}"
        )


def _object(text: _Text, duplicates: list[str] | None) -> Iterator[tuple[str, Any]]:
    seen = set[str]()
    text.take("{")
    if text.peek() == "}":
        text.take("}")
        return
    while True:
        key = text.value()
        if not isinstance(key, str):
            raise BrokenFileError(f"a key is not a text, at character {text.position}")
        text.take(":")
        repeated = key in seen
        if duplicates is not None:
            seen.add(key)
            duplicates += [key] * repeated
        for value in _array(text) if text.peek() == "[" else (text.value(),):
            if not repeated:
                yield key, value
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
    """A file of which only a piece is in memory: the next entry, as far as it was needed to decode
    it."""

    def __init__(
        self, file: IO[bytes], hook: Callable[[list[tuple[str, Any]]], dict[str, Any]] | None = None
    ) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._decode = json.JSONDecoder(object_pairs_hook=hook).raw_decode
        self._buffer = ""
        self._at = 0
        self._dropped = 0
        self._ended = False

    @property
    def position(self) -> int:
        """Characters read so far."""
        return self._dropped + self._at

    def peek(self) -> str:
        """The next character that is not a space; empty at the end."""
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
        """The next JSON value. A value that the buffer cuts off is decoded again from a buffer
        twice as long."""
        self.peek()
        while True:
            try:
                value, end = self._decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                cut_off = (
                    error.msg.startswith("Unterminated") or error.pos > len(self._buffer) - _NEAR
                )
                if not cut_off or not self._more(len(self._buffer) - self._at):
                    raise BrokenFileError(
                        f"{error.msg} at character {self._dropped + error.pos}"
                    ) from error
            except (RecursionError, ValueError) as error:
                raise BrokenFileError(
                    f"an entry that cannot be read at character {self.position} ({error})"
                ) from error
            else:
                # A number may continue in the next chunk ("1" of "1e+5"): the last three characters
                # are uncertain.
                if len(self._buffer) - end >= 3 or not self._more(CHUNK):
                    self._at = end
                    # it ends early
                    if isinstance(value, int | float) and self.peek() not in tuple(",]}:"):
                        raise BrokenFileError(f"expected , or ] at character {self.position}")
                    return value

    def _more(self, size: int) -> bool:
        """Read on; what was decoded is dropped."""
        if self._ended:
            return False
        if len(self._buffer) - self._at > MAX_ENTRY:
            raise BrokenFileError(
                f"an entry longer than {MAX_ENTRY} characters, or never closed, at {self.position}"
            )
        try:
            new = self._file.read(max(size, CHUNK))
        except DAMAGED_GZIP as error:
            raise BrokenFileError(f"the gzip file is damaged ({error})") from error
        self._ended = not new
        if new:
            self._dropped += self._at
            self._buffer = self._buffer[self._at :] + self._decoder.decode(new)
            self._at = 0
        return not self._ended
