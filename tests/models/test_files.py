"""Digests of a model's files follow their names and contents; large files are not read twice while
they stay."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from seesay.caches import FILE_DIGESTS
from seesay.errors import UserError
from seesay.models import files
from seesay.models.files import file_digest, model_type, read_diet


def test_a_digest_is_of_names_and_contents(tmp_path: Path) -> None:
    first, second = tmp_path / "a.bin", tmp_path / "b.bin"
    first.write_bytes(b"one")
    second.write_bytes(b"two")
    digest = file_digest([first, second])
    assert file_digest([second, first]) == digest
    first.write_bytes(b"two")
    second.write_bytes(b"one")
    assert file_digest([first, second]) != digest


def test_a_large_file_is_read_again_only_when_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(files, "LARGE", 1)
    path = tmp_path / "weights.bin"
    path.write_bytes(b"weights")
    in_a_minute = time.time() + 60  # when the file is older than any clock's granularity
    monkeypatch.setattr("seesay.models.files.time.time", lambda: in_a_minute)
    digest = file_digest([path])
    (remembered,) = FILE_DIGESTS.folder.iterdir()
    assert remembered.read_text() == digest
    remembered.write_text("0123456789abcdef")
    assert file_digest([path]) == "0123456789abcdef"
    remembered.write_text("damaged")
    assert file_digest([path]) == digest
    stat = path.stat()
    path.write_bytes(b"Weights")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert file_digest([path]) != digest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"model_type": "bert"}', "bert"),
        ('{"model_type": 7}', None),
        ("[]", None),
        ("{", None),
        (None, None),
    ],
)
def test_the_type_of_a_folder(text: str | None, expected: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    assert model_type(tmp_path) == expected


def test_a_diet_is_read_where_somebody_wrote_it_down(tmp_path: Path) -> None:
    assert read_diet(tmp_path) == {}
    (tmp_path / "diet.json").write_text('{"learner": "text", "typical": "0.5"}')
    assert read_diet(tmp_path) == {"learner": "text", "typical": "0.5"}
    (tmp_path / "diet.json").write_text('{"typical": 0.5}')
    with pytest.raises(UserError, match="no list of dials"):
        read_diet(tmp_path)
    (tmp_path / "diet.json").write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        read_diet(tmp_path)
