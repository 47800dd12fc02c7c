"""The page of a task's questions: those whose gold answer is most likely wrong first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seesay.data.pictures import open_thumbnail
from seesay.files import write_text
from seesay.quantities import quantity
from seesay.questions import Question, Task
from seesay.reports.charts import histograms
from seesay.reports.charts.kernel import swatch
from seesay.reports.layout import render_page
from seesay.reports.pages.sections import DataTable, Section
from seesay.runs.items import Item, ItemModel

SHOWN = 60
"""Questions that are shown with their text and picture; all are in the table."""
ABOUT = (
    "`discrimination` is how steeply a question's credit rises with the ability of models, in "
    "log-odds: below 0, better models are more often wrong. `credit` is the mean over models. "
    "Where people answered, `people disagree` is the share of those who do not give the most "
    "frequent answer."
)


def write_item_page(path: Path, task: Task, model: ItemModel) -> Path:
    """Write the page of a task's item model."""
    questions = {question.id: question for question in task.questions}
    rows = [_row(item, questions[item.question], task) for item in model.items[:SHOWN]]
    has_picture = [bool(questions[row["item"].question].picture) for row in rows]
    sections = [_distributions(model), _provenance(model)]
    page = render_page(
        "items.html",
        title=f"The questions of {model.task}",
        sections=sections,
        rows=rows,
        unopened=sum(has_picture) - sum(row["picture"] is not None for row in rows),
    )
    write_text(path, page)
    return path


def _row(item: Item, question: Question, task: Task) -> dict[str, Any]:
    """Return what the page shows of a question, as its first template puts it."""
    return {
        "item": item,
        "text": task.templates[0].ask(question).question_text,
        "gold": [(label, swatch(label)) for label in item.gold],
        "rival": (item.rival, swatch(item.rival)),
        "picture": open_thumbnail(question.picture) if question.picture else None,
    }


def _distributions(model: ItemModel) -> Section:
    """Return how the questions are spread, and the numbers of all of them."""
    header = (
        "question",
        "gold",
        "good models say",
        "how often",
        "usually",
        "discrimination",
        "credit",
    )
    rows: list[Sequence[str | float | None]] = [
        (
            item.question,
            ", ".join(item.gold),
            item.rival,
            item.rival_share,
            item.rival_usual,
            item.discrimination,
            item.credit,
            item.people,
        )
        for item in model.items
    ]
    charts = [
        histograms(
            [("questions", [getattr(item, field) for item in model.items])],
            title=f"Questions by {field}",
            x_label=field,
            y_label="questions",
        )
        for field in ("discrimination", "credit")
    ]
    return Section("All questions", ABOUT, charts, DataTable((*header, "people disagree"), rows))


def _provenance(model: ItemModel) -> Section:
    """Return whose answers it rests on."""
    text = (
        f"{quantity(len(model.items), 'question')} by `{model.metric}`, "
        f"{quantity(len(model.runs), 'run')}."
    )
    runs = DataTable(["signature"], [[signature] for signature in model.runs])
    return Section("How it was made", text, (), runs)
