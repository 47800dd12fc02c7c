"""Which of a task's metrics apply where a model is asked about the options alone."""

from __future__ import annotations

from dataclasses import replace

from seesay import metrics
from seesay.errors import UserError
from seesay.questions import Task


def without_vocabulary_metrics(task: Task) -> Task:
    """Return the task without metrics of the whole vocabulary, and without the published figures
    of these."""
    names = tuple(name for name in task.metrics if not metrics.get(name).whole_vocabulary)
    if not names:
        raise UserError(
            f"{task.metrics[0]} needs ranks among the whole vocabulary, and '{task.name}' has no "
            "other metric: ask it without --how and --layers."
        )
    published = tuple(row for row in task.published if row.metric in names)
    return replace(task, metrics=names, published=published)
