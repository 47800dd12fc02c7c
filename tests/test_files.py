"""Files are written whole, folders are held by one process, and resumable work keeps its
settings."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seesay.errors import NewerVersionError, UserError
from seesay.files import (
    atomic_folder,
    atomic_write,
    damage_as_user_error,
    escape_formulas,
    is_used,
    lock_folder,
    path_below,
    read_settings,
    refuse_newer,
    refuse_other_settings,
    remove_unfinished,
    write_json,
    write_text,
)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(OSError, match="No space"), atomic_write(path) as unfinished:  # noqa: PT012
        unfinished.write_text("half")
        raise OSError(28, "No space left on device")
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]
    assert path.read_text() == "old"


def test_a_write_makes_its_folders_and_replaces_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.json"
    for value in ({"x": 1}, {"x": "ü"}):
        write_json(path, value)
    assert json.loads(path.read_text(encoding="utf-8")) == {"x": "ü"}
    with pytest.raises(ValueError, match="Out of range"):
        write_json(path, float("nan"))
    assert json.loads(path.read_text(encoding="utf-8")) == {"x": "ü"}


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    with pytest.raises(RuntimeError), atomic_folder(folder) as unfinished:  # noqa: PT012
        (unfinished / "part").write_text("1")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with atomic_folder(folder) as unfinished:
        (unfinished / "part").write_text("1")
        assert not folder.exists()
    assert (folder / "part").read_text() == "1"


def test_of_two_processes_that_make_a_folder_the_first_to_finish_wins(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    with atomic_folder(folder) as unfinished:
        (unfinished / "part").write_text("second")
        with atomic_folder(folder) as other:
            (other / "part").write_text("first")
    assert (folder / "part").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def _hold(folder: Path) -> None:
    with lock_folder(folder):
        (folder / "held").touch()
        time.sleep(60)


def test_a_folder_is_held_until_its_process_is_killed(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_hold, args=(tmp_path,))
    process.start()
    deadline = time.monotonic() + 60
    while not (tmp_path / "held").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    with (
        pytest.raises(
            UserError, match=r"Another process is using .*: wait for it, or take a rest\."
        ),
        lock_folder(tmp_path, hint="take a rest"),
    ):
        pass
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    (tmp_path / ".answers.1234abcd.unfinished").write_text("half")
    with lock_folder(tmp_path), lock_folder(tmp_path):  # within one process it can be held twice
        assert not list(tmp_path.glob("*unfinished*"))


def test_what_a_crash_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".a.1.unfinished").write_text("half a file")
    (tmp_path / ".b.2.unfinished").mkdir()
    (tmp_path / "kept.unfinished").touch()
    remove_unfinished(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.unfinished"]


def test_other_settings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    refuse_other_settings(
        path, {"rate": 0.1, "seed": 0}, what="The training", hint="give another folder"
    )
    refuse_other_settings(
        path, {"seed": 0, "rate": 0.1}, what="The training", hint="give another folder"
    )
    with pytest.raises(
        UserError, match=r"The training was started with rate 0\.1, not 0\.2: give another folder"
    ):
        refuse_other_settings(
            path, {"rate": 0.2, "seed": 0}, what="The training", hint="give another folder"
        )
    path.write_text("{")
    with pytest.raises(UserError, match="is damaged"):
        refuse_other_settings(path, {"rate": 0.1}, what="The training", hint="give another folder")


def test_settings_of_a_newer_version_say_so(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    refuse_other_settings(path, {"seed": 0}, what="The training", hint="give another folder")
    assert read_settings(path, what="The training", hint="give another folder") == {
        "format": 1,
        "seed": 0,
    }
    write_json(path, {"format": 2, "seeds": [0]})
    sentence = (
        r"^The training was written by a newer version of seesay "
        r"\(format 2, this one reads 1\): update seesay"
    )
    with pytest.raises(NewerVersionError, match=sentence):
        read_settings(path, what="The training", hint="give another folder")
    with pytest.raises(NewerVersionError, match=sentence):
        refuse_other_settings(path, {"seed": 0}, what="The training", hint="give another folder")


@pytest.mark.parametrize(
    "document", [{}, {"format": 3}, {"format": 2}, {"format": "9"}, {"format": None}, [4], None, 5]
)
def test_what_is_not_of_a_newer_format_is_for_others_to_judge(document: object) -> None:
    refuse_newer(document, 3, "It")
    with pytest.raises(NewerVersionError, match="It was written by a newer version"):
        refuse_newer({"format": 4}, 3, "It")


def test_a_newer_version_is_no_damage() -> None:
    with pytest.raises(NewerVersionError), damage_as_user_error("It", "delete it"):
        refuse_newer({"format": 2}, 1, "It")


def test_a_path_stays_below_its_folder(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "in").mkdir()
    assert path_below(tmp_path, "in/x") == tmp_path / "in/x"
    assert path_below(tmp_path, "in/x/../../in") == tmp_path / "in"
    for name in (
        "..",
        "/etc",
        "out/passwd",
        "loop",
        "loop/x",
        "x" * 300,
        "x/" * 3000,
        "a\0b",
        "\ud800",
    ):
        assert path_below(tmp_path, name) is None, name


def test_what_killed_processes_left_behind_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "page [1].html"
    code = (
        "import os, sys; from pathlib import Path; from seesay.files import atomic_folder, "
        "write_text\n"
        "Path.replace = lambda self, target: os.kill(os.getpid(), 9)\n"
        "with atomic_folder(Path(sys.argv[1]).with_name('new')): write_text(Path(sys.argv[1]), "
        "'half')"
    )
    assert (
        subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode
        == -signal.SIGKILL
    )
    assert len(list(tmp_path.iterdir())) == 2
    with atomic_write(path) as unfinished:  # this process is alive
        unfinished.write_text("other", encoding="utf-8")
        write_text(path, "whole")
        assert set(tmp_path.iterdir()) == {path, unfinished}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_with_leftovers_of_a_crash_alone_is_not_used(tmp_path: Path) -> None:
    assert not is_used(tmp_path / "missing")
    for name in (".lock", ".settings.json.12ab.unfinished"):
        (tmp_path / name).write_text("")
    assert not is_used(tmp_path)
    (tmp_path / "notes.txt").write_text("")
    assert is_used(tmp_path)


def test_a_spreadsheet_computes_nothing_of_a_text() -> None:
    row = {"a": "=1+1", "b": "+1", "c": "-x", "d": "@SUM(A1)", "e": "\t=1", "f": -1.5, "g": "x=1"}
    assert escape_formulas(row) == {
        "a": "'=1+1",
        "b": "'+1",
        "c": "'-x",
        "d": "'@SUM(A1)",
        "e": "'\t=1",
        "f": -1.5,
        "g": "x=1",
    }
