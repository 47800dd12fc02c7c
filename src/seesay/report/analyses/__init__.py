"""The analyses of ViPhy's paper, each a small table and its drawing: of the questions, and of models' answers to them.

A report that holds runs of ViPhy shows them and writes them beside itself as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from seesay.questions import Task
from seesay.report.analyses import gold, scores
from seesay.report.analyses.agreement import categories
from seesay.report.analyses.base import Analysis
from seesay.report.analyses.scores import few_shot
from seesay.report.charts import write_page
from seesay.report.groups import Group
from seesay.runs.store import write_text

__all__ = ["Analysis", "categories", "few_shot", "of_group", "of_groups", "of_task", "write", "write_json"]

FAMILY = "viphy"


def of_group(group: Group) -> list[Analysis]:
    """What a task's questions are like, and how models fare on their parts."""
    if not group.task.name.startswith(FAMILY):
        return []
    parts = [scores.by_tag(group, tag) for tag in scores.BY_TAG if gold.has(group.task, tag)]
    return [*(part for part in parts if part.rows), *gold.analyses(group.task)]


def of_groups(groups: Sequence[Group]) -> list[Analysis]:
    """What only several tasks together can show."""
    return scores.size_sets(groups)


def write(path: Path | str, title: str, found: Sequence[Analysis]) -> Path:
    """Analyses on a page of their own, for data that no model has been asked about yet; their rows beside it."""
    page = write_page(path, title, [analysis.section for analysis in found])
    write_json(page, found)
    return page


def of_task(task: Task) -> list[Analysis]:
    """What a task's questions are like."""
    return gold.analyses(task)


def write_json(page: Path, found: Sequence[Analysis]) -> Path | None:
    """The rows of all analyses, beside the page. Where there are none, none are written but over an older file."""
    path = page.with_suffix(".analyses.json")
    if not found and not path.exists():
        return None
    text = json.dumps([analysis.record for analysis in found], ensure_ascii=False, allow_nan=False) + "\n"
    write_text(path, text.encode("utf-8", "replace").decode())
    return path
