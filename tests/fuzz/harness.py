"""Mutated inputs through every reader, in child processes with limits of time and memory.

`python -m tests.fuzz.harness --seconds 300 [--seed N] [--reader NAME]`: what breaks the property is
written to `regressions/READER/` and replayed first from then on.

The property: a reader gives rows and reported bad rows, or raises one UserError; it takes no more
than 1 GB and 10 s of the processor, so that a busy machine finds nothing that a quiet one does not.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import secrets
import select
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tests.fuzz.model_samples import READERS
from tests.fuzz.mutate import mutate
from tests.fuzz.samples import Reader

from seesay.errors import UserError

SECONDS = 10
STUCK = 120  # of the clock, for what waits instead of computing
MEMORY = 1 << 30
BATCH = 60
REGRESSIONS = Path(__file__).parent / "regressions"


@dataclass
class Report:
    """What was tried, and what broke the property."""

    seed: str
    inputs: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        total = sum(self.inputs.values())
        refused = sum(self.refused.values())
        return (
            f"seed {self.seed}: {total} inputs for {len(self.inputs)} readers, {refused} refused "
            "with one sentence, "
            f"slowest {self.slowest:.2f} s, {len(self.failures)} failures"
        )


class TooSlowError(BaseException):
    """Raised by the alarm; not an Exception, so that no reader takes it for a bad row."""


def _on_alarm(number: int, frame: FrameType | None) -> None:
    raise TooSlowError


def try_input(reader: Reader, folder: Path, content: bytes) -> str:
    """`rows`, `refused`, or what went wrong. Runs in a child process, which may not survive it."""
    started = time.process_time()
    signal.signal(signal.SIGPROF, _on_alarm)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        reader.run(folder, content)
        outcome = "rows"
    except UserError as error:
        outcome = "refused" if str(error).strip() else "a UserError without a sentence"
    except TooSlowError:
        outcome = f"took longer than {SECONDS} s"
    except MemoryError:
        outcome = "took more than 1 GB: " + "".join(
            traceback.format_exc().strip().splitlines()[-3:]
        )
    except Exception:
        outcome = traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return f"{time.process_time() - started:.3f} {outcome}"


def run_batch(reader: Reader, contents: Sequence[bytes], report: Report) -> list[tuple[bytes, str]]:
    """Send inputs through a reader in one child; where it dies, another goes on with the next
    input."""
    failures: list[tuple[bytes, str]] = []
    begin = 0
    while begin < len(contents):
        reading, writing = os.pipe()
        with tempfile.TemporaryDirectory() as temporary:
            child = os.fork()
            if child == 0:
                _child(reader, contents[begin:], Path(temporary), writing)
            os.close(writing)
            outcomes, reason = _outcomes(reading, child)
            os.close(reading)
        for content, line in zip(contents[begin:], outcomes, strict=False):
            seconds, _, outcome = line.partition(" ")
            report.inputs[reader.name] += 1
            report.slowest = max(report.slowest, float(seconds))
            report.refused[reader.name] += outcome == "refused"
            if outcome not in ("rows", "refused"):
                failures.append((content, outcome))
        begin += len(outcomes)
        if begin < len(contents) and reason:
            report.inputs[reader.name] += 1
            failures.append((contents[begin], reason))
            begin += 1
    return failures


def _child(reader: Reader, contents: Sequence[bytes], folder: Path, writing: int) -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        (folder / "good").mkdir()
        # imports, which are no part of what an input takes
        try_input(reader, folder / "good", reader.seeds[0])
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for number, content in enumerate(contents):
            inputs = folder / str(number)
            inputs.mkdir()
            os.write(
                writing,
                try_input(reader, inputs, content).encode("utf-8", "replace")[:20_000] + b"\0",
            )
    finally:
        os._exit(0)


def _outcomes(reading: int, child: int) -> tuple[list[str], str]:
    """The outcomes that a child reported, and how it ended if it did not finish one."""
    received, reason = b"", ""
    while True:
        if not select.select([reading], [], [], STUCK)[0]:
            os.kill(child, signal.SIGKILL)  # stuck where no alarm reaches
            reason = f"did not return for {STUCK} s"
        piece = os.read(reading, 1 << 16)
        if not piece:
            break
        received += piece
    _, status = os.waitpid(child, 0)
    if not reason and os.WIFSIGNALED(status):
        reason = f"the process died of signal {os.WTERMSIG(status)}"
    return received.decode("utf-8", "replace").split("\0")[:-1], reason


def fuzz(
    seconds: float, seed: str, readers: Sequence[str] = (), keep: Path | None = None
) -> Report:
    """Give every reader its turn until the time is over; each gets one batch at least."""
    report = Report(seed)
    names = list(readers or READERS)
    end = time.monotonic() + seconds
    number = 0
    seen: set[tuple[str, str]] = set()
    while number < len(names) or time.monotonic() < end:
        reader = READERS[names[number % len(names)]]
        chance = random.Random(f"{seed} {reader.name} {number}")
        size = BATCH if seconds > 60 else max(2, reader.batch)
        contents = [mutate(chance, chance.choice(reader.seeds)) for _ in range(size)]
        for content, outcome in run_batch(reader, contents, report):
            places = [line for line in outcome.splitlines() if line.startswith("  File ")]
            kind = (reader.name, places[-1] if places else outcome)
            if kind in seen:
                continue
            seen.add(kind)
            digest = hashlib.sha256(content).hexdigest()[:12]
            if keep is not None:
                (keep / reader.name).mkdir(parents=True, exist_ok=True)
                (keep / reader.name / digest).write_bytes(content)
            report.failures.append(
                f"{reader.name} {digest} (seed {seed}, batch {number}): {outcome}"
            )
        number += 1
    return report


def replay(folder: Path) -> Report:
    """Every input that was kept, once more."""
    report = Report("replay")
    for own in sorted(path for path in folder.iterdir() if path.is_dir()):
        contents = [path.read_bytes() for path in sorted(own.iterdir())]
        report.failures += [
            outcome for _, outcome in run_batch(READERS[own.name], contents, report)
        ]
    return report


def main() -> int:
    """Fuzz for a while and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", default=secrets.token_hex(4))
    parser.add_argument("--reader", action="append", default=[], choices=sorted(READERS))
    parser.add_argument(
        "--keep", type=Path, default=REGRESSIONS, help="Where inputs go that break the property."
    )
    parser.add_argument("--replay", action="store_true", help="Only the inputs that were kept.")
    options = parser.parse_args()
    kept = replay(options.keep) if options.keep.is_dir() else Report("replay")
    print(*kept.failures, kept, sep="\n", flush=True)
    if options.replay:
        return 1 if kept.failures else 0
    print(f"seed {options.seed}, {len(options.reader or READERS)} readers", flush=True)
    report = fuzz(options.seconds, options.seed, options.reader, options.keep)
    for failure in report.failures:
        print(failure, end="\n\n")
    print(", ".join(f"{name} {count}" for name, count in sorted(report.inputs.items())))
    print(report)
    return 1 if kept.failures or report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
