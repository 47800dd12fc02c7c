"""A task as a task file with its rows: asking it gives the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from seesay.data.splits import split_by_object
from seesay.errors import UserError
from seesay.export import copy_pictures, split_questions
from seesay.files import write_json_lines, write_text
from seesay.questions import Published, Question, Task, Template

RESERVED = ("id", "object", "options", "gold", "picture")


def write(task: Task, folder: Path) -> None:
    """Write `task.yaml`, one file of JSON lines per split, and the pictures."""
    if any(question.marks or question.twin for question in task.questions):
        raise UserError(
            f"A task file cannot express '{task.name}': its measures compare each question with "
            "the same one asked "
            "otherwise."
        )
    parts, seed = _parts(task)
    everything = [question for questions in parts.values() for question in questions]
    shared = len({question.options for question in everything}) == 1
    plain = all(tuple(question.gold.values()) == (1.0,) for question in everything)
    names = {name: _column(name) for question in everything for name in question.fields}
    pictures = copy_pictures(everything, folder)
    for split, questions in parts.items():
        rows = (_row(question, names, shared, plain, pictures) for question in questions)
        write_json_lines(folder / f"{split}.jsonl", rows)
    tags = dict.fromkeys(name for question in everything for name in question.tags)
    file: dict[str, Any] = {
        "name": _new_name(task.name),
        "version": task.version,
        "title": task.title,
        "licence": task.licence,
        "citation": task.citation,
        "rows": {name: f"{name}.jsonl" for name in parts} if len(parts) > 1 else "test.jsonl",
        "read": {"strip": False},
        "split": {"seed": seed} if seed is not None else None,
        "id": "id",
        "object": "object",
        "fields": names,
        "options": list(everything[0].options) if shared else "options",
        "gold": "gold" if plain else {"weights": "gold"},
        "picture": "picture" if pictures else None,
        "tags": {name: f"tag_{name}" for name in tags},
        "nested_by": task.nested_by,
        "templates": _templates(task.templates),
        "choice_templates": _templates(task.choice_templates),
        "linear_text": task.linear_text,
        "neutral": dict(task.neutral),
        "metrics": list(task.metrics),
        "published": [
            *_figures(task.published, "cloze"),
            *_figures(task.linear_published, "linear"),
        ],
    }
    text = yaml.safe_dump(
        {name: value for name, value in file.items() if value or value == 0},
        sort_keys=False,
        allow_unicode=True,
        width=110,
    )
    write_text(folder / "task.yaml", text)


def _parts(task: Task) -> tuple[dict[str, tuple[Question, ...]], int | None]:
    """The questions by split; or all of them, with the seed that divides them in the same way."""
    if task.load_splits is not None and dict(task.load_splits()) == split_by_object(
        task.questions, 0
    ):
        return {"test": task.questions}, 0
    return split_questions(task), None


def _new_name(name: str) -> str:
    """A built-in task's name stays its own."""
    from seesay.tasks import TASKS

    return f"{name}-copy" if name in TASKS.names() else name


def _column(field: str) -> str:
    """The column of a field; those of RESERVED and of tags have other uses."""
    if field in RESERVED:
        return f"{field}_field"
    return f"field_{field}" if field.startswith("tag_") else field


def _row(
    question: Question, names: dict[str, str], shared: bool, plain: bool, pictures: dict[str, str]
) -> dict[str, Any]:
    row: dict[str, Any] = {"id": question.id, "object": question.object}
    row |= {names[name]: value for name, value in question.fields.items()}
    if not shared:
        row["options"] = list(question.options)
    row["gold"] = next(iter(question.gold)) if plain else dict(question.gold)
    if question.picture is not None:
        row["picture"] = pictures[question.picture]
    return row | {f"tag_{name}": value for name, value in question.tags.items()}


def _templates(templates: Sequence[Template]) -> dict[str, Any]:
    return {
        each.name: {"text": each.text, "words": dict(each.words)} if each.words else each.text
        for each in templates
    }


def _figures(figures: Sequence[Published], how: str) -> list[dict[str, Any]]:
    rows = [{**asdict(figure), "slice": figure.slice and str(figure.slice)} for figure in figures]
    rows = [{name: value for name, value in row.items() if value is not None} for row in rows]
    if how == "cloze":
        return rows
    return [{**row, "how": how} for row in rows]
