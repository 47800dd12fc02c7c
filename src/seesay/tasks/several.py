"""Several tasks at once, by name or group."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from seesay.errors import UserError
from seesay.quantities import quantity
from seesay.questions import Task, name_edition, split_edition
from seesay.tasks import TASKS, expand, load_task, task_card
from seesay.tasks.repetitions import (
    describe_objects_alike,
    describe_repetition,
    repeated_questions,
)

BAD_ROWS_SHOWN = 5
REPETITIONS_SHOWN = 3

log = logging.getLogger(__name__)


def load_tasks(
    names_and_tasks: Sequence[str | Task],
    data: Path | None = None,
    edition: str | None = None,
    validate: Callable[[str], None] | None = None,
) -> tuple[list[Task], list[UserError]]:
    """Return the tasks, and why some members of a group could not be loaded.

    Rows that cannot be used are reported, and of a user's own rows those that ask the same or are
    about objects that seem to be one.

    A task that was named must load; of a group, those that can are asked. With `edition`, that
    draw of each is taken; `validate` refuses a name before anything is loaded.
    """
    typed = [item for item in names_and_tasks if isinstance(item, str)]
    tasks = [item for item in names_and_tasks if isinstance(item, Task)]
    if edition is not None and tasks:
        raise UserError(f"--edition draws tasks by their names: name '{tasks[0].name}'.")
    names = expand(typed)
    if not names and not tasks:
        raise UserError("--task names no task: `seesay tasks` lists them.")
    if data is not None and len({task_card(name).needs or name for name in names}) > 1:
        raise UserError(f"--data goes with one data set, not with those of {', '.join(names)}.")
    typed_names = {part.strip() for text in typed for part in text.split(",")}
    errors: list[UserError] = []
    for name in names:
        try:
            if validate is not None:
                validate(name)
            drawn_name = name if edition is None else name_edition(name, edition)
            tasks.append(load_task(drawn_name, data))
        except UserError as error:
            # A task that was asked for by its own name must not be left out in silence; of a
            # group, the others are still asked.
            if name in typed_names:
                raise
            errors.append(error)
    if not tasks:
        raise errors[0]
    for task in tasks:
        _report_bad_rows(task)
        _report_doubles(task, data)
    return tasks, errors


def _report_bad_rows(task: Task) -> None:
    """Log which rows of the data file were left out, the first few by name."""
    bad_rows = task.provenance.bad_rows
    if not bad_rows:
        return
    lines = [
        f"{task.name}: {quantity(len(bad_rows), 'bad row')} left out, "
        f"{quantity(len(task.questions), 'question')} kept."
    ]
    lines += [f"  {row}" for row in bad_rows[:BAD_ROWS_SHOWN]]
    more = len(bad_rows) - BAD_ROWS_SHOWN
    if more > 0:
        lines.append(f"  … and {more} more (`seesay tasks {task.name}`)")
    log.warning("%s", "\n".join(lines))


def _report_doubles(task: Task, data: Path | None) -> None:
    """Log what a user's own rows have twice: what is published is known to be so."""
    is_published = data is None and split_edition(task.name)[0] in TASKS.names()
    if not is_published:
        _report_repetitions(task)
        _report_objects_alike(task)


def _report_repetitions(task: Task) -> None:
    """Log which rows of a user ask the same, those that contradict each other first: all of them
    count."""
    # nested sets are of the same questions
    if task.nested_by:
        return
    repeated = repeated_questions(task)
    if not repeated:
        return
    count = quantity(len(repeated), "question")
    verb = "is" if len(repeated) == 1 else "are"
    lines = [f"{task.name}: {count} {verb} asked by several rows, and every row counts."]
    lines += [f"  {describe_repetition(group)}" for group in repeated[:REPETITIONS_SHOWN]]
    more = len(repeated) - REPETITIONS_SHOWN
    if more > 0:
        lines.append(f"  … and {more:,} more (`seesay tasks check`)")
    log.warning("%s", "\n".join(lines))


def _report_objects_alike(task: Task) -> None:
    """Log which objects of a user seem to be one, and are counted as several."""
    descriptions = describe_objects_alike(task)
    if not descriptions:
        return
    lines = [f"{task.name}: {descriptions[0]}."]
    more = len(descriptions) - 1
    if more:
        lines.append(f"  … and {more:,} more (`seesay tasks check`)")
    log.warning("%s", "\n".join(lines))
