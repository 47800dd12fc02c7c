"""A task as a task file with its rows: asking it gives the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from seesay.data.splits import split_by_object
from seesay.errors import UserError
from seesay.export import copy_pictures, split_questions, yaml_text
from seesay.files import write_json_lines, write_text
from seesay.questions import (
    EDITION_MARK,
    ENGLISH,
    Instructions,
    Published,
    Question,
    Task,
    Template,
)

RESERVED = ("id", "object", "twin", "options", "gold", "picture")


@dataclass(frozen=True, slots=True)
class _Layout:
    """How questions are written as rows: what all share is written once, in the task file."""

    columns: dict[str, str]
    shared_options: bool
    plain_gold: bool
    pictures: dict[str, str]


def write(task: Task, folder: Path) -> None:
    """Write `task.yaml`, one file of JSON lines per split, and the pictures."""
    if any(question.marks for question in task.questions):
        raise UserError(
            f"A task file cannot express '{task.name}': its measures look at sets of labels that "
            "the questions mark."
        )
    parts, seed = _parts(task)
    everything = list(chain.from_iterable(parts.values()))
    layout = _Layout(
        columns={name: _column(name) for question in everything for name in question.fields},
        shared_options=len({question.options for question in everything}) == 1,
        # One label of weight 1 is written as the label itself, as a person would.
        plain_gold=all(tuple(question.gold.values()) == (1.0,) for question in everything),
        pictures=copy_pictures(everything, folder),
    )
    for split, questions in parts.items():
        rows = (_row(question, layout) for question in questions)
        write_json_lines(folder / f"{split}.jsonl", rows)
    tags = dict.fromkeys(name for question in everything for name in question.tags)
    has_twins = any(question.twin for question in everything)
    fields: dict[str, Any] = {
        "name": _new_name(task.name),
        "version": task.version,
        "title": task.title,
        "licence": task.provenance.licence,
        "citation": task.provenance.citation,
        "rows": "test.jsonl",
        # The questions are taken as they are, spaces included: their prompts must stay the same.
        "read": {"strip": False},
        "split": None if seed is None else {"seed": seed},
        "id": "id",
        "object": "object",
        "twin": "twin" if has_twins else None,
        "fields": layout.columns,
        "options": "options",
        "gold": "gold" if layout.plain_gold else {"weights": "gold"},
        "picture": "picture" if layout.pictures else None,
        "tags": {name: f"tag_{name}" for name in tags},
        "nested_by": task.nested_by,
        "templates": _templates(task.templates),
        "choice_templates": _templates(task.choice_templates),
        "qa_templates": _templates(task.qa_templates),
        "instructions": _instructions(task.templates[0].instructions),
        "linear_text": task.training.linear_text,
        "neutral": dict(task.neutral),
        "metrics": list(task.metrics),
        "published": [
            *_figures(task.published, "cloze"),
            *_figures(task.training.linear_published, "linear"),
        ],
    }
    if len(parts) > 1:
        fields["rows"] = {name: f"{name}.jsonl" for name in parts}
    if layout.shared_options:
        fields["options"] = list(everything[0].options)
    # What is empty is left out: it is the default, and a person reads the file.
    filled = {name: value for name, value in fields.items() if value or value == 0}
    write_text(folder / "task.yaml", yaml_text(filled))


def _parts(task: Task) -> tuple[dict[str, tuple[Question, ...]], int | None]:
    """Return the questions by split; or all of them, with the seed that divides them alike."""
    load_splits = task.training.load_splits
    # A seed keeps the probes' questions among those asked, which files of rows would part.
    if load_splits is not None and dict(load_splits()) == split_by_object(task.questions, 0):
        return {"test": task.questions}, 0
    return split_questions(task), None


def _new_name(name: str) -> str:
    """Return the name of the copy: a built-in task's name stays its own, and a file has no
    edition."""
    from seesay.tasks import TASKS

    if name in TASKS.names():
        return f"{name}-copy"
    return name.replace(EDITION_MARK, "-")


def _column(field: str) -> str:
    """Return the column of a field; those of RESERVED and of tags have other uses."""
    if field in RESERVED:
        return f"{field}_field"
    if field.startswith("tag_"):
        return f"field_{field}"
    return field


def _row(question: Question, layout: _Layout) -> dict[str, Any]:
    """Return the columns of a question, without what the task file says of all of them."""
    row: dict[str, Any] = {"id": question.id, "object": question.object}
    for name, value in question.fields.items():
        row[layout.columns[name]] = value
    if not layout.shared_options:
        row["options"] = list(question.options)
    row["gold"] = dict(question.gold)
    if layout.plain_gold:
        row["gold"] = question.best_label
    if question.twin:
        row["twin"] = question.twin
    if question.picture is not None:
        row["picture"] = layout.pictures[question.picture]
    for name, value in question.tags.items():
        row[f"tag_{name}"] = value
    return row


def _templates(templates: Sequence[Template]) -> dict[str, Any]:
    """Return the templates as a task file declares them."""
    entries: dict[str, Any] = {}
    for template in templates:
        entries[template.name] = template.text
        if template.words:
            entries[template.name] = {"text": template.text, "words": dict(template.words)}
    return entries


def _instructions(instructions: Instructions) -> dict[str, str]:
    """Return the instructions of a task's templates, which all have the same; none in English."""
    if instructions == ENGLISH:
        return {}
    return asdict(instructions)


def _figures(figures: Sequence[Published], how: str) -> list[dict[str, Any]]:
    """Return published figures as a task file declares them, without what is not known."""
    entries = []
    for figure in figures:
        entry = asdict(figure)
        if figure.slice is not None:
            entry["slice"] = str(figure.slice)
        # A task file takes a figure for one of a model that was asked, unless it says otherwise.
        if how != "cloze":
            entry["how"] = how
        entries.append({name: value for name, value in entry.items() if value is not None})
    return entries
