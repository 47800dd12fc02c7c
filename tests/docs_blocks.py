"""The code blocks of the documentation, and how a page is followed as a reader would."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from seesay.cli import app, main

_FENCED = re.compile(
    r'^```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"\d[\d.,]*")
_SHELL = re.compile(r"[|&;<>$*`]")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is (if any), its text."""

    language: str
    title: str | None
    text: str


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page in their order."""
    for match in _FENCED.finditer(page):
        yield Block(match["language"], match["title"], match["text"])


def command_lines(text: str) -> Iterator[str]:
    """The commands of a shell block, without comments and with continued lines joined."""
    for line in text.replace("\\\n", " ").splitlines():
        if command := re.sub(r"(^|\s+)#.*", "", line).strip():
            yield command


def seesay_calls(page: str) -> Iterator[list[str]]:
    """The arguments of every call of seesay in a page's shell blocks; a line with an ellipsis is no
    call."""
    for block in blocks(page):
        for line in command_lines(block.text) if block.language == "sh" else ():
            lexer = shlex.shlex(
                re.sub(r"^(\w+=\S+ +)+", "", line), posix=True, punctuation_chars="|&;<>"
            )
            lexer.whitespace_split = True
            for is_operator, words in itertools.groupby(lexer, lambda word: word[0] in "|&;<>"):
                name, *arguments = words
                if not is_operator and name == "seesay" and "…" not in line:
                    yield arguments


def check_call(arguments: list[str]) -> None:
    """Parse a call as the command line would, without doing anything: unknown commands and options
    are errors."""
    command, context = _program(), None
    while True:
        context = command.make_context(command.name, list(arguments), parent=context)
        rest = [*context._protected_args, *context.args] if isinstance(command, TyperGroup) else []
        if not rest:
            return
        _, command, arguments = command.resolve_command(context, rest)


@cache
def _program() -> Any:
    return get_command(app)


def follow(page: str) -> None:
    """Do what a page says, in the current folder: write its files, run its commands and Python,
    compare what it shows.

    Of a block of `text` the numbers must have been printed by the step before it; its layout is
    free.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page):
        if block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            printed = "".join(map(_run, command_lines(block.text)))
        elif block.language == "python":
            printed = _execute(block.text, namespace)
        elif block.language == "text":
            missing = [
                number
                for number in _NUMBER.findall(block.text)
                if number.rstrip(".,") not in printed
            ]
            assert not missing, f"{missing} of\n{block.text}\nis not in\n{printed}"


def _execute(text: str, namespace: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        exec(compile(text, "<documentation>", "exec"), namespace)
    return stream.getvalue()


def _run(command: str) -> str:
    """A command of seesay in this process, which saves its start; anything else in a shell."""
    if command.startswith("seesay ") and not _SHELL.search(command):
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            try:
                main(shlex.split(command)[1:])
            except SystemExit as end:
                if end.code:
                    raise AssertionError(f"{command} ended with {end.code}") from end
        return stream.getvalue()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
