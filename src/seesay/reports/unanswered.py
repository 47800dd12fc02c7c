"""How many prompts a model gave no usable answer to: they count as wrong, so that a figure is about
them, too."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from seesay.reports.groups import TaskRuns
from seesay.runs.records import Figure
from seesay.runs.run import Run


def count_unanswered(run: Run, figure: Figure) -> int:
    """Return how many of the prompts that a figure is of have no answer."""
    rows = np.flatnonzero(run.answers.is_unanswered).tolist()
    if not rows:
        return 0
    part = figure.slice.items if figure.slice else ()
    tags = {question.id: question.tags for question in run.task.questions}
    count = 0
    for row in rows:
        is_of_template = figure.template in (None, run.answers.templates[row])
        question_tags = tags[run.answers.questions[row]]
        count += is_of_template and all(question_tags.get(tag) == value for tag, value in part)
    return count


def unanswered_words(run: Run) -> str:
    """Return how many of a run's prompts have no answer, where it is one in a hundred: "7 of 30
    prompts"."""
    count = run.answers.unanswered
    if 100 * count < len(run.answers) or not count:
        return ""
    return f"{count:,} of {len(run.answers):,} prompts"


def unanswered_note(groups: Iterable[TaskRuns]) -> str:
    """Return whose figures of which tasks are about prompts without an answer, too; "" where there
    are none."""
    counts = []
    for group in groups:
        for entry in group.entries:
            words = unanswered_words(entry.run)
            if words:
                counts.append(f"{entry.label} on {group.name}, {words}")
    if not counts:
        return ""
    return f"Prompts without an answer count as wrong: {'; '.join(counts)}."
