"""Tasks that are asked of a network while it is being trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from seesay.models.base import Model
from seesay.questions import Task
from seesay.runs.ask import Settings, run
from seesay.tasks.several import load_tasks


def watched_tasks(names: str | Task | Sequence[str | Task]) -> list[Task]:
    """Return tasks, by their names or groups where they are not loaded yet.

    Without a neutral prompt each question is asked once: a curve needs no calibration.
    """
    listed = [names] if isinstance(names, str | Task) else list(names)
    tasks, errors = load_tasks(listed)
    if errors:
        raise errors[0]
    return [replace(task, neutral={}) for task in tasks]


def measure(
    model: Model, tasks: Sequence[Task], folder: Path, settings: Settings
) -> dict[str, float]:
    """Ask the tasks, keep their runs in the folder, and return the headline figures by task.

    A task of nested sets of questions has one for each of them.
    """
    means = {}
    for task in tasks:
        for figure in run(model, task, folder, settings).figures:
            is_overall = figure.template is None and figure.slice in task.parts
            if is_overall and figure.metric == task.metrics[0]:
                part = f" {figure.slice}" if figure.slice else ""
                means[f"{task.name}{part}"] = figure.value
    return means
