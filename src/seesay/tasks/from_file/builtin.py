"""The built-in tasks that are files: `from_file.builtin:NAME` loads `data/tasks/NAME.yaml`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from seesay.questions import Task
from seesay.tasks import TASK_FILES
from seesay.tasks.from_file.load import load


def __getattr__(name: str) -> Callable[[Path | None], Task]:
    path = TASK_FILES / f"{name}.yaml"
    if not path.is_file():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return partial(load, path)
