"""The built-in tasks that are files: `from_file.builtin:NAME` loads `data/tasks/NAME.yaml`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from seesay.data.task_files.reader import read_declaration
from seesay.data.task_files.schema import TaskFile
from seesay.data.task_files.yaml_text import TaskFileError
from seesay.questions import Task
from seesay.tasks import TASK_FILES
from seesay.tasks.from_file.load import load


@cache
def read_builtin(name: str) -> TaskFile:
    """Return what the file of a built-in task declares, whether or not its data is there.

    Papers' tables show its published figures and templates without asking anything.
    """
    declaration = read_declaration(_path(name))
    if declaration.file is None:
        raise TaskFileError(declaration.path, declaration.problems)
    return declaration.file


def __getattr__(name: str) -> Callable[[Path | None], Task]:
    path = _path(name)
    if not path.is_file():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return partial(load, path)


def _path(name: str) -> Path:
    """Return where the file of a built-in task is, whether or not there is one."""
    return TASK_FILES / f"{name}.yaml"
