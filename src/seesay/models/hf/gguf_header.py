"""GGUF files without their vocabulary.

transformers reads most architectures through a library that makes NumPy arrays of every single
token and merge: 3.6 s of the processor for SmolLM2's, 13 s for Gemma's, and again for the
configuration, the weights and the tokenizer. Configuration and weights need none of them.
"""

from __future__ import annotations

import mmap
import shutil
from pathlib import Path

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_ALIGNMENT = 32
"""Tensors begin at multiples of so many bytes, unless the header says otherwise."""
_LARGEST_ALIGNMENT = 1 << 20
_TEXT = 8
_ARRAY = 9
_NUMBER_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_EMBEDDING = b"token_embd.weight"


class _Cursor:
    """Reads little-endian numbers and texts, one after the other."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.place = 0

    def skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self.data):
            raise ValueError("it ends within its header")

    def take(self, count: int) -> bytes:
        start = self.place
        self.skip(count)
        return self.data[start : self.place]

    def number(self, size: int = 8) -> int:
        return int.from_bytes(self.take(size), "little")

    def skip_value(self, kind: int) -> None:
        """Go to the end of a value, of which arrays hold many."""
        if kind == _TEXT:
            self.skip(self.number())
        elif kind == _ARRAY:
            item = self.number(4)
            count = self.number()
            if item in _NUMBER_BYTES:
                self.skip(count * _NUMBER_BYTES[item])
                return
            for _ in range(count):
                self.skip_value(item)
        elif kind in _NUMBER_BYTES:
            self.skip(_NUMBER_BYTES[kind])
        else:
            raise ValueError(f"its header has a value of the unknown type {kind}")


def write_without_vocabulary(path: Path, target: Path) -> int | None:
    """Write a GGUF file without the arrays of its tokenizer, and return how many tokens its
    embedding has, which the vocabulary's length told; None and an unchanged file where it is of
    another byte order or version."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        cursor = _Cursor(data)
        magic = cursor.take(4)
        version = cursor.number(4)
        if magic != _MAGIC or version not in _VERSIONS:
            shutil.copyfile(path, target)
            return None
        tensors = cursor.number()
        fields, alignment = _read_fields(cursor)
        beginning = cursor.place
        tokens = _skip_tensors(cursor, tensors)
        header = b"".join(
            [
                data[:16],
                len(fields).to_bytes(8, "little"),
                *fields,
                data[beginning : cursor.place],
            ]
        )
        with target.open("wb") as slim:
            slim.write(header)
            slim.write(bytes(-len(header) % alignment))
            file.seek(cursor.place + -cursor.place % alignment)
            shutil.copyfileobj(file, slim, 1 << 24)
    return tokens


def _read_fields(cursor: _Cursor) -> tuple[list[bytes], int]:
    """Return the header's fields as they stand there, but for the tokenizer's arrays; and the
    alignment of tensors."""
    fields = []
    alignment = _ALIGNMENT
    for _ in range(cursor.number()):
        start = cursor.place
        key = cursor.take(cursor.number())
        kind = cursor.number(4)
        value = cursor.place
        cursor.skip_value(kind)
        if key == b"general.alignment":
            alignment = int.from_bytes(cursor.data[value : cursor.place], "little")
            if not 0 < alignment <= _LARGEST_ALIGNMENT:
                raise ValueError(f"its tensors are aligned to {alignment:,} bytes")
        if kind != _ARRAY or not key.startswith(b"tokenizer."):
            fields.append(cursor.data[start : cursor.place])
    return fields, alignment


def _skip_tensors(cursor: _Cursor, count: int) -> int | None:
    """Go to the end of the descriptions of tensors, and return the number of tokens that have an
    embedding."""
    tokens = None
    for _ in range(count):
        name = cursor.take(cursor.number())
        shape = [cursor.number() for _ in range(cursor.number(4))]
        cursor.skip(12)  # its type and where it begins
        if name == _EMBEDDING:
            tokens = shape[-1]
    return tokens
