"""Digests by which a change is noticed, and of which keys and fingerprints are made: BLAKE2b in
hexadecimal digits."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

SIZE = 8
"""Bytes of a digest, unless there is a reason for more or fewer."""


def text_digest(content: str | bytes, size: int = SIZE) -> str:
    """The digest of a text, or of bytes."""
    raw = content.encode() if isinstance(content, str) else content
    return hashlib.blake2b(raw, digest_size=size).hexdigest()


def text_number(text: str, size: int = SIZE) -> int:
    """The digest of a text as a number: evenly spread, and the same everywhere."""
    return int(text_digest(text, size), base=16)


def json_digest(value: object, size: int = SIZE, **how: Any) -> str:
    """The digest of a JSON value; `how` it is written is as for `json.dumps`.

    With `sort_keys=True`, equal mappings have equal digests.
    """
    return text_digest(json.dumps(value, **how), size)


def file_digest(path: Path) -> str:
    """The digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=SIZE)).hexdigest()


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's content, which is what publishers state."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
