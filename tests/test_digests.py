"""Digests: known values, so that the keys of stored runs and caches stay as they are."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from seesay.digests import file_digest, file_sha256, json_digest, text_digest


def test_a_text_and_its_bytes_have_one_digest() -> None:
    expected = hashlib.blake2b("größe".encode(), digest_size=8).hexdigest()
    assert text_digest("größe") == text_digest("größe".encode()) == expected
    assert len(text_digest("", 4)) == 8


def test_a_value_has_the_digest_of_its_json() -> None:
    value = {"b": 1, "a": ["é"]}
    assert json_digest(value) == text_digest(json.dumps(value))
    assert json_digest(value, 12, ensure_ascii=False) == text_digest('{"b": 1, "a": ["é"]}', 12)
    assert json_digest(value, sort_keys=True) == json_digest(
        dict(reversed(value.items())), sort_keys=True
    )
    assert json_digest(value) != json_digest(dict(reversed(value.items())))


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert file_digest(path) == text_digest(b"abc")
    assert file_sha256(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
