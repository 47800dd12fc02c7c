"""Workers that die at random while work gets on."""

from __future__ import annotations

import os
import random
import signal
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from seesay.progress import ProgressCallback

WORKERS = (b"ray::_Worker", b"spawn_main")
"""What the command lines of workers hold: on Ray, and on this machine."""


class RandomKiller:
    """Kills a worker of this process, idle or busy, at about every other call; it is called as a
    `ProgressCallback`, so that kills come while there is work, however slow the machine is."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.killed: list[int] = []

    def __call__(self, done: int, total: int) -> None:
        pids = sorted(worker_processes())
        if pids and (not self.killed or self._chance.random() < 0.5):
            pid = self._chance.choice(pids)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                # it has ended by itself since it was listed; the next call kills another
                return
            self.killed.append(pid)

    def bars(self, title: str, unit: str) -> AbstractContextManager[ProgressCallback]:
        """The killer as `ProgressBars`."""
        return nullcontext(self)


def worker_processes() -> set[int]:
    """Return the workers that descend from this process; others may be at work beside it."""
    parents: dict[int, int] = {}
    workers = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # the name, which may hold anything, is in parentheses
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes()
        except OSError:  # it has just ended
            continue
        parents[int(folder.name)] = int(fields[1])
        # one that was killed, but whose parent has not heard of it, has no command line
        if any(name in command for name in WORKERS):
            workers.add(int(folder.name))

    def descends(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return {pid for pid in workers if descends(pid)}
