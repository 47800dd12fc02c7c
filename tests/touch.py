"""Work for worker processes that leaves traces. Each of them imports this module when it starts, so
that it imports nothing that takes time."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from seesay.errors import UserError

PARTS = [f"part-{i}" for i in range(6)]


class Touch:
    """Writes a part's file and the process that began it; one part waits a while, so that it can be
    killed."""

    def __init__(self, folder: Path, slow: str = "", fail: str = "", deadly: str = "") -> None:
        self._folder, self._slow, self._fail, self._deadly = folder, slow, fail, deadly
        (folder / f"created-{os.getpid()}-{time.time_ns()}").touch()

    def __call__(self, part: str) -> str:
        if part == self._fail:
            raise UserError("This part is bad: fix it.")
        if self._fail == f"bug in {part}":
            raise KeyError(part)
        begun = self._folder / f"begun-{part}"
        first = not begun.exists()
        begun.write_text(str(os.getpid()))
        if part == self._deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if first and part == self._slow:
            time.sleep(60)
        (self._folder / part).touch()
        return f"result of {part}"
