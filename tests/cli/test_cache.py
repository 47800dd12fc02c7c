"""`seesay cache`: what is kept between runs, and clearing it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import typer

from seesay.caches import TREES, VECTORS, all_caches
from seesay.cli import main


@pytest.fixture(autouse=True)
def _filled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    for cache in (VECTORS, TREES):
        cache.folder.mkdir(parents=True)
        (cache.folder / "entry").write_bytes(bytes(2_000_000))


def run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["cache", *arguments])
    assert not ended.value.code


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["cache", *arguments])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_every_cache_is_listed_with_its_size_and_its_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    run()
    shown = capsys.readouterr().out
    assert all(name in shown for name in all_caches())
    (row,) = (line for line in shown.splitlines() if line.strip().startswith("vectors"))
    assert "2.0 MB" in row
    assert str(tmp_path / "cache" / "vectors") in row
    assert "4.0 MB in" in shown


def test_the_list_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run("--json")
    document = json.loads(capsys.readouterr().out)
    assert (document["folder"], document["bytes"]) == (str(tmp_path / "cache"), 4_000_000)
    rows = {row["name"]: row for row in document["caches"]}
    assert rows.keys() == all_caches().keys()
    assert rows["trees"] == {
        "name": "trees",
        "content": TREES.content,
        "bytes": 2_000_000,
        "path": str(tmp_path / "cache" / "trees"),
    }


def test_one_cache_is_cleared(capsys: pytest.CaptureFixture[str]) -> None:
    run("clear", "vectors", "--yes")
    assert "Deleted 2.0 MB." in capsys.readouterr().out
    assert not VECTORS.root.exists()
    assert TREES.size() == 2_000_000


def test_all_caches_are_cleared(capsys: pytest.CaptureFixture[str]) -> None:
    run("clear", "--yes", "--json")
    deleted = json.loads(capsys.readouterr().out)["deleted"]
    assert deleted == {
        name: 2_000_000 if name in ("vectors", "trees") else 0 for name in all_caches()
    }
    assert VECTORS.size() == TREES.size() == 0


def test_nothing_is_deleted_unasked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "give --yes" in refused(capsys, "clear")
    assert "give --yes" in refused(capsys, "clear", "--json")
    assert "Unknown cache 'vector'" in refused(capsys, "clear", "vector", "--yes")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda question: False)
    assert "Nothing was deleted." in refused(capsys, "clear")
    assert VECTORS.size() == TREES.size() == 2_000_000


def test_confirmation_is_asked_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[str] = []

    def confirm(question: str) -> bool:
        questions.append(question)
        return True

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", confirm)
    run("clear", "vectors", "trees")
    assert questions == ["Delete 4.0 MB (vectors, trees)?"]
    assert VECTORS.size() == TREES.size() == 0
