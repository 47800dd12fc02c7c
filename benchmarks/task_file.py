"""Checking and loading a task file of 100,000 rows: `python benchmarks/task_file.py [rows]`.

Time of the clock and of the processor, and peak memory, of a process of its own, beside a process
that only reads the rows with Python's csv and fills one template.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

COLORS = ("red", "green", "blue", "white", "black", "yellow")
TASK = """\
name: many
title: The colours of many things
licence: CC0-1.0
rows: many.csv
rules:
- {drop: kind, values: [kind 99]}
- {rename: color, values: {grey: gray}}
object: thing
options: [red, green, blue, white, black, yellow]
gold: color
tags: [kind]
templates:
  is: "{thing} is [MASK]."
  color: "The color of {thing} is [MASK]."
  question: "Q: What is the color of {thing}? A: [MASK]."
"""
PEER = """\
import csv
rows = csv.DictReader(open("many.csv"))
prompts = [("The color of {thing} is [MASK].".format(**row), row["color"]) for row in rows]
"""
LOAD = (
    "from pathlib import Path; from seesay.tasks.from_file.load import load; "
    "load(Path('many.yaml'))"
)


def measure(name: str, *arguments: str) -> None:
    """Run Python with the arguments, and print what it took."""
    start = time.perf_counter()
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawn(
        sys.executable, [sys.executable, *arguments], os.environ, file_actions=quiet
    )
    _, status, usage = os.wait4(pid, 0)
    wall, processor = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
    if status:
        sys.exit(f"{name} failed")
    print(
        f"{name:24} {wall:6.2f} s {processor:6.2f} s of the processor "
        f"{usage.ru_maxrss / 1024:6.0f} MiB",
        flush=True,
    )


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        lines = "".join(f"thing number {n},{COLORS[n % 6]},kind {n % 17}\n" for n in range(rows))
        Path("many.csv").write_text("thing,color,kind\n" + lines)
        Path("many.yaml").write_text(TASK)
        measure("a bare loop", "-c", PEER)
        measure("loading", "-c", LOAD)
        measure("seesay tasks check", "-m", "seesay", "tasks", "check", "many.yaml")


if __name__ == "__main__":
    main()
