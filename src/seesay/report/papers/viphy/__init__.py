"""The analyses of ViPhy's paper (Singh, Qasemi & Chen 2023), each a small table and its charts.

They are made of the questions, or of models' answers to them. A report that holds runs of ViPhy shows them and writes
their rows beside itself as JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seesay.files import write_json
from seesay.questions import Task
from seesay.report.groups import TaskRuns
from seesay.report.pages.sections import write_page
from seesay.report.papers.viphy import gold, scores
from seesay.report.papers.viphy.agreement import category_agreement
from seesay.report.papers.viphy.analysis import Analysis
from seesay.report.papers.viphy.scores import learning_curves

__all__ = [
    "Analysis",
    "category_agreement",
    "cross_task_analyses",
    "group_analyses",
    "learning_curves",
    "task_analyses",
    "write_analyses",
    "write_rows",
]

FAMILY = "viphy"


def task_analyses(task: Task) -> list[Analysis]:
    """The analyses of a task's questions."""
    return gold.analyses(task)


def group_analyses(group: TaskRuns) -> list[Analysis]:
    """The analyses of a task's questions, and of models' scores by tag."""
    if not group.task.name.startswith(FAMILY):
        return []
    by_tag = [scores.by_tag(group, tag) for tag in scores.BY_TAG if gold.has_tag(group.task, tag)]
    return [*(analysis for analysis in by_tag if analysis.rows), *gold.analyses(group.task)]


def cross_task_analyses(groups: Sequence[TaskRuns]) -> list[Analysis]:
    """The analyses that need several tasks."""
    return scores.size_sets(groups)


def write_analyses(path: Path | str, title: str, analyses: Sequence[Analysis]) -> Path:
    """Write analyses on a page of their own, and their rows beside it."""
    page = write_page(path, title, [analysis.section for analysis in analyses])
    write_rows(page, analyses)
    return page


def write_rows(page: Path, analyses: Sequence[Analysis]) -> None:
    """Write the rows of all analyses beside the page. An empty list is written only over an older file."""
    path = page.with_suffix(".analyses.json")
    if analyses or path.exists():
        write_json(path, [analysis.record for analysis in analyses], indent=None)
