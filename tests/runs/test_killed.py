"""Killed with SIGKILL at any moment, the same command goes on and ends with the same files."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from seesay.cli import main
from seesay.runs import store

COMMAND = [
    sys.executable,
    "-m",
    "seesay",
    "probe",
    "--task",
    "core-color",
    "--resamples",
    "100",
    "--quiet",
]


def finished(arguments: list[str], output: Path) -> Path:
    """Run the command to its end in this process, which saves it the imports."""
    with pytest.raises(SystemExit) as ended:
        main([*COMMAND[3:], *arguments, "--output", str(output)])
    assert ended.value.code == 0
    (manifest,) = output.rglob(store.MANIFEST)
    return manifest.parent


def killed_again_and_again(arguments: list[str], output: Path, times: int) -> list[int]:
    """Kill the command at random moments of its asking; how far the journal had come each time."""
    draw = random.Random(0)
    came: list[int] = []
    for _ in range(times):
        before = came[-1] if came else 0
        with subprocess.Popen([*COMMAND, *arguments, "--output", str(output)]) as process:
            while process.poll() is None and size_of_journal(output) <= before:
                time.sleep(0.005)
            time.sleep(draw.uniform(0, 0.08))
            process.kill()
            code = process.wait()
        assert code == -signal.SIGKILL, "the run ended before it could be killed: make it longer"
        came.append(size_of_journal(output))
    return came


def size_of_journal(output: Path) -> int:
    return sum(path.stat().st_size for path in output.rglob(store.JOURNAL))


def assert_same(one: Path, other: Path) -> None:
    assert {p.name for p in one.iterdir()} == {p.name for p in other.iterdir()}
    for name in (store.ANSWERS, store.QUESTIONS, store.FIGURES):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert {p.name for p in one.iterdir()} <= {
        ".lock",
        store.MANIFEST,
        store.QUESTIONS,
        store.ANSWERS,
        store.FIGURES,
    }


@pytest.mark.seconds
def test_ten_kills_lose_nothing(tmp_path: Path) -> None:
    arguments = ["mock:0:120"]
    whole = finished(arguments, tmp_path / "whole")
    came = killed_again_and_again(arguments, tmp_path / "killed", times=10)
    assert came == sorted(came)
    assert came[0] < came[-1]
    assert_same(finished(arguments, tmp_path / "killed"), whole)


DIES_WRITING = """
import os, signal, sys
from pathlib import Path
from seesay.cli import main

left, replace = int(sys.argv.pop(1)), Path.replace

def counted(self, target):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)

Path.replace = counted
main()
"""


def test_killed_before_a_file_is_in_its_place(tmp_path: Path) -> None:
    """Manifest, questions, answers, figures: each in turn is written but not yet named when the
    process dies."""
    arguments = ["mock", "--limit", "20"]
    whole = finished(arguments, tmp_path / "whole")
    for nth in (1, 2, 2, 3):
        command = [sys.executable, "-c", DIES_WRITING, str(nth), *COMMAND[3:], *arguments]
        died = subprocess.run(
            [*command, "--output", str(tmp_path / "killed")], check=False, timeout=120
        )
        assert died.returncode == -signal.SIGKILL
        assert list((tmp_path / "killed").rglob(".*.unfinished"))
    assert_same(finished(arguments, tmp_path / "killed"), whole)


def test_a_real_model_goes_on_with_the_same_digits(
    tmp_path: Path, tiny_folder: Callable[[str], Path]
) -> None:
    arguments = [str(tiny_folder("gpt2")), "--limit", "12", "--batch-size", "64"]
    whole = finished(arguments, tmp_path / "whole")
    killed_again_and_again(arguments, tmp_path / "killed", times=1)
    assert_same(finished(arguments, tmp_path / "killed"), whole)
