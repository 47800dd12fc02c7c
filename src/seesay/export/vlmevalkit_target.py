"""A task for VLMEvalKit: one table per template, whose cells hold the pictures in base64.

Its loader reads the table with pandas, which takes some texts for missing cells or for numbers:
tasks that have such options are refused.
"""

from __future__ import annotations

import base64
import csv
import io
import re
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.export import refuse, task_parts
from seesay.export.lettered import (
    LETTERS,
    choice_templates,
    lettered_row,
    refuse_many_options,
)
from seesay.export.lm_eval_target import slugs_of
from seesay.files import write_text
from seesay.questions import Question, Task, Template

# What pandas takes for a missing cell, apart from what it takes for a number.
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "None", "n/a", "null"),
    *("-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN"),
)
_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


def write(task: Task, folder: Path) -> None:
    """Write NAME.tsv per template, to be put into VLMEvalKit's folder of data."""
    refuse(task, "VLMEvalKit")
    refuse_many_options(task, "VLMEvalKit")
    templates = choice_templates(task)
    parts = task_parts(task)
    template_slugs = slugs_of([template.name for template in templates])
    part_slugs = slugs_of(list(parts))
    (task_slug,) = slugs_of([task.name]).values()
    for part, nested in parts.items():
        name = task_slug
        if part:
            name = f"{task_slug}_{part_slugs[part]}"
        for template in templates:
            path = folder / f"{name}_{template_slugs[template.name]}.tsv"
            write_text(path, _table(nested, template))


def _table(task: Task, template: Template) -> str:
    """Return the table of one template."""
    widths = {len(question.options) for question in task.questions}
    columns = ["index", "id", "object", "image", "question", *LETTERS[: max(widths)], "answer"]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    for index, question in enumerate(task.questions):
        row = _row(task, template, question)
        for cell in (row["question"], *row["options"].values()):
            _refuse_cell(task, cell, has_gaps=len(widths) > 1)
        writer.writerow({"index": index, **row.pop("options"), **row})
    return text.getvalue()


def _row(task: Task, template: Template, question: Question) -> dict[str, Any]:
    """Return the cells of a question, its options by their letters."""
    # VLMEvalKit leaves out rows without a picture, and knows one right letter.
    if question.picture is None or not Path(question.picture).is_file():
        raise UserError(f"VLMEvalKit cannot express '{task.name}': '{question.id}' has no picture.")
    row = lettered_row(task, template, question)
    if len(row["target"]) > 1:
        raise UserError(
            f"VLMEvalKit cannot express '{task.name}': '{question.id}' has several right answers."
        )
    picture = base64.b64encode(Path(question.picture).read_bytes()).decode()
    return {
        "id": row["id"],
        "object": question.object,
        "image": picture,
        "question": row["input"],
        "options": dict(zip(LETTERS, row["choices"], strict=False)),
        "answer": row["target"],
    }


def _refuse_cell(task: Task, text: str, *, has_gaps: bool) -> None:
    """Refuse a text that pandas would change: it would be asked in other words, or not at all."""
    is_number = True
    try:
        float(text)
    except ValueError:
        is_number = False
    # a column of whole numbers stays one, unless cells of it are empty
    if is_number and not has_gaps and _WHOLE_NUMBER.fullmatch(text):
        return
    if is_number or text in MISSING or "\0" in text or "\r" in text:
        raise UserError(
            f"VLMEvalKit cannot express '{task.name}': its reader of tables would change {text!r}."
        )
