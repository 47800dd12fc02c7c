"""Kill a command again and again while it writes its folder, then compare with a run that nobody
disturbed.

`python -m tests.chaos.harness [NAME …] [--kills 10] [--seed N]`. A command runs in a forked child
of this process, which has the imports; SIGKILL comes at a random moment of the time that an
undisturbed run takes.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.chaos.commands import COMMANDS, Command

_VOLATILE = {
    *(
        "created",
        "command",
        "environment",
        "seconds",
        "minutes",
        "finished",
        "pictures_per_second",
        "settings_command",
    ),
}
"""What says when, where or how fast: the same work may differ in it."""
_THIRD_CELL = rb"(<tr>(?:<td><bdi>[\d.,]+</bdi></td>){2})<td><bdi>[\d,]+</bdi></td>"
_TIMES = rb"\d+(\.\d+)? (s|seconds|min|minutes)\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?"


def spawn(command: Command, folder: Path, before: Callable[[], None] | None = None) -> int:
    """The process of the command, working in `folder`."""
    child = os.fork()
    if child:
        return child
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        os.environ |= dict(command.settings)
        log = os.open("log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        if before:
            before()
        sys.argv = ["seesay", *command.arguments]
        from seesay.cli import main

        main(list(command.arguments))
        os._exit(0)
    except SystemExit as ended:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code if isinstance(ended.code, int) else int(ended.code is not None))
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        os._exit(70)


def wait(child: int) -> int:
    """The exit code; minus the signal if it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(
    command: Command, folder: Path, before: Callable[[], None] | None = None
) -> tuple[int, str]:
    """Run to the end; its exit code and what it printed."""
    code = wait(spawn(command, folder, before))
    return code, (folder / "log.txt").read_text(encoding="utf-8", errors="replace")


def kill_at(command: Command, folder: Path, seconds: float) -> bool:
    """Kill it, and whatever it started, after this time; whether it was still running."""
    child = spawn(command, folder)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)  # not reaped yet, so that the number is still its own
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    return wait(child) == -signal.SIGKILL


def contents(command: Command, folder: Path) -> dict[str, Any]:
    """The files that the command wrote, without what says when it ran and where."""
    files: dict[str, Any] = {}
    for path in (
        sorted((folder / command.output).rglob("*")) if (folder / command.output).is_dir() else []
    ):
        if path.is_file() and path.name != ".lock":
            files[str(path.relative_to(folder))] = stable(path)
    if (folder / command.output).is_file():
        files[command.output] = stable(folder / command.output)
    return files


def stable(path: Path) -> Any:
    """A file's bytes; of JSON and CSV the values, and of a page its text, without times."""
    raw = path.read_bytes()
    if path.suffix == ".json":
        return _without(json.loads(raw))
    if path.suffix == ".jsonl":
        return [_without(json.loads(line)) for line in raw.splitlines()]
    if path.suffix == ".csv":
        return [_without(row) for row in csv.DictReader(raw.decode().splitlines())]
    if path.suffix in (".html", ".md"):
        return re.sub(
            _TIMES,
            b"",
            re.sub(_THIRD_CELL, rb"\1", raw) if b"<bdi>seconds</bdi></th>" in raw else raw,
        )
    return raw


def _without(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without(item) for key, item in value.items() if key not in _VOLATILE}
    return [_without(item) for item in value] if isinstance(value, list) else value


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The files that only one has, or that differ."""
    return sorted(
        name
        for name in {*one, *other}
        if name not in one or name not in other or one[name] != other[name]
    )


class Trial:
    """A command with its inputs, and what it writes when nobody disturbs it; it is run twice to
    know that."""

    def __init__(self, name: str, place: Path, seed: str) -> None:
        self.command, self.place, self.seed = COMMANDS[name], place, seed
        self.command.load()
        (place / "inputs").mkdir()
        self.command.prepare(place / "inputs")
        began = time.monotonic()
        folder, log = self.finish()
        self.seconds = time.monotonic() - began
        self.whole = contents(self.command, folder)
        assert self.whole, f"{name} wrote nothing: {log[-2000:]}"
        written = [folder / self.command.output, *(folder / self.command.output).rglob("*")]
        self.largest = max(path.stat().st_size for path in written if path.is_file())
        self.compare(self.finish()[0], "two undisturbed runs")

    def folder(self) -> Path:
        """A new folder to work in, with the inputs in it. It is always in the same place, which
        some files name."""
        shutil.rmtree(self.place / "here", ignore_errors=True)
        return shutil.copytree(self.place / "inputs", self.place / "here")

    def finish(self, folder: Path | None = None, after: str = "undisturbed") -> tuple[Path, str]:
        """Run to the end, in a new folder or in one where it was disturbed."""
        folder = folder or self.folder()
        code, log = run(self.command, folder)
        done = code == 2 and "give the name of a new folder" in log  # killed when all was written
        assert code == 0 or (done and after != "undisturbed"), (
            f"{after}, it ends with {code}: {log[-2000:]}"
        )
        return folder, log

    def compare(self, folder: Path, after: str) -> None:
        """Every file is the same as in the undisturbed run."""
        different = differences(self.whole, contents(self.command, folder))
        assert not different, f"{after}: {self.command.name} differs in {different}"

    def kill(self, kills: int) -> str:
        """Kill until so many kills have landed, finishing the work now and then."""
        chance = random.Random(f"{self.seed} {self.command.name}")
        landed = tries = runs = 0
        while landed < kills:
            folder = self.folder()
            for _ in range(chance.randint(1, 6)):
                tries += 1
                if not kill_at(self.command, folder, chance.uniform(0.02, self.seconds)):
                    break
                landed += 1
            self.finish(folder, "after kills")
            self.compare(folder, "after kills")
            runs += 1
            assert tries < 40 * kills, "kills do not land"
        return f"{landed} kills landed in {tries} tries, {runs} runs the same in every byte"

    def full(self) -> str:
        """A disk that ends in the middle (files of limited size): no traceback, no half file taken
        for a whole one."""
        chance = random.Random(f"{self.seed} {self.command.name} full")
        codes = []
        folder = self.folder()
        for _ in range(3):
            limit = chance.randint(16, max(self.largest - 1, 17))

            def before(limit: int = limit) -> None:
                # write() then fails with EFBIG, as ENOSPC elsewhere
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

            code, log = run(self.command, folder, before)
            codes.append(code)
            assert "Traceback" not in log, f"files of {limit} bytes at most: {log[-2500:]}"
            if code == 0:
                self.compare(folder, "a full disk went unnoticed")
        self.finish(folder, "after a full disk")
        self.compare(folder, "after a full disk")
        return f"exit codes {codes} on a full disk, then the same bytes"

    def two(self) -> str:
        """The same command twice at once: each ends whole or refuses in a sentence, and the folder
        is whole."""
        folder = self.folder()
        codes = sorted(map(wait, [spawn(self.command, folder), spawn(self.command, folder)]))
        log = (folder / "log.txt").read_text(encoding="utf-8", errors="replace")
        assert set(codes) <= {0, 2}, f"{codes}: {log[-2000:]}"
        assert "Traceback" not in log, log[-2000:]
        if 0 not in codes:
            self.finish(folder, "after two at once")
        self.compare(folder, "two processes at once")
        return f"exit codes {codes} of two at once, the same bytes"

    def read_only(self) -> str:
        """A place that cannot be written to: one sentence. The superuser may write everywhere, but
        not below /proc."""
        place, nowhere = self.command.output, "/proc/sys/nowhere/out"

        def moved(part: str) -> str:
            return (
                nowhere + part.removeprefix(place)
                if part == place or part.startswith(f"{place}/")
                else part
            )

        settings = tuple((name, moved(value)) for name, value in self.command.settings)
        changed = replace(
            self.command, arguments=tuple(map(moved, self.command.arguments)), settings=settings
        )
        code, log = run(changed, self.folder())
        assert code != 0, log[-1500:]
        assert "Traceback" not in log, f"where nothing can be written: {log[-2500:]}"
        return f"exit code {code} where nothing can be written"


def disturb(name: str, seed: str, kills: int) -> Iterator[str]:
    """One line for each kind of disturbance; raises AssertionError at a difference."""
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        trial = Trial(name, Path(temporary), seed)
        yield f"{name}: {trial.kill(kills)}"
        yield f"{name}: {trial.full()}"
        yield f"{name}: {trial.two()}"
        yield f"{name}: {trial.read_only()}"


def main() -> int:
    """Disturb commands, and print what happened to each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*COMMANDS, []])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", default=str(time.time_ns()))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    failures = 0
    for name in options.names or COMMANDS:
        try:
            for line in disturb(name, options.seed, options.kills):
                print(line, flush=True)
        except AssertionError as error:
            failures += 1
            print(f"FAILED {name}: {error}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
