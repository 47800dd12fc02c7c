"""Reading untrusted JSON lines: a bad line costs that line, and its number and reason are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seesay.data import jsonl
from seesay.data.lines import GZIP
from seesay.errors import UserError
from seesay.questions import BadRow


def parse(record: jsonl.Record) -> tuple[str, int]:
    return jsonl.text_field(record, "name"), jsonl.whole_number(record, "n", 0, 5)


GOOD = '{"name": "sky", "n": 3}'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[" * 5_000, "not JSON"),
        ('{"name": "sky", "n": NaN}', "not JSON"),
        ('["sky", 3]', "not a JSON object"),
        ('{"n": 3}', "'name' is missing"),
        ('{"name": 7, "n": 3}', "'name' is not a text"),
        ('{"name": "  ", "n": 3}', "'name' is empty"),
        ('{"name": "a\\u001b[31m", "n": 3}', "'name' holds control characters"),
        ('{"name": "\\ud800", "n": 3}', "holds half of a surrogate pair"),
        ('{"name": "a [MASK]", "n": 3}', "'name' holds [MASK] or [SEP]"),
        ('{"name": "' + "a" * 101 + '", "n": 3}', "'name' is longer than 100 characters"),
        ('{"name": "' + "a" * 70_000 + '", "n": 3}', "longer than 65,536 bytes"),
        ('{"name": "sky"}', "'n' is missing"),
        ('{"name": "sky", "n": true}', "'n' is not a whole number from 0 to 5"),
        ('{"name": "sky", "n": 3.5}', "'n' is not a whole number from 0 to 5"),
        ('{"name": "sky", "n": 6}', "'n' is not a whole number from 0 to 5"),
        ('{"name": "sky", "n": ' + "9" * 5_000 + "}", "not JSON"),
    ],
)
def test_a_bad_line_is_skipped_and_said(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{GOOD}\n{line}\n\n{GOOD}\n")
    good, bad = jsonl.read(path, parse)
    assert good == {1: ("sky", 3), 4: ("sky", 3)}
    assert bad == [BadRow(2, reason)]


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode() + b"\r\n\xff\xfe\n" + GOOD.encode())
    good, bad = jsonl.read(path, parse)
    assert list(good) == [1, 3]
    assert bad == [BadRow(2, "not UTF-8 text")]


@pytest.mark.parametrize(("content", "message"), [("", "it is empty"), ("nothing\n", r"line 1: not JSON")])
def test_a_file_without_a_good_line_is_an_error(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        jsonl.read(path, parse)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no file"):
        jsonl.read(tmp_path / "none.jsonl", parse)
    with pytest.raises(UserError, match="Cannot read"):
        jsonl.read(tmp_path, parse)


@given(st.binary(max_size=300))
def test_any_bytes_give_rows_or_a_user_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_bytes(content + b"\n" + GOOD.encode())
    if content.startswith(GZIP):
        with pytest.raises(UserError, match="damaged"):
            jsonl.read(path, parse)
        return
    good, _ = jsonl.read(path, parse)
    assert ("sky", 3) in good.values()
