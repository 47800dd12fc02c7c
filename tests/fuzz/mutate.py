"""Mutations of a file: bytes, lines and numbers, and where it is JSON, its values."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

LARGEST = 4 << 20
"""No input is larger: what needs more to hurt has a test of its own."""

NUMBERS = [
    b"null",
    b"true",
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"nan",
    b"1e400",
    b"-1e400",
    b"-0",
    b"-1",
    b"0",
    b"1e308",
    b"0x10",
    b"9" * 20,
    b"9" * 400,
    b"9" * 5000,
    "\u00b2".encode(),
    "\u0663".encode(),
    b"",
]
TOKENS = [
    *NUMBERS,
    b"\0",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b",",
    b'"',
    b"'",
    b"\\",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b"|",
    b":",
    b"-",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xc2",
    b"\\ud800",
    b"\xed\xa0\x80",
    b"\\u0000",
    b"../../etc/passwd",
    b"/etc/passwd",
    b"..",
    b"a" * 300,
    b"[" * 3000,
    b"(" * 3000,
    b"(S " * 2000,
    b'{"a":' * 2000,
    b"\x80\x04\x95",
    b"<script>",
    b"{x}",
    b"[MASK]",
    b"!!python/object:os.system",
    b"&a [*a]",
    b"\x1f\x8b\x08",
    b"PAR1",
    b"PK\x03\x04",
    b"\x93NUMPY",
    b"GGUF",
]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    2**64,
    -(2**70),
    int("9" * 400),
    0.5,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "a",
    "\u00b2",
    "\u0663",
    "\ud800",
    "\0",
    "1",
    "nan",
    "1e400",
    "9" * 5000,
    "../x",
    "/etc/passwd",
    "a" * 70_000,
    [],
    {},
    [[]],
    [None],
    {"": None},
    [1, 2],
    ["a", "a"],
    {"a": {"a": {}}},
]


BRACKETS = [
    (b"[", b"]"),
    (b'{"a":', b"}"),
    (b"(", b")"),
    (b"(S ", b")"),
    (b"{", b"}"),
    (b"{{ ", b" }}"),
    (b"{% if x %}", b"{% endif %}"),
    (b"<b>", b"</b>"),
    (b'"', b'"'),
]
MARKER = "a value that is replaced by nested ones"


def mutate(chance: random.Random, content: bytes) -> bytes:
    """A few mutations, one after another."""
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        content = chance.choice(_MUTATIONS)(chance, content)[:LARGEST]
    return content


def _flip(chance: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(min(len(changed), chance.choice((1, 4, 40)))):
        changed[chance.randrange(len(changed))] = chance.choice(
            (0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256))
        )
    return bytes(changed)


def _token(chance: random.Random, content: bytes) -> bytes:
    at = chance.randint(0, len(content))
    return content[:at] + chance.choice(TOKENS) + content[at + chance.choice((0, 0, 1, 5)) :]


def _cut(chance: random.Random, content: bytes) -> bytes:
    at = chance.randint(0, len(content))
    return chance.choice(
        (content[:at], content[at:], content[:at] + content[at + chance.randint(0, 64) :])
    )


def _repeat(chance: random.Random, content: bytes) -> bytes:
    at = chance.randint(0, len(content))
    part = content[at : at + chance.choice((1, 10, 100, 10_000))]
    return (
        content[:at]
        + part * chance.choice((2, 10, 1000, 50_000) if len(part) < 40 else (2, 10))
        + content[at:]
    )


def _number(chance: random.Random, content: bytes) -> bytes:
    places = [place for place, byte in enumerate(content[:100_000]) if chr(byte).isdigit()]
    if not places:
        return _token(chance, content)
    start = end = chance.choice(places)
    while end < len(content) and content[end : end + 1].isdigit():
        end += 1
    return content[:start] + chance.choice(NUMBERS) + content[end:]


def _lines(chance: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    action = chance.randrange(4)
    if action == 0:
        lines[at], lines[other] = lines[other], lines[at]
    elif action == 1:
        lines.insert(at, lines[other])
    elif action == 2:
        del lines[at]
    else:
        cells = lines[at].split(chance.choice((b"\t", b",", b" ")))
        cells[chance.randrange(len(cells))] = chance.choice(TOKENS)
        lines[at] = b"\t".join(cells) if b"\t" in lines[at] else b",".join(cells)
    return b"\n".join(lines)


def _json(chance: random.Random, content: bytes) -> bytes:
    """Change a value of a document, or of a line of JSON lines."""
    lines = content.split(b"\n")
    number = chance.randrange(len(lines))
    for text, replaced in ((content, None), (lines[number], number)):
        try:
            document = _change(chance, json.loads(text), 0)
            encoded = json.dumps(document, ensure_ascii=chance.random() < 0.5).encode(
                "utf-8", "surrogatepass"
            )
        except (ValueError, RecursionError):
            continue
        if replaced is None:
            return encoded
        lines[replaced] = encoded
        return b"\n".join(lines)
    return _token(chance, content)


def _change(chance: random.Random, value: Any, depth: int) -> Any:
    if not isinstance(value, list | dict) or not value or chance.random() < 0.1:
        return chance.choice(VALUES)
    key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
    action = chance.random()
    if action < 0.1:
        del value[key]
    elif action < 0.15 and isinstance(value, dict):
        value[chance.choice(("", "1", "²", "\ud800", "a" * 300, "id"))] = value.pop(key)
    elif action < 0.2 and isinstance(value, list):
        value.insert(key, value[chance.randrange(len(value))])
    else:
        value[key] = _change(chance, value[key], depth + 1)
    return value


def _nest(chance: random.Random, content: bytes) -> bytes:
    """Put a part between brackets that are opened and closed equally often."""
    depth = chance.choice((1, 2, 60, 900, 3000, 50_000))
    opening, closing = chance.choice(BRACKETS)
    document = _nest_value(chance, content, opening * depth, closing * depth)
    if document is not None:
        return document
    begin = chance.randint(0, len(content))
    end = min(len(content), begin + chance.choice((0, 1, 10, 1000)))
    inner = content[begin:end]
    return content[:begin] + opening * depth + inner + closing * depth + content[end:]


def _nest_value(
    chance: random.Random, content: bytes, opening: bytes, closing: bytes
) -> bytes | None:
    """Put a value of a JSON document between brackets; None where there is no document."""
    try:
        document = json.loads(content)
        places = list(_places(document, 0))
        if not places:
            return None
        holder, key = chance.choice(places)
        inner = json.dumps(holder[key])
        holder[key] = MARKER
        text = json.dumps(document).encode()
    except (ValueError, RecursionError):
        return None
    return text.replace(json.dumps(MARKER).encode(), opening + inner.encode() + closing)


def _places(value: Any, depth: int) -> Iterator[tuple[Any, Any]]:
    """Yield where values of a document stand, as what holds them and their key."""
    if depth > 20 or not isinstance(value, dict | list):
        return
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        yield from _places(value[key], depth + 1)


def _gzip(chance: random.Random, content: bytes) -> bytes:
    packed = gzip.compress(content, 1, mtime=0)
    return packed if chance.random() < 0.5 else _flip(chance, packed)


def _bytes(chance: random.Random, content: bytes) -> bytes:
    return chance.randbytes(chance.choice((0, 1, 8, 200)))


_MUTATIONS: list[Callable[[random.Random, bytes], bytes]] = [
    _flip,
    _token,
    _token,
    _cut,
    _repeat,
    _number,
    _number,
    _lines,
    _json,
    _json,
    _json,
    _nest,
    _gzip,
    _bytes,
]
