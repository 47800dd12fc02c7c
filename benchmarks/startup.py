"""Start-up: processor seconds of `seesay --help`, of the default model's conversion, which is done
once, and of `seesay probe` up to the first question, in turn with those of PyTorch's own import.

    python benchmarks/startup.py [CHECKOUT] [--repeats 3] [--first-table] [--imports]

With another CHECKOUT of seesay, such as an earlier one, loading and conversion are timed with its
sources in the same run. `--first-table`: seconds by the clock, stage by stage, of the first command
of `make demo` with empty caches, once. `--imports`: the processor seconds of what each command
imports when it runs.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import typer

import seesay.cli

REPEATS = 3

CONVERT = """
import os, tempfile
from seesay.models.catalogue import CATALOGUE
from seesay.models.hf.gguf import convert_gguf
weights = CATALOGUE["smollm2"].fetch()
with tempfile.TemporaryDirectory() as folder:
    os.environ["SEESAY_CACHE"] = folder
    convert_gguf(weights)
"""
LOAD = "import seesay; seesay.load_model('smollm2')"
HELP = "from seesay.cli import main; main(['--help'])"

FIRST_TABLE = ("probe", "smollm2", "baseline:majority", "--limit", "10", "--output", "first-look")
STAGES = {
    "Fetching": "start",
    "Converting": "fetch",
    "smollm2 · core-color …": "convert and load",
    "Loading baseline": "ask",
    "task, model": "score",
}
"""What `probe` says when the stage of that name is over, in this order."""


def seconds(program: str, sources: Path | None = None) -> float:
    """Processor time of a program, which other programs on this machine change less than its
    duration."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    if sources is not None:
        environment["PYTHONPATH"] = str(sources)
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_table() -> str:
    """The seconds from the command to its first table, and those of each stage."""
    stages: dict[str, float] = {}
    waiting = list(STAGES.items())
    with tempfile.TemporaryDirectory() as folder:
        start = before = monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "seesay", *FIRST_TABLE],
            cwd=folder,
            env={**os.environ, "SEESAY_CACHE": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout
        for line in process.stdout:
            if waiting and line.startswith(waiting[0][0]):
                _, stage = waiting.pop(0)
                stages[stage] = monotonic() - before
                before = monotonic()
        assert process.wait() == 0
        assert not waiting, f"it did not say '{waiting[0][0]}'"
    parts = ", ".join(f"{stage} {spent:.1f}" for stage, spent in stages.items())
    return f"first table: {before - start:.1f} s ({parts})"


def main(
    checkout: Path | None = None,
    *,
    repeats: int = REPEATS,
    with_first_table: bool = False,
    with_imports: bool = False,
) -> None:
    programs: dict[str, tuple[str, Path | None]] = {
        "seesay --help": (HELP, None),
        "import torch": ("import torch", None),
        "load smollm2": (LOAD, None),
        "convert smollm2": (CONVERT, None),
    }
    if checkout is not None:
        sources = (checkout / "src").resolve(strict=True)
        programs["load smollm2, checkout"] = (LOAD, sources)
        programs["convert smollm2, checkout"] = (CONVERT, sources)
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(repeats):
        for name, (program, program_sources) in programs.items():
            times[name].append(seconds(program, program_sources))
    for name, measured in times.items():
        print(f"{name:<28}{statistics.median(measured):6.2f} s  (best {min(measured):.2f})")
    if with_first_table:
        print(first_table())
    if not with_imports:
        return
    imports = {
        " ".join(path): seconds(imports_of(command))
        for path, command in commands(typer.main.get_command(seesay.cli.app))
    }
    for name, spent in sorted(imports.items(), key=lambda pair: -pair[1]):
        print(f"imports of seesay {name:<24}{spent:6.2f} s")


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command below one, with its name."""
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))
    if not hasattr(command, "commands"):
        yield path, command


def imports_of(command: Any) -> str:
    """A program that imports the command line and what a command imports when it runs."""
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(command.callback)))
    statements = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    return "\n".join(["import seesay.cli", *map(ast.unparse, statements)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", nargs="?", type=Path)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--first-table", action="store_true")
    parser.add_argument("--imports", action="store_true")
    given = parser.parse_args()
    main(
        given.checkout,
        repeats=given.repeats,
        with_first_table=given.first_table,
        with_imports=given.imports,
    )
