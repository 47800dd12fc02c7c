"""What the help says, and what a shell offers when somebody presses Tab."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.program import seesay
from tests.together.every_command import commands
from typer import Context
from typer.main import get_command

from seesay.cli import app, command_addresses, command_groups, load_command
from seesay.cli.completion import (
    complete_datasets,
    complete_models,
    complete_papers,
    complete_tasks,
    complete_ways,
)


def test_every_command_is_in_one_group() -> None:
    names = [name for group in command_groups().values() for name in group]
    assert sorted(names) == sorted(command_addresses())
    shown = seesay("--help").stdout
    for title, group in command_groups().items():
        section = shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert re.findall(r"^  (\w+) ", section, re.MULTILINE) == group


@pytest.mark.seconds
def test_examples_stand_unbroken_at_the_end_of_the_help_and_parse() -> None:
    """Every example is a command line that the parser takes."""
    examples: list[str] = []
    for words in commands(get_command(app)):
        if not words:
            continue
        command = load_command(words[0])
        for word in words[1:]:
            command = command.get_command(None, word)
        examples += getattr(command, "examples", [])
    assert len(examples) > 20
    for example in examples:
        program, name, *arguments = example.split()
        assert program == "seesay"
        command = load_command(name)
        while hasattr(command, "get_command"):
            context = command.make_context(name, list(arguments), resilient_parsing=True)
            name, command, arguments = command.resolve_command(context, arguments)
        command.make_context(name, list(arguments))
    assert "\n  seesay probe smollm2 baseline:majority --task core-color --limit 100\n" in (
        seesay("probe", "--help", COLUMNS="60").stdout
    )


def test_values_are_called_what_they_are() -> None:
    shown = seesay("probe", "--help").stdout
    for value in ("--task TASK", "--device cpu|cuda|mps|auto", "--base-url URL", "--report FILE"):
        assert value in shown


def test_names_are_completed() -> None:
    assert complete_models("smo") == ["smollm2"]
    assert "baseline:majority" in complete_models("base")
    bare = Context(get_command(app))
    offered = ["core-color,core-size", "core-color,core-space"]
    assert complete_tasks(bare, "core-color,core-s") == offered
    assert complete_ways("li") == ["linear", "linear-question"]
    assert "viphy" in complete_papers("")
    assert complete_datasets("memory") == ["memory-colors"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("seesay probe smo", "smollm2"),
        ("seesay probe mock --task core-col", "core-color"),
        ("seesay probe mock --how gen", "generate"),
        ("seesay probe mock --contamination --task core-s", "core-size"),
        ("seesay paper mal", "malevic"),
        ("seesay data fetch vs", "vsr"),
        ("seesay judge serve core-p", "core-parts"),
        ("seesay tasks core-p", "core-parts"),
    ],
)
def test_a_shell_offers_them(line: str, offered: str) -> None:
    # the variable is called after the program: `python -m seesay` has another name
    program = Path(sys.executable).with_name("seesay")
    request = {"_SEESAY_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    done = subprocess.run(
        [program], capture_output=True, text=True, check=False, env={**os.environ, **request}
    )
    assert re.findall(r'"([^"]+)"', done.stdout) == [offered]
    assert done.stderr == ""
