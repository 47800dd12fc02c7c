"""Kill a command again and again while it writes its folder, then compare with a run that nobody disturbed.

`python -m tests.chaos.harness [NAME …] [--kills 10] [--seed N]`. A command runs in a forked child of this process,
which has the imports; SIGKILL comes at a random moment of the time that an undisturbed run takes.
"""

from __future__ import annotations

import argparse
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
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.commands import COMMANDS, Command

_VOLATILE = {"created", "command", "environment", "seconds", "finished", "pictures_per_second", "settings_command"}
"""What says when, where or how fast: the same work may differ in it."""
_TIMES = rb"\d+(\.\d+)? (s|seconds|min)\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?"


@dataclass
class Outcome:
    """What happened to one command."""

    name: str
    kills: int = 0
    tries: int = 0
    runs: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.name}: {self.kills} kills landed in {self.tries} tries, {self.runs} runs the same in every byte"


def spawn(command: Command, folder: Path, before: Callable[[], None] | None = None) -> int:
    """The process of the command, working in `folder`."""
    child = os.fork()
    if child:
        return child
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
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


def run(command: Command, folder: Path, before: Callable[[], None] | None = None) -> tuple[int, str]:
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
    """The files that the command wrote, without what says when it ran."""
    files: dict[str, Any] = {}
    for path in sorted((folder / command.output).rglob("*")) if (folder / command.output).is_dir() else []:
        if path.is_file() and path.name != ".lock" and not any(path.match(p) for p in command.left_out):
            files[str(path.relative_to(folder))] = stable(path)
    if (folder / command.output).is_file():
        files[command.output] = stable(folder / command.output)
    return files


def stable(path: Path) -> Any:
    """A file's bytes; of JSON its values, and of a page its text, without times."""
    raw = path.read_bytes()
    if path.suffix == ".json":
        return _without(json.loads(raw))
    if path.suffix == ".jsonl":
        return [_without(json.loads(line)) for line in raw.splitlines()]
    if path.suffix in (".html", ".md"):
        return re.sub(_TIMES, b"", raw)
    return raw


def _without(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without(item) for key, item in value.items() if key not in _VOLATILE}
    return [_without(item) for item in value] if isinstance(value, list) else value


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The files that only one has, or that differ."""
    return sorted(name for name in {*one, *other} if name not in one or name not in other or one[name] != other[name])


def prepared(command: Command, inputs: Path, folder: Path) -> Path:
    """A folder to work in, with the inputs in it."""
    shutil.copytree(inputs, folder)
    return folder


def undisturbed(command: Command, inputs: Path, place: Path) -> tuple[dict[str, Any], float]:
    """What the command writes, and how long it takes."""
    folder = prepared(command, inputs, place / "whole")
    began = time.monotonic()
    code, log = run(command, folder)
    if code:
        raise AssertionError(f"{command.name} does not run: {log[-2000:]}")
    seconds = time.monotonic() - began
    files = contents(command, folder)
    assert files, f"{command.name} wrote nothing"
    again = prepared(command, inputs, place / "again")
    code, log = run(command, again)
    assert code == 0, log[-2000:]
    different = differences(files, contents(command, again))
    assert not different, f"two undisturbed runs of {command.name} differ in {different}"
    return files, seconds


def kill_often(name: str, kills: int, seed: str) -> Outcome:
    """Kill until so many kills have landed, finishing the work now and then; raises AssertionError at a difference."""
    command, outcome = COMMANDS[name], Outcome(name)
    chance = random.Random(f"{seed} {name}")
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        place = Path(temporary)
        inputs = place / "inputs"
        inputs.mkdir()
        command.prepare(inputs)
        whole, outcome.seconds = undisturbed(command, inputs, place)
        while outcome.kills < kills:
            folder = prepared(command, inputs, place / f"killed-{outcome.runs}")
            for _ in range(chance.randint(1, 6)):
                outcome.tries += 1
                if not kill_at(command, folder, chance.uniform(0.02, outcome.seconds)):
                    break
                outcome.kills += 1
            code, log = run(command, folder)
            done = code == 2 and "give the name of a new folder" in log  # killed when all was written
            assert code == 0 or done, f"after kills, the same command ends with {code}: {log[-2000:]}"
            different = differences(whole, contents(command, folder))
            assert not different, f"after kills, {name} differs in {different}"
            outcome.runs += 1
            assert outcome.tries < 40 * kills, "kills do not land"
    return outcome


def full_disk(name: str, seed: str) -> str:
    """A disk that ends in the middle (files of limited size): no traceback, no half file taken for a whole one."""
    command = COMMANDS[name]
    chance = random.Random(f"{seed} {name} full")
    codes = []
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        place = Path(temporary)
        inputs = place / "inputs"
        inputs.mkdir()
        command.prepare(inputs)
        whole, _ = undisturbed(command, inputs, place)
        largest = max(path.stat().st_size for path in (place / "whole").rglob("*") if path.is_file())
        folder = prepared(command, inputs, place / "full")
        for _ in range(3):
            limit = chance.randint(16, max(largest - 1, 17))

            def before(limit: int = limit) -> None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # write() then fails with EFBIG, as ENOSPC elsewhere
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

            code, log = run(command, folder, before)
            codes.append(code)
            assert "Traceback" not in log, f"{name} with files of {limit} bytes at most: {log[-2500:]}"
            if code == 0:
                assert not differences(whole, contents(command, folder)), "a full disk went unnoticed"
        code, log = run(command, folder)
        assert code == 0, f"after a full disk, the same command ends with {code}: {log[-2000:]}"
        different = differences(whole, contents(command, folder))
        assert not different, f"after a full disk, {name} differs in {different}"
    return f"{name}: exit codes {codes} on a full disk, then the same bytes"


def two_at_once(name: str) -> str:
    """The same command twice at the same moment: each ends whole or refuses in a sentence, and the folder is whole."""
    command = COMMANDS[name]
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        place = Path(temporary)
        inputs = place / "inputs"
        inputs.mkdir()
        command.prepare(inputs)
        whole, _ = undisturbed(command, inputs, place)
        folder = prepared(command, inputs, place / "shared")
        children = [spawn(command, folder), spawn(command, folder)]
        codes = sorted(wait(child) for child in children)
        log = (folder / "log.txt").read_text(encoding="utf-8", errors="replace")
        assert set(codes) <= {0, 2}, f"{codes}: {log[-2000:]}"
        assert "Traceback" not in log, log[-2000:]
        if 0 not in codes:
            code, log = run(command, folder)
            assert code == 0, log[-2000:]
        different = differences(whole, contents(command, folder))
        assert not different, f"two processes at once: {name} differs in {different}"
    return f"{name}: exit codes {codes} of two at once, the same bytes"


def read_only(name: str) -> str:
    """A place that cannot be written to: one sentence. The superuser may write everywhere, but not below /proc."""
    command = COMMANDS[name]
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        place = Path(temporary)
        command.prepare(place)
        arguments = tuple("/proc/sys/nowhere/out" if part == command.output else part for part in command.arguments)
        code, log = run(Command(command.name, arguments, "out", command.prepare), place)
        assert code != 0, log[-1500:]
        assert "Traceback" not in log, f"{name} where nothing can be written: {log[-2500:]}"
    return f"{name}: exit code {code} where nothing can be written"


def main() -> int:
    """Disturb commands, and print what happened to each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*COMMANDS, []])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", default=str(time.time_ns()))
    parser.add_argument("--only", choices=["kill", "full", "two", "read-only"])
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    failures = 0
    for name in options.names or COMMANDS:
        COMMANDS[name].load()
        for kind, disturb in (
            ("kill", lambda name: kill_often(name, options.kills, options.seed)),
            ("full", lambda name: full_disk(name, options.seed)),
            ("two", two_at_once),
            ("read-only", read_only),
        ):
            if options.only in (None, kind):
                try:
                    print(f"{kind}: {disturb(name)}", flush=True)
                except AssertionError as error:
                    failures += 1
                    print(f"{kind}: FAILED {name}: {error}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
