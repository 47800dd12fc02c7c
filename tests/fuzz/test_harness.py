"""Mutated files through every reader for a quarter of a minute, and every input that ever broke
one.

`make fuzz` goes on for minutes; `FUZZ_SECONDS` sets how long.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from tests.fuzz.harness import MEMORY, REGRESSIONS, Report, fuzz, run_batch
from tests.fuzz.model_samples import READERS
from tests.fuzz.mutate import LARGEST, mutate
from tests.fuzz.samples import Reader

from seesay.errors import UserError
from seesay.processors import KEPT_MEMORY

KEPT = sorted(path for path in REGRESSIONS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("name", READERS)
def test_every_seed_is_read(name: str, tmp_path: Path) -> None:
    """Else the fuzzer would see the first check of a reader only."""
    reader = READERS[name]
    assert reader.seeds
    for number, content in enumerate(reader.seeds):
        folder = tmp_path / str(number)
        folder.mkdir()
        reader.run(folder, content)


@pytest.mark.slow
def test_every_reader_keeps_the_property(tmp_path: Path) -> None:
    """In a process of its own, whose children are made before anything else runs in it."""
    seconds = os.environ.get("FUZZ_SECONDS", "15")
    command = [
        sys.executable,
        "-m",
        "tests.fuzz.harness",
        "--seconds",
        seconds,
        "--keep",
        str(tmp_path),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )
    print(done.stdout)
    assert done.returncode == 0, (
        f"inputs kept in {tmp_path}\n{done.stdout[-8000:]}\n{done.stderr[-2000:]}"
    )
    assert f"{len(READERS)} readers" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not KEPT, reason="no input has broken a reader yet")
def test_inputs_that_broke_a_reader(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz.harness", "--replay"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )
    assert done.returncode == 0, done.stdout
    assert f"{len(KEPT)} inputs" in done.stdout


def _outcomes(read: object) -> list[str]:
    reader = Reader("made up", "x", [b""], read)  # type: ignore[arg-type]
    return [outcome for _, outcome in run_batch(reader, [b"a", b"b", b"c"], Report("0"))]


def test_the_harness_notices_what_it_should() -> None:
    """A crash, a death, memory: each costs one input, and the others are still read."""

    def dies(path: Path) -> None:
        if path.read_bytes() == b"b":
            os.kill(os.getpid(), signal.SIGKILL)

    def grows(path: Path) -> None:
        if path.read_bytes() == b"c":
            # freed memory that the process kept makes room for more, and arenas for a little
            bytes(MEMORY + KEPT_MEMORY + (1 << 26))

    def crashes(path: Path) -> None:
        if path.read_bytes() == b"a":
            zlib.decompress(b"x")
        raise UserError("no")

    assert _outcomes(dies) == ["the process died of signal 9"]
    assert [outcome.split(":")[0] for outcome in _outcomes(grows)] == ["took more than 1 GB"]
    (crash,) = _outcomes(crashes)
    assert "zlib.error" in crash


def test_inputs_can_be_made_again() -> None:
    import random

    seeds = [seed for reader in READERS.values() for seed in reader.seeds]
    first = [mutate(random.Random(number), seed) for number, seed in enumerate(seeds * 3)]
    assert first == [mutate(random.Random(number), seed) for number, seed in enumerate(seeds * 3)]
    assert max(map(len, first)) <= LARGEST
    assert sum(one != other for one, other in zip(first, seeds * 3, strict=True)) > 0.9 * len(first)
    assert fuzz(0, "0", ["evalb"]).inputs["evalb"] > 0
