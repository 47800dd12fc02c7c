"""Files of object stores: copied once, again when they change, and named when a store fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.program import error_here
from tests.mining.sample_annotations import write_annotations

import seesay
from seesay import storage
from seesay.cli import main
from seesay.errors import UserError

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402


class Flaky(MemoryFileSystem):  # type: ignore[misc]
    """A real store that drops as many connections as it is told to."""

    protocol = "flaky"
    drops = 0
    downloads = 0

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.removeprefix("flaky://").strip("/")

    def _drop(self) -> None:
        if Flaky.drops:
            Flaky.drops -= 1
            raise ConnectionResetError("Connection reset by peer")

    def find(self, *arguments: Any, **named: Any) -> Any:
        self._drop()
        return super().find(*arguments, **named)

    def get_file(self, *arguments: Any, **named: Any) -> Any:
        self._drop()
        Flaky.downloads += 1
        return super().get_file(*arguments, **named)


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(storage, "WAIT", 0.0)
    fsspec.register_implementation("flaky", Flaky, clobber=True)
    Flaky.drops = Flaky.downloads = 0
    Flaky.store.clear()
    yield
    Flaky.store.clear()


def put(path: str, content: str) -> None:
    Flaky().pipe_file(path, content.encode())


def test_a_file_is_copied_once_and_again_when_it_changes() -> None:
    put("/bucket/a.txt", "one")
    assert storage.local_copy("flaky://bucket/a.txt").read_text() == "one"
    before = storage.fingerprint("flaky://bucket/a.txt")
    assert storage.local_copy("flaky://bucket/a.txt").name == "a.txt"
    assert Flaky.downloads == 1
    put("/bucket/a.txt", "another")
    assert storage.local_copy("flaky://bucket/a.txt").read_text() == "another"
    assert storage.fingerprint("flaky://bucket/a.txt") != before


def test_a_folder_is_copied_with_what_is_below_it() -> None:
    put("/bucket/in/a.txt", "one")
    put("/bucket/in/below/b.txt", "two")
    copy = storage.local_copy("flaky://bucket/in")
    files = {path.relative_to(copy).as_posix() for path in copy.rglob("*.txt")}
    assert files == {"a.txt", "below/b.txt"}


def test_dropped_connections_are_tried_again_and_then_named() -> None:
    put("/bucket/a.txt", "one")
    Flaky.drops = storage.ATTEMPTS - 1
    assert storage.local_copy("flaky://bucket/a.txt").read_text() == "one"
    Flaky.drops = 100
    with pytest.raises(
        UserError,
        match=r"^flaky://bucket/a.txt could not be read in 4 attempts \(Connection reset by peer\)",
    ):
        storage.local_copy("flaky://bucket/a.txt")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("flaky://bucket/none.txt", "There is no file at flaky://bucket/none.txt"),
        ("flaky://key:secret@bucket/a.txt", "must not hold a password"),
        ("nostore://bucket/a.txt", "cannot be read"),
    ],
)
def test_mistakes_are_one_sentence(address: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as raised:
        storage.local_copy(address)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("store", ["file", "flaky"])
def test_mining_an_object_store_gives_the_same_knowledge(store: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    from seesay.mining.pipeline import mine

    options: dict[str, Any] = {
        "size_rule": "boxes",
        "space_rule": "boxes",
        "min_seen": 3,
        "min_relation": 1,
        "workers": 1,
    }
    write_annotations(tmp_path / "annotations", 20)
    path = tmp_path / "annotations/rows.jsonl"
    mine(f"plain:{path}", tmp_path / "here", **options)
    address = f"file://{path}"
    if store == "flaky":
        put("/bucket/rows.jsonl", path.read_text())
        address = "flaky://bucket/rows.jsonl"
        Flaky.drops = 2
    for _ in range(2):
        mine(f"plain:{address}", tmp_path / "there", **options)
    for name in ("sizes.parquet", "places.parquet"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    request = json.loads((tmp_path / "there/work/request.json").read_text())
    assert request["annotations"] == f"plain:{address}"


def test_runs_at_an_address_are_read_and_other_addresses_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs"
    seesay.probe("baseline:random", "core-color", limit=3, resamples=100, output=folder)
    reports = []
    for place in (str(folder), f"file://{folder}"):
        with pytest.raises(SystemExit) as ended:
            main(["report", place, "--format", "csv"])
        assert ended.value.code == 0
        reports.append(capsys.readouterr().out)
    assert reports[0] == reports[1]
    assert "core-color" in reports[0]
    for arguments in (("report", folder), ("probe", "mock", "--task", "core-color")):
        message = error_here(capsys, *arguments, "-o", "s3://bucket/x")
        assert message.startswith("--output is s3://bucket/x: ")
        assert "give a path of this machine" in message
    assert not (tmp_path / "s3:").exists()
