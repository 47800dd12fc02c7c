"""The analyses of ViPhy's paper (Singh, Qasemi & Chen 2023), each a small table and its charts.

They are made of the questions, or of models' answers to them. A report that holds runs of ViPhy shows them and writes
their rows beside itself as JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seesay.files import write_json
from seesay.papers.viphy.gold import category_agreement, has_tag, task_analyses
from seesay.papers.viphy.scores import BY_TAG, by_tag, cross_task_analyses, learning_curves
from seesay.probes.vector_cache import VectorCache
from seesay.questions import Task
from seesay.reports.analysis import Analysis
from seesay.reports.groups import TaskRuns
from seesay.reports.pages.sections import write_page

__all__ = [
    "Analysis",
    "category_agreement",
    "cross_task_analyses",
    "found_categories",
    "learning_curves",
    "task_analyses",
]

FAMILY = "viphy"


def group_analyses(group: TaskRuns) -> list[Analysis]:
    """The analyses of a task's questions, and of models' scores by tag."""
    if not group.task.name.startswith(FAMILY):
        return []
    tagged = [by_tag(group, tag) for tag in BY_TAG if has_tag(group.task, tag)]
    return [*(analysis for analysis in tagged if analysis.rows), *task_analyses(group.task)]


def found_categories(task: Task, encoder: str) -> list[Analysis]:
    """The published categories of a task's objects compared with those that an encoder finds; nothing to compare with,
    no analysis."""
    from seesay.models.encoders import load_encoder
    from seesay.tasks.categories import assign

    published = {q.object: q.tags["category"] for q in task.questions if "category" in q.tags}
    if not published:
        return []
    categories = assign(list(published), VectorCache(load_encoder(encoder)).rows)
    return [category_agreement(categories, published, encoder)]


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
