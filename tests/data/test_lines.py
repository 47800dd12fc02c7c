"""The reader of text lines: plain and gzipped files, bad lines by number, damaged files in one
sentence."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from seesay.data.lines import LONGEST_LINE, read_lines
from seesay.errors import UserError
from seesay.questions import BadRow

CONTENT = b"\xef\xbb\xbfone\r\n\n\xff\n" + b"x" * (LONGEST_LINE + 1) + b"\nlast"
EXPECTED = [
    (1, "one"),
    (2, ""),
    (3, BadRow(3, "not UTF-8 text")),
    (4, BadRow(4, "longer than 65,536 bytes")),
    (5, "last"),
]


@pytest.mark.parametrize("zipped", [False, True])
def test_every_line_has_its_number(tmp_path: Path, zipped: bool) -> None:
    """A gzipped file is recognised by its content, not by its name."""
    path = tmp_path / "lines.txt"
    path.write_bytes(gzip.compress(CONTENT) if zipped else CONTENT)
    assert list(read_lines(path)) == EXPECTED


def test_damaged_and_missing_files_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n" * 10_000)[:-9])
    with pytest.raises(
        UserError, match=r"lines\.txt\.gz is damaged after line [\d,]+ .*: fetch it again"
    ):
        list(read_lines(path))
    with pytest.raises(UserError, match="There is no file"):
        list(read_lines(tmp_path / "none"))
    with pytest.raises(UserError, match="Cannot read"):
        list(read_lines(tmp_path))


def test_more_lines_than_allowed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"\n" * 4)
    assert len(list(read_lines(path, most=4))) == 4
    with pytest.raises(UserError, match="more than 3 lines"):
        list(read_lines(path, most=3))
