"""Several tasks at once, by name or group."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from seesay.errors import UserError
from seesay.questions import Task
from seesay.tasks import expand, load_task, task_card

BAD_ROWS_SHOWN = 5

log = logging.getLogger(__name__)


def load_tasks(
    named: Sequence[str | Task], data: Path | None = None
) -> tuple[list[Task], list[UserError]]:
    """The tasks, and why some members of a group could not be loaded; rows that cannot be used are
    reported."""
    names = expand([task for task in named if isinstance(task, str)])
    if not names and not any(isinstance(task, Task) for task in named):
        raise UserError("--task names no task: `seesay tasks` lists them.")
    if data is not None and len({task_card(name).needs or name for name in names}) > 1:
        raise UserError(f"--data goes with one data set, not with those of {', '.join(names)}.")
    typed = {part.strip() for task in named if isinstance(task, str) for part in task.split(",")}
    tasks = [task for task in named if isinstance(task, Task)]
    errors: list[UserError] = []
    for name in names:
        try:
            tasks.append(load_task(name, data))
        except UserError as error:
            if name in typed:
                raise
            errors.append(error)  # one of a group: the others are still asked
    if not tasks:
        raise errors[0]
    for task in tasks:
        _report_bad_rows(task)
    return tasks, errors


def _report_bad_rows(task: Task) -> None:
    """Log which rows of the data file were left out, the first few by name."""
    if not task.bad_rows:
        return
    lines = [
        f"{task.name}: {len(task.bad_rows)} bad rows left out, {len(task.questions)} questions "
        "kept."
    ]
    lines += [f"  {row}" for row in task.bad_rows[:BAD_ROWS_SHOWN]]
    if len(task.bad_rows) > BAD_ROWS_SHOWN:
        lines.append(
            f"  … and {len(task.bad_rows) - BAD_ROWS_SHOWN} more (`seesay tasks {task.name}`)"
        )
    log.warning("%s", "\n".join(lines))
