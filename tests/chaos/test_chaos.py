"""Commands that are killed, that find the disk full or closed, and that run twice at once lose and
mix up nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.chaos.commands import COMMANDS

from seesay.cli import command_addresses, load_command

KILLS = 10


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_kills_full_disks_closed_folders_and_two_at_once_change_no_byte(name: str) -> None:
    """In a process of its own: it forks, and imports what the command needs."""
    command = [sys.executable, "-m", "tests.chaos.harness", name, "--kills", str(KILLS)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert int(done.stdout.partition(" kills landed")[0].rpartition(" ")[2]) >= KILLS
    assert done.stdout.count(f"{name}: ") == 4


AT_ONCE = {
    "paper",
    "pictures show",
    "pretrain curve",
    "pretrain features",
    "reasoner curve",
    "reasoner import",
    "relations page",
    "scenes show",
    "scenes stats",
    "tasks items",
    "tasks lite",  # by the writer of `tasks export`
    "tasks new",
}
"""Commands that write one file or one folder, by the one atomic writer of each."""
NO_OUTPUT_OPTION = {"data add", "perplexity", "score captions"}


def test_every_command_that_writes_is_disturbed() -> None:
    """A command with --output is listed here, or belongs to those that write one file or folder
    at once."""
    writing = {
        name
        for command in command_addresses()
        for name, leaf in _leaves(command, load_command(command))
        if any("--output" in parameter.opts for parameter in leaf.params)
    }
    disturbed = {"tasks export" if name.startswith("tasks export ") else name for name in COMMANDS}
    assert writing - AT_ONCE == disturbed - NO_OUTPUT_OPTION


def _leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """The commands that do something, by the words that call them."""
    subcommands = getattr(command, "commands", {})
    if not subcommands:
        yield name, command
    for word, subcommand in subcommands.items():
        yield from _leaves(f"{name} {word}", subcommand)
