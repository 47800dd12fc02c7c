from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from seesay.captions.pairs import (
    load_captions,
    load_references,
    pair,
    read_captions,
    read_references,
)
from seesay.errors import UserError


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_coco_formats(tmp_path: Path) -> None:
    rows = [
        {"image_id": 1, "caption": "a"},
        {"image_id": 2, "caption": "b"},
        {"image_id": 1, "caption": "c"},
    ]
    expected = {"1": ["a", "c"], "2": ["b"]}
    for document in (
        rows,
        {"annotations": rows, "images": [{"id": 1}]},
        {"1": ["a", "c"], "2": "b"},
    ):
        assert read_captions(_write(tmp_path / "x.json", json.dumps(document))).texts == expected
    pretty = json.dumps({"images": [], "annotations": rows}, indent=1)
    assert read_captions(_write(tmp_path / "x.json", pretty)).texts == expected
    lines = "\n".join(map(json.dumps, rows)) + "\n\n"
    assert read_captions(_write(tmp_path / "x.jsonl", lines)).texts == expected
    assert read_captions(_write(tmp_path / "x.jsonl", "\ufeff" + lines)).texts == expected


def test_plain_text(tmp_path: Path) -> None:
    first = _write(tmp_path / "a.txt", "one\n\nthree\tdrei\n")
    assert read_captions(first).texts == {"1": ["one"], "2": [""], "3": ["three", "drei"]}
    assert read_captions(first, single=True).texts["3"] == ["three\tdrei"]
    second = _write(tmp_path / "b.txt", "eins\nzwei\nx\n")
    assert read_references([first, second]).texts == {
        "1": ["one", "eins"],
        "2": ["", "zwei"],
        "3": ["three", "drei", "x"],
    }
    with gzip.open(tmp_path / "c.txt.gz", "wt") as file:
        file.write("one\ntwo\nthree\n")
    assert read_captions(tmp_path / "c.txt.gz").texts["2"] == ["two"]


def test_every_bad_row_is_reported_by_line(tmp_path: Path) -> None:
    """One row in a hundred is bad, each in another way; the rest is kept."""
    rows = [json.dumps({"image_id": i, "caption": f"caption {i}"}) for i in range(1000)]
    rubbish = [
        "{",
        "[]",
        "null",
        '{"caption": "x"}',
        '{"image_id": 5}',
        '{"image_id": 5, "caption": 7}',
        '{"image_id": true, "caption": "x"}',
        '{"image_id": 6, "captions": []}',
        "[" * 50_000,
        '{"image_id": 7, "caption": "x"}',
    ]
    for i, text in enumerate(rubbish):
        rows[100 * i + 50] = text
    path = tmp_path / "x.jsonl"
    path.write_bytes("\n".join(rows).encode() + b"\n\xff\xfe{}\n" + b"x" * 70_000 + b"\n")
    captions = read_captions(path, single=True)
    assert [row.row for row in captions.bad] == [*(100 * i + 51 for i in range(10)), 1001, 1002]
    assert len(captions.texts) == 990
    assert "second caption" in captions.bad[9].reason
    assert "UTF-8" in captions.bad[10].reason


def test_overlong_captions_are_reported(tmp_path: Path) -> None:
    captions = read_captions(_write(tmp_path / "x.txt", "a dog\n" + "a " * 2001 + "\n"))
    assert captions.texts == {"1": ["a dog"]}
    assert [row.row for row in captions.bad] == [2]


def test_images_that_lack_something_are_reported(tmp_path: Path) -> None:
    hypotheses = read_captions(_write(tmp_path / "h.json", '{"1": "a", "2": "b"}'), single=True)
    references = read_captions(_write(tmp_path / "r.json", '{"1": ["a"], "3": ["c"]}'))
    images, left_out = pair(hypotheses, references)
    assert images == ["1"]
    assert left_out == [
        f"{tmp_path}/h.json: image 2 has no reference in r.json",
        f"{tmp_path}/r.json: image 3 has no caption in h.json",
    ]


def test_captions_in_memory(tmp_path: Path) -> None:
    """By image or in order; what a file says and what memory says are paired alike."""
    by_image = load_references({"2": ["c", "d"], "1": ["e"]})
    assert pair(load_captions({"1": "a", "2": "b"}), by_image) == (["1", "2"], [])
    assert by_image.texts == {"1": ["e"], "2": ["c", "d"]}
    captions, in_order = load_captions(["a", "b"]), load_references([["e"], ["c", "d"]])
    assert pair(captions, in_order) == (["1", "2"], [])
    assert captions.texts == {"1": ["a"], "2": ["b"]}
    assert in_order.texts == by_image.texts
    from_file = load_references(_write(tmp_path / "r.txt", "e\nc\td\n"))
    assert pair(captions, from_file) == (["1", "2"], [])
    assert from_file.texts == in_order.texts
    with pytest.raises(UserError, match="a list of texts"):
        load_references(["e", "c"])
    with pytest.raises(UserError, match="paired in order"):
        pair(load_captions(["a"]), load_references([["e"], ["c"]]))


def test_several_entries_are_counted_in_the_plural() -> None:
    two = load_captions(["a", "b"])
    with pytest.raises(UserError, match="has 2 entries and"):
        pair(two, load_references([["e"]]))


@pytest.mark.parametrize("text", ["", "[]", "{", "[1, 2]", "[" * 100_000, '[{"image_id": 1}]'])
def test_a_file_without_captions_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError):
        read_captions(_write(tmp_path / "x.json", text))


def test_non_text_in_memory_is_reported_or_refused() -> None:
    captions: Any = {"1": None, "2": "a dog"}
    assert [row.reason for row in load_captions(captions).bad] == ["not a text"]
    references: Any = {"1": None, "2": ["a dog"]}
    with pytest.raises(UserError, match="as a list of texts"):
        load_references(references)


def test_mismatched_sources_are_refused(tmp_path: Path) -> None:
    short, long = _write(tmp_path / "s.txt", "a\n"), _write(tmp_path / "l.txt", "a\nb\n")
    document = _write(tmp_path / "d.json", '{"1": "a"}')
    with pytest.raises(UserError, match="has 1 line and"):
        pair(read_captions(short), read_captions(long))
    with pytest.raises(UserError, match="paired in order"):
        read_references([short, long])
    with pytest.raises(UserError, match="must both be plain text"):
        pair(read_captions(short), read_captions(document))
    with pytest.raises(UserError, match="must all be plain"):
        read_references([document, short])
    with pytest.raises(UserError, match="There is no file"):
        read_captions(tmp_path / "nowhere")
    with pytest.raises(UserError, match="no image in common"):
        pair(read_captions(document), read_captions(_write(tmp_path / "e.json", '{"2": "a"}')))
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"a dog\n")[:-9])
    with pytest.raises(UserError, match="damaged"):
        read_captions(tmp_path / "x.gz")
