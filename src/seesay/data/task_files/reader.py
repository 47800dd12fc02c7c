"""From a task file to its declaration, with everything that is wrong with it at once."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from seesay.data.task_files import row_rules, schema, schema_rows
from seesay.data.task_files.pairs import Pairs
from seesay.data.task_files.schema import TaskFile
from seesay.data.task_files.yaml_text import Problem, YamlDocument, parse_yaml, read_yaml
from seesay.errors import UserError
from seesay.registry import did_you_mean

SUFFIXES = (".yaml", ".yml")
TABLES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
DECISIVE = ("rows", "read", "rules", "fields", "options", "gold", "pairs", "split", "dataset")
_PARTS: dict[str, type[BaseModel]] = {
    "read": schema_rows.Reading,
    "split": schema_rows.Split,
    "options": schema.Options,
    "gold": schema.Gold,
    "pairs": Pairs,
    "rows": schema_rows.SplitRows,
    "published": schema.PublishedFigure,
    "instructions": schema.InstructionTexts,
    **dict.fromkeys(schema.TEMPLATE_FIELDS, schema.TemplateText),
}


@dataclass
class Declaration:
    """A task file as it was read: what it declares, where, and what is wrong.

    Without `file` nothing can be built.
    """

    path: Path
    document: YamlDocument
    file: TaskFile | None = None
    problems: list[Problem] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """The folder that its paths are in."""
        return self.path.parent

    @property
    def name(self) -> str:
        """The task's name: its own, else that of the file or, for `task.yaml`, of the folder."""
        if self.file is not None and self.file.name:
            return self.file.name
        stem = self.path.stem
        if stem == "task":
            stem = self.path.resolve().parent.name
        # Whatever a file is called, its task's name keeps to the grammar of names.
        name = re.sub(r"[^a-z0-9._-]+", "-", stem.lower()).strip("-._")
        return name[:64] or "task"

    def add(self, message: str, *at: str | int, hint: bool = False) -> None:
        """Report a problem at a path of the file."""
        self.problems.append(self.document.problem(message, at, hint=hint))


def locate(path: Path) -> Path:
    """Return the task file of a path: that file, or the one in a folder."""
    if not path.is_dir():
        return path
    files = sorted(file for suffix in SUFFIXES for file in path.glob(f"*{suffix}"))
    if not files:
        raise UserError(f"'{path}' has no task file (*.yaml).")
    if len(files) == 1:
        return files[0]
    # Of several files, the one that is named after the folder, or plainly "task", is meant.
    obvious = [file for file in files if file.stem in ("task", path.resolve().name)]
    if len(obvious) == 1:
        return obvious[0]
    names = ", ".join(file.name for file in files[:5])
    raise UserError(f"'{path}' has several task files ({names}): name one.")


def read_declaration(path: Path, text: str | None = None) -> Declaration:
    """Read a task file, or the text of one.

    What is wrong with one field does not hide what is wrong with another.
    """
    if text is None:
        document = read_yaml(path)
    else:
        document = parse_yaml(text, path.name)
    declaration = Declaration(path, document, problems=list(document.problems))
    if not isinstance(document.value, dict):
        if not document.problems:
            declaration.add("a task file is a mapping of fields, such as `rows: fruit.csv`")
        return declaration
    try:
        declaration.file = TaskFile.model_validate(document.value)
    except ValidationError as error:
        details = error.errors(include_url=False)
        for detail in details:
            declaration.add(_message(detail), *detail["loc"])
        # In the order of the file, and not of the grammar: a user works through it from the top.
        declaration.problems.sort(key=lambda problem: (problem.line, problem.column))
        declaration.file = _without(document.value, [detail["loc"] for detail in details])
    return declaration


def _without(value: dict[str, Any], places: list[tuple[str | int, ...]]) -> TaskFile | None:
    """Return what remains of a file without its wrong parts, so that the rest is checked too.

    None where a part is wrong, or seems to be misspelt, that decides what a row is: everything
    after it would look wrong as well.
    """
    # The document itself stays whole: places of later problems are looked up in it.
    content = copy.deepcopy(value)
    absent_fields = [field for field in TaskFile.model_fields if field not in value]
    for place in places:
        name = str(place[0]) if place else "rows"
        suggestion = did_you_mean(name, absent_fields)
        if name in DECISIVE or any(f"'{field}'" in suggestion for field in DECISIVE):
            return None
        # One wrong template costs only itself: the others are checked against the columns.
        is_template = name in schema.TEMPLATE_FIELDS and len(place) > 1
        if is_template and isinstance(content.get(name), dict):
            content[name].pop(place[1], None)
        else:
            content.pop(name, None)
    try:
        return TaskFile.model_validate(content)
    except ValidationError:
        return None


def _message(detail: ErrorDetails) -> str:
    """Return an error of pydantic as a sentence about the field."""
    # Steps in angle brackets are branches of a union, which the file does not have.
    steps = [str(step) for step in detail["loc"]]
    names = [step for step in steps if not step.startswith("<")]
    name = names[-1] if names else "the file"
    match detail["type"]:
        case "too_short":
            bounds = f"at least {detail['ctx'].get('min_length')}"
            return f"'{name}' needs {bounds} entries, and has {detail['ctx']['actual_length']}"
        case "too_long":
            bounds = f"at most {detail['ctx'].get('max_length')}"
            return f"'{name}' needs {bounds} entries, and has {detail['ctx']['actual_length']}"
        case "missing":
            return f"'{name}' is missing"
        case "extra_forbidden":
            return f"unknown field '{name}'{did_you_mean(name, _siblings(detail['loc']))}"
        case "value_error" | "rule":
            return detail["msg"].removeprefix("Value error, ")
        case "string_pattern_mismatch":
            return f"'{name}' is {detail['input']!r}: use small letters, digits, '-', '.' and '_'"
    expected = detail["msg"].removeprefix("Input should be ")
    expected = expected[:1].lower() + expected[1:]
    return f"'{name}' is {_describe(detail['input'])}: it should be {expected}"


def _describe(value: Any) -> str:
    """Return a wrong value for a message: a text itself, of anything larger only its kind."""
    if value is None:
        return "empty"
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, list):
        return "a list"
    return "a mapping"


def _siblings(location: tuple[str | int, ...]) -> list[str]:
    """Return the fields that may stand where an unknown one does."""
    if len(location) == 1:
        return list(TaskFile.model_fields)
    if location[0] == "rules":
        rule = row_rules.KINDS.get(str(location[2]).strip("<>"))
        if rule is None:
            return list(row_rules.KINDS)
        return list(rule.model_fields)
    part = _PARTS.get(str(location[0]))
    if part is None:
        return []
    return list(part.model_fields)
