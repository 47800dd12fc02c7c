"""The folder of a mining, damaged, held by another process or left by a killed one."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.mining.test_pipeline import mine_boxes, small

from seesay.errors import UserError
from seesay.files import lock_folder
from seesay.mining.observations import LABELS
from seesay.mining.pipeline import mine
from seesay.mining.rooms import write_rooms

JSON_DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "not UTF-8": lambda content: b"\xff\xfe" + content,
    "zeros": lambda content: bytes(len(content)),
    "a list": lambda content: b"[]",
    "null": lambda content: b"null",
    "another type": lambda content: (
        b'{"parts": 5, "bad": [], "pictures": "x", "sources": {}, "cup": "many"}'
    ),
    "nested too deep": lambda content: b"[" * 100_000,
}
NO_JSON = ("empty", "cut off", "zeros", "a list")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The annotation of three pictures of cups and buses, with captions, and `k`, what was mined of
    it with boxes."""
    folder = tmp_path_factory.mktemp("mined")
    path = small(folder, "cup", "bus", captions=("a red cup on a bus",))
    mine_boxes(path, folder / "k")
    return path


@pytest.fixture
def mined(done: Path, tmp_path: Path) -> tuple[Path, Path]:
    """The annotation, and a copy of the folder."""
    return done, shutil.copytree(done.parent / "k", tmp_path / "k")


@pytest.mark.parametrize(
    "name",
    [
        "request.json",
        "names.json",
        "pictures/cut.json",
        "counts/counting.json",
        "counts/part-00000.done.json",
    ],
)
def test_a_damaged_state_file_is_one_sentence(mined: tuple[Path, Path], name: str) -> None:
    annotation, output = mined
    path = output / "work" / name
    content = path.read_bytes()
    for damage in JSON_DAMAGE.values():
        path.write_bytes(damage(content))
        with pytest.raises(UserError, match=rf"{path.name} is damaged \(|was started with"):
            mine_boxes(annotation, output)


@pytest.mark.parametrize(
    "name",
    ["pictures/part-00000.parquet", *(f"counts/part-00000.{kind}.parquet" for kind in LABELS)],
)
def test_a_damaged_table_is_one_sentence(mined: tuple[Path, Path], name: str) -> None:
    annotation, output = mined
    path = output / "work" / name
    content = path.read_bytes()
    for damage in NO_JSON:
        path.write_bytes(JSON_DAMAGE[damage](content))
        with pytest.raises(UserError, match=r"is damaged \(.*: delete the folder work"):
            mine_boxes(annotation, output)


def test_a_part_that_is_missing_or_elsewhere_is_one_sentence(mined: tuple[Path, Path]) -> None:
    annotation, output = mined
    work = output / "work"
    note = json.loads((work / "pictures/cut.json").read_text())
    (work / "elsewhere.parquet").write_bytes((work / "pictures/part-00000.parquet").read_bytes())
    for parts, reason in (
        ([*note["parts"], "no.parquet"], "is missing"),
        (["../elsewhere.parquet"], "not a part"),
    ):
        (work / "pictures/cut.json").write_text(json.dumps(note | {"parts": parts}))
        with pytest.raises(UserError, match=reason):
            mine_boxes(annotation, output)


def test_damaged_notes_about_captions_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "captions.txt").write_text("a red cup on a bus\n" * 5)
    annotations = f"captions:{tmp_path / 'captions.txt'}"
    mine(annotations, tmp_path / "k", workers=1)
    path = tmp_path / "k/work/sources.json"
    content = path.read_bytes()
    for damage in JSON_DAMAGE.values():
        path.write_bytes(damage(content))
        with pytest.raises(UserError, match=r"sources\.json is damaged"):
            mine(annotations, tmp_path / "k", workers=1)


def test_settings_are_written_atomically(tmp_path: Path) -> None:
    """`counting.json` and its like are written beside and renamed: a process that dies before
    leaves no part of it."""
    code = (
        "import os, sys; from pathlib import Path; from seesay.files import refuse_other_settings\n"
        "Path.replace = lambda self, target: os.kill(os.getpid(), 9)\n"
        "refuse_other_settings(Path(sys.argv[1]), {'a': 1}, what='It', hint='wait')"
    )
    path = tmp_path / "new/counting.json"
    died = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert not path.exists()


def test_a_second_process_is_refused(mined: tuple[Path, Path]) -> None:
    """Within one process the lock can be taken again, so another one holds it here."""
    code = (
        "import sys, time; from pathlib import Path; from seesay.files import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    annotation, output = mined
    other_folder = output.parent / "rooms"
    starts: dict[Path, Callable[[], object]] = {
        output: lambda: mine_boxes(annotation, output),
        other_folder: lambda: write_rooms(other_folder, 2),
    }
    for folder, start in starts.items():
        with subprocess.Popen(
            [sys.executable, "-c", code, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "held\n"
            with pytest.raises(UserError, match="Another process is using"):
                start()
            other.kill()


def test_rooms_of_a_killed_process_are_finished(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "seesay",
        "rooms",
        "-o",
        str(tmp_path / "killed"),
        "-n",
        "30",
        "--quiet",
    ]
    with subprocess.Popen(command) as process:
        while process.poll() is None and not (tmp_path / "killed/images/2.jpg").exists():
            time.sleep(0.005)
        process.kill()
        assert process.wait() == -signal.SIGKILL
    with pytest.raises(UserError, match="was started with count 30, not 29: name a new folder"):
        write_rooms(tmp_path / "killed", 29)
    write_rooms(tmp_path / "killed", 30)
    write_rooms(tmp_path / "whole", 30)
    contents = [
        {
            path.relative_to(folder): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        for folder in (tmp_path / "killed", tmp_path / "whole")
    ]
    assert contents[0] == contents[1]
    before = (tmp_path / "killed/truth.json").stat().st_mtime_ns
    write_rooms(tmp_path / "killed", 30)  # it is finished
    assert (tmp_path / "killed/truth.json").stat().st_mtime_ns == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other/mine.txt").touch()
    with pytest.raises(UserError, match="holds other files: choose an empty or a new folder"):
        write_rooms(tmp_path / "other", 30)
    with lock_folder(tmp_path / "locked"):
        write_rooms(tmp_path / "locked", 1)
