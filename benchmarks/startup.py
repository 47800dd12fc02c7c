"""Start-up: processor seconds of `seesay --help` and of `seesay probe` up to the first question, with transformers
imported as usual and without what asking never uses, in turn."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys

REPEATS = 5

AS_USUAL = """
import importlib, sys
from contextlib import nullcontext
from seesay.models.hf import light_imports, loading
def import_as_usual():
    for name in light_imports.MODULES:
        importlib.import_module(name)
    return importlib.import_module("transformers")
loading.import_transformers, loading.without_compiler = import_as_usual, nullcontext
"""
LOAD = "import seesay; seesay.load_model('smollm2-q4')"
HELP = "from seesay.cli import main; main(['--help'])"


def seconds(program: str) -> float:
    """Processor time of a program, which other programs on this machine change less than its duration."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    programs = {
        "seesay --help": HELP,
        "import torch": "import torch",
        "load smollm2-q4, as usual": AS_USUAL + LOAD,
        "load smollm2-q4": LOAD,
    }
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(REPEATS):
        for name, program in programs.items():
            times[name].append(seconds(program))
    for name, measured in times.items():
        print(f"{name:<28}{statistics.median(measured):6.2f} s  (best {min(measured):.2f})")


if __name__ == "__main__":
    main()
