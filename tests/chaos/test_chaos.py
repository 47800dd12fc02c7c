"""Commands that are killed, that find the disk full or closed, and that run twice at once lose and mix up nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.chaos.commands import COMMANDS

KILLS = 10


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_kills_full_disks_closed_folders_and_two_at_once_change_no_byte(name: str) -> None:
    """In a process of its own: it forks, and imports what the command needs."""
    command = [sys.executable, "-m", "tests.chaos.harness", name, "--kills", str(KILLS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert int(done.stdout.partition(" kills landed")[0].rpartition(" ")[2]) >= KILLS
    assert done.stdout.count(f"{name}: ") == 4


def test_every_command_that_writes_is_disturbed() -> None:
    """A command with --output is listed here, or belongs to those that write one file by the one atomic writer."""
    source = Path(__file__).parents[2] / "src" / "seesay" / "cli"
    writing = {path.stem for path in source.glob("*.py") if '"--output"' in path.read_text(encoding="utf-8")}
    one_page = {"paper", "training_output"}
    files = {"tasks": "task_files", "reasoner sweep": "reasoner_sweep", "reasoner diagnose": "reasoner_diagnose"}
    disturbed = {files.get(name) or files.get(name.split()[0], name.split()[0]) for name in COMMANDS}
    assert writing - one_page == disturbed - {"score", "perplexity", "data"}  # these have no --output
