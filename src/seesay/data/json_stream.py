"""Large JSON files, entry by entry.

Annotation files of gigabytes are one array, or one object of arrays.
ijson is not used: at the first NaN, byte that is not UTF-8 or integer beyond 64 bits it gives up
the rest of the file, deep nesting exhausts its memory, and its one-pass interface takes twice as
long.
"""

from __future__ import annotations

import codecs
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from seesay.data.lines import DAMAGED_GZIP, open_bytes

Member = tuple[str, Any]
"""A value with its key."""

Prepared = TypeVar("Prepared")

CHUNK = 1 << 16
PIECE = 1 << 19
"""Bytes of a piece that is read apart from the others."""
LONGEST_KEY = 1 << 10
"""Bytes of a key after which a file is cut."""
MAX_ENTRY = 1 << 24
"""Limit of characters per entry, or line: a bracket that is never closed must not bring the whole
file into memory, and an entry of brackets takes twenty times its length."""
MOST_NESTED = 100
BROKEN = "the file is broken from here on"
_NEAR = 16
_SPACE = " \t\n\r"
_OPEN, _CLOSE, _COMMA, _QUOTE = 1, -1, 2, 3
_MARKS = np.zeros(256, dtype=np.int8)
"""What a byte is in the structure of JSON; 0 for most."""
for _characters, _mark in ((b"[{", _OPEN), (b"]}", _CLOSE), (b",", _COMMA), (b'"', _QUOTE)):
    _MARKS[list(_characters)] = _mark


class BrokenFileError(Exception):
    """The file ends early or is not JSON from here on; the entries before were yielded."""


class DuplicateKeys(dict[str, Any]):
    """An object in which a key is there twice; the first value is the one that counts."""


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON value of somebody else's.

    What JSON should not hold is a ValueError: NaN, numbers that overflow, half a surrogate pair,
    and nesting without end. An object with a key twice comes back as `DuplicateKeys`.
    """
    if isinstance(text, bytes):
        # Strictly: `json.loads` of bytes would let halves of a surrogate pair pass.
        text = text.decode(json.detect_encoding(text))
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_parse_float,
            object_pairs_hook=_build_object,
        )
        _refuse_deep(value, text)
        # Only an escape can smuggle half a pair in; encoding is what would fail later.
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("nested too deep") from None
    return value


def _refuse_deep(value: Any, text: str, start: int = 0, end: int | None = None) -> None:
    """Refuse what is nested deeper than any table or annotation: who reads it may recurse.

    `text`: where the value stands, from `start` to `end`.
    """
    # Every level has a bracket: where there are few, nothing has to be walked.
    if text.count("[", start, end) + text.count("{", start, end) < MOST_NESTED:
        return
    level = [value]
    for _ in range(MOST_NESTED):
        level = [child for item in level for child in _children(item)]
        if not level:
            return
    raise ValueError(f"nested more than {MOST_NESTED} deep")


def _children(value: Any) -> Iterable[Any]:
    """Return what an object or a list holds."""
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list):
        return value
    return ()


def is_text(value: object) -> bool:
    """Return whether a value is a text that can be written: JSON may hold half a surrogate pair."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_constant(constant: str) -> Any:
    """Refuse NaN and the infinities, which Python's parser would take."""
    raise ValueError(f"{constant} is not a number")


def _parse_float(digits: str) -> float:
    """Return a number that has a finite value: 1e999 would silently be infinite."""
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def _build_object(pairs: list[Member]) -> dict[str, Any]:
    """Return an object of these members, marked if a key is there twice."""
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    # Reversed, so that of equal keys the first one wins; their order stays that of the file.
    return DuplicateKeys(value | dict(reversed(pairs)))


def entries(path: Path, duplicates: list[str] | None = None) -> Iterator[Member]:
    """Yield the entries of a file, gzipped or not, as `decode_entries` does of an open one."""
    with open_bytes(path) as file:
        yield from decode_entries(file, duplicates)


def decode_entries(
    file: IO[bytes],
    duplicates: list[str] | None = None,
) -> Iterator[Member]:
    """Yield the entries of an array (under the key ""), or of every array in an object.

    Entries of an array in an object come under its key; values of the object that are not arrays
    are one entry each. Raises `BrokenFileError` where the JSON breaks. With `duplicates`, keys of
    the object that come a second time are added there, and what they hold is left out.
    """
    text = _Text(file, None if duplicates is None else _build_object)
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


def pieces(path: Path) -> Iterator[bytes]:
    """Yield a file in pieces that `decode_piece` reads, cut at commas between entries.

    One that it cannot read ends a file that is not JSON from there on, or whose entries are too
    large for a cut.
    """
    opening = b""
    with open_bytes(path) as file:
        text = b""
        try:
            while True:
                content = file.read(PIECE)
                text += content
                comma, next_opening = _last_comma(text)
                # A comma neither begins nor ends an array, nor follows another one.
                if opening and re.match(rb"\s*\]", text[len(opening) :]):
                    break
                if text[:comma].rstrip()[-1:] in (b"[", b","):
                    break
                if not content:
                    yield text
                    return
                if comma:
                    yield text[:comma] + (b"]" if next_opening == b"[" else b"]}")
                    opening = next_opening
                    text = opening + text[comma + 1 :]
                elif len(text) > MAX_ENTRY:
                    break
        except DAMAGED_GZIP:
            pass
    yield b""


def _last_comma(text: bytes) -> tuple[int, bytes]:
    """Return where the last comma between entries of arrays is, 0 if there is none, and what has
    to precede the text after it, so that this is JSON too."""
    # A quote after a backslash, or a backslash after another one, is a character like others.
    plain = text
    if b"\\" in text:
        plain = text.replace(b"\\\\", b"..").replace(b'\\"', b"..")
    marks = _MARKS[np.frombuffer(plain, dtype=np.uint8)]
    places = np.flatnonzero(marks != 0)
    marks = marks[places]
    outside = np.cumsum(marks == _QUOTE, dtype=np.uint8) & 1 == 0
    depth = np.cumsum(np.where(outside & (np.abs(marks) == _OPEN), marks, 0), dtype=np.int32)
    is_array = text.lstrip(codecs.BOM_UTF8 + _SPACE.encode())[:1] == b"["
    at_level = outside & (depth == (1 if is_array else 2))
    commas = np.flatnonzero(at_level & (marks == _COMMA))
    if not len(commas):
        return 0, b""
    last = commas[-1]
    if is_array:
        return int(places[last]), b"["
    opens = np.flatnonzero(at_level[:last] & (marks[:last] == _OPEN))
    start = int(places[opens[-1]])
    key = re.compile(rb'"[^"]*"\s*:\s*\Z').search(plain, max(start - LONGEST_KEY, 0), start)
    if text[start : start + 1] != b"[" or key is None:
        return 0, b""
    return int(places[last]), b"{" + text[key.start() : start] + b"["


def decode_piece(text: bytes, prepare: Callable[[str, Any], Prepared]) -> list[Prepared] | None:
    """Return what is prepared of each entry of a piece; None if it is not JSON."""
    try:
        return [prepare(key, entry) for key, entry in decode_entries(io.BytesIO(text))]
    except BrokenFileError:
        return None


def _object(text: _Text, duplicates: list[str] | None) -> Iterator[Member]:
    """Yield the members of an object, an array member entry by entry."""
    keys = set[str]()
    text.take("{")
    if text.peek() == "}":
        text.take("}")
        return
    while True:
        key = text.value()
        if not isinstance(key, str):
            raise BrokenFileError(f"a key is not a text, at character {text.position}")
        text.take(":")
        repeated = key in keys
        if duplicates is not None:
            keys.add(key)
            duplicates += [key] * repeated
        values: Iterable[Any]
        if text.peek() == "[":
            values = _array(text)
        else:
            values = (text.value(),)
        # A repeated key's values are read all the same: the text moves on only by decoding them.
        for value in values:
            if not repeated:
                yield key, value
        if text.take(",}") == "}":
            return


def _array(text: _Text) -> Iterator[Any]:
    """Yield the entries of an array, one in memory at a time."""
    text.take("[")
    if text.peek() == "]":
        text.take("]")
        return
    while True:
        yield text.value()
        if text.take(",]") == "]":
            return


class _Text:
    """A file of which only a piece is in memory: as much of the next entry as it takes to decode
    it."""

    def __init__(
        self,
        file: IO[bytes],
        hook: Callable[[list[Member]], dict[str, Any]] | None = None,
    ) -> None:
        self._file = file
        # A damaged byte costs a character, not the file: "replace" goes on after it.
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
        """Return the next character that is not a space; empty at the end."""
        while True:
            while self._at < len(self._buffer):
                character = self._buffer[self._at]
                if character not in _SPACE:
                    return character
                self._at += 1
            if not self._read_more(CHUNK):
                return ""

    def take(self, expected: str) -> str:
        """Take the next character, which must be one of these."""
        character = self.peek()
        if not character or character not in expected:
            raise BrokenFileError(f"expected {' or '.join(expected)} at character {self.position}")
        self._at += 1
        return character

    def value(self) -> Any:
        """Take the next JSON value.

        A value that the buffer cuts off is decoded again from a buffer twice as long, so that an
        entry costs time in proportion to its length.
        """
        self.peek()
        while True:
            try:
                value, end = self._decode(self._buffer, self._at)
                _refuse_deep(value, self._buffer, self._at, end)
            except json.JSONDecodeError as error:
                # An error near the buffer's end may only mean that the value goes on in the file.
                near_end = error.pos > len(self._buffer) - _NEAR
                cut_off = near_end or error.msg.startswith("Unterminated")
                if not cut_off or not self._read_more(len(self._buffer) - self._at):
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
                if len(self._buffer) - end >= 3 or not self._read_more(CHUNK):
                    self._at = end
                    # A number that no mark follows was cut off by the end of the file.
                    if isinstance(value, int | float) and self.peek() not in tuple(",]}:"):
                        raise BrokenFileError(f"expected , or ] at character {self.position}")
                    return value

    def _read_more(self, size: int) -> bool:
        """Read on, dropping what was decoded, and return whether there was more."""
        if self._ended:
            return False
        if len(self._buffer) - self._at > MAX_ENTRY:
            raise BrokenFileError(
                f"an entry longer than {MAX_ENTRY} characters, or never closed, at {self.position}"
            )
        try:
            content = self._file.read(max(size, CHUNK))
        except DAMAGED_GZIP as error:
            raise BrokenFileError(f"the gzip file is damaged ({error})") from error
        self._ended = not content
        if content:
            self._dropped += self._at
            self._buffer = self._buffer[self._at :] + self._decoder.decode(content)
            self._at = 0
        return not self._ended
