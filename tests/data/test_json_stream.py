"""Large JSON files entry by entry: as `json.load` would, whatever the size of the pieces."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seesay.data import json_stream
from seesay.data.json_stream import (
    BrokenFileError,
    DuplicateKeys,
    decode_piece,
    entries,
    parse_json,
    pieces,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)
CHUNKS = st.sampled_from([1, 2, 3, 7, 64, 1 << 16])


def stream(folder: Path, text: str, chunk: int) -> list[tuple[str, Any]]:
    path = folder / "x.json"
    path.write_text(text, encoding="utf-8")
    patch = pytest.MonkeyPatch()
    patch.setattr(json_stream, "CHUNK", chunk)
    try:
        return list(entries(path))
    finally:
        patch.undo()


@given(values=st.lists(VALUES, max_size=6), chunk=CHUNKS, indent=st.sampled_from([None, 2]))
@settings(deadline=None)
def test_arrays(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], chunk: int, indent: int | None
) -> None:
    result = stream(tmp_path_factory.mktemp("s"), json.dumps(values, indent=indent), chunk)
    assert result == [("", value) for value in values]


@given(document=st.dictionaries(st.text(max_size=4), VALUES, max_size=5), chunk=CHUNKS)
@settings(deadline=None)
def test_objects(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any], chunk: int
) -> None:
    result = stream(tmp_path_factory.mktemp("s"), json.dumps(document), chunk)
    expected = [
        (key, each)
        for key, value in document.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    assert result == expected


@given(values=st.lists(VALUES, min_size=1, max_size=5), cut=st.integers(1, 200), chunk=CHUNKS)
@settings(deadline=None)
def test_a_cut_gives_what_came_before(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], cut: int, chunk: int
) -> None:
    text = json.dumps(values)[:-cut]
    path = tmp_path_factory.mktemp("s") / "x.json"
    path.write_text(text)
    came = []
    with pytest.raises(BrokenFileError):  # noqa: PT012
        for _, value in entries(path):
            came.append(value)
    assert came[: len(values) - 1] == values[: len(came)][: len(values) - 1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "neither"),
        ("7", "neither"),
        ("[1 2]", "expected , or ]"),
        ('{"a" 1}', "expected :"),
        ("{1: 2}", "not a text"),
        ("[1] 2", "more after the end"),
        ("[" * 100_000, "cannot be read"),
        ("[" + "9" * 5000 + "]", "cannot be read"),
        ('["never closed', "Unterminated"),
        ('[{"a": tru}]', "Expecting value"),
    ],
)
def test_what_is_broken_is_reported(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(BrokenFileError, match=reason):
        stream(tmp_path, text, 1 << 16)


def test_an_entry_may_not_be_endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_ENTRY", 1000)
    with pytest.raises(BrokenFileError, match="longer than 1000"):
        stream(tmp_path, '["' + "a" * 100_000, 16)


def test_first_value_and_place_of_a_repeated_key_count() -> None:
    value = parse_json('{"a": 1, "b": 2, "a": 3, "c": 4}')
    assert isinstance(value, DuplicateKeys)
    assert list(value.items()) == [("a", 1), ("b", 2), ("c", 4)]


def tokens(rng: random.Random, text: str) -> str:
    """A JSON text with a few of its characters lost, doubled or replaced."""
    characters = list(text)
    for _ in range(rng.randrange(3)):
        place = rng.randrange(len(characters))
        characters[place] = rng.choice(["", ",", "]", "[", "}", '"', "\\", "é", "\n", " "])
    return "".join(characters)


@given(
    document=st.dictionaries(st.text(max_size=4), VALUES, max_size=5) | st.lists(VALUES),
    seed=st.integers(0, 1 << 16),
    size=st.integers(1, 60),
    indent=st.sampled_from([None, 2]),
)
@settings(deadline=None)
def test_pieces_have_the_entries_of_the_file(
    tmp_path_factory: pytest.TempPathFactory,
    document: Any,
    seed: int,
    size: int,
    indent: int | None,
) -> None:
    """Damaged or not: all of them, or those before the piece that is not JSON."""
    path = tmp_path_factory.mktemp("p") / "x.json"
    damaged = tokens(random.Random(seed), json.dumps(document, indent=indent, ensure_ascii=False))
    path.write_text(damaged, encoding="utf-8")
    expected = []
    is_broken = False
    try:
        for member in entries(path):
            expected.append(member)
    except BrokenFileError:
        is_broken = True
    patch = pytest.MonkeyPatch()
    patch.setattr(json_stream, "PIECE", size)
    decoded: list[tuple[str, Any]] = []
    try:
        for piece in pieces(path):
            rows = decode_piece(piece, lambda key, entry: (key, entry))
            if rows is None:
                break
            decoded += rows
        else:
            assert not is_broken
            assert decoded == expected
    finally:
        patch.undo()
    assert decoded == expected[: len(decoded)]


def test_pieces_of_clean_files_are_all_read(tmp_path: Path) -> None:
    """Two arrays, an object between them, and texts with brackets, quotes and commas."""
    rows = [{"id": i, "text": '"], [{\\", '} for i in range(200)]
    document = {"info": {"a": [1, {"b": 2}]}, "first": rows, "second": rows, "none": []}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    patch = pytest.MonkeyPatch()
    patch.setattr(json_stream, "PIECE", 1000)
    decoded = [decode_piece(piece, lambda key, entry: (key, entry)) for piece in pieces(path)]
    patch.undo()
    assert len(decoded) > 10
    assert None not in decoded
    assert [row for rows in decoded for row in rows or ()] == list(entries(path))
