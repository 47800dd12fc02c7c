"""Peak memory and time of `probe` with many questions: a synthetic task, asked of a baseline, one
process per size.

python benchmarks/probe_memory.py [SIZE …]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (10_000, 100_000, 1_000_000)
COLORS = ("red", "green", "blue", "yellow")
LIMIT_GB = 6.0


def probe(size: int) -> None:
    """Ask one size, and print seconds by clock and processor, peak memory in MiB and the bytes of
    the run folder."""
    from seesay.models import ModelOptions, load_model
    from seesay.questions import Question, Task, Template
    from seesay.runs.ask import Settings, run

    start = time.perf_counter()
    questions = tuple(
        Question(
            f"q{i}", {"thing": f"thing {i}"}, COLORS, {COLORS[i * 7919 % 4]: 1.0}, f"thing {i // 4}"
        )
        for i in range(size)
    )
    task = Task(
        "synthetic",
        "1",
        "Synthetic",
        (Template("is", "The {thing} is [MASK]."),),
        questions,
        ("accuracy",),
    )
    del questions
    with tempfile.TemporaryDirectory() as folder:
        done = run(
            load_model("baseline:uniform", ModelOptions()),
            task,
            Path(folder),
            Settings(resamples=1000),
        )
        size_on_disk = sum(path.stat().st_size for path in done.folder.iterdir())
        assert len(done.answers) == size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{time.perf_counter() - start:.1f} {time.process_time():.1f} {peak:.0f} {size_on_disk}")


def main(sizes: list[int]) -> None:
    """The table, and whether memory grows faster than the number of questions."""
    peaks: dict[int, float] = {}
    for size in sizes:
        ended = subprocess.run(
            [sys.executable, __file__, "--probe", str(size)],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds, busy, peak, on_disk = map(float, ended.stdout.split())
        peaks[size] = peak
        print(
            f"{size:>9,} questions: {seconds:8.1f} s, {busy:6.1f} s of the processor, {peak:7,.0f} "
            "MiB, "
            f"run folder {on_disk / 2**20:,.0f} MiB",
            flush=True,
        )
    if len(peaks) > 2:  # the memory of imports alone is in every size: growth is between sizes
        (a, b, c), (x, y, z) = sorted(peaks), sorted(peaks.values())
        print(
            f"bytes per question: {(y - x) / (b - a) * 2**20:,.0f}, then "
            f"{(z - y) / (c - b) * 2**20:,.0f}"
        )
    if peaks[max(peaks)] > LIMIT_GB * 1024:
        raise SystemExit(f"more than {LIMIT_GB} GB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--probe"]:
        probe(int(sys.argv[2]))
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
