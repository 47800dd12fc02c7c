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
    "templates": schema.TemplateText,
    "choice_templates": schema.TemplateText,
}


@dataclass
class Declaration:
    """A task file as it was read: what it declares, where, and what is wrong. Without `file`
    nothing can be built."""

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
        if self.path.stem != "task":
            stem = self.path.stem
        else:
            stem = self.path.resolve().parent.name
        return re.sub(r"[^a-z0-9._-]+", "-", stem.lower()).strip("-._")[:64] or "task"

    def add(self, message: str, *at: str | int, hint: bool = False) -> None:
        """Report a problem at a path of the file."""
        self.problems.append(self.document.problem(message, at, hint=hint))


def locate(path: Path) -> Path:
    """The task file of a path: that file, or the one in a folder."""
    if not path.is_dir():
        return path
    files = sorted(file for suffix in SUFFIXES for file in path.glob(f"*{suffix}"))
    named = [file for file in files if file.stem in ("task", path.resolve().name)]
    if len(named) == 1 or len(files) == 1:
        return (named or files)[0]
    names = ", ".join(file.name for file in files[:5])
    raise UserError(
        f"'{path}' has "
        f"{f'several task files ({names}): name one' if files else 'no task file (*.yaml)'}."
    )


def read_declaration(path: Path, text: str | None = None) -> Declaration:
    """Read a task file, or the text of one. What is wrong with one field does not hide what is
    wrong with another."""
    document = read_yaml(path) if text is None else parse_yaml(text, path.name)
    declaration = Declaration(path, document, problems=list(document.problems))
    if not isinstance(document.value, dict):
        if not document.problems:
            declaration.add("a task file is a mapping of fields, such as `rows: fruit.csv`")
        return declaration
    try:
        declaration.file = TaskFile.model_validate(document.value)
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        for detail in wrong:
            declaration.add(_message(detail), *detail["loc"])
        declaration.problems.sort(key=lambda problem: (problem.line, problem.column))
        declaration.file = _without(document.value, [detail["loc"] for detail in wrong])
    return declaration


def _without(value: dict[str, Any], places: list[tuple[str | int, ...]]) -> TaskFile | None:
    """What remains of a file without its wrong parts, so that the rest of it is checked too.

    None where a part is wrong, or seems to be misspelt, that decides what a row is: everything
    after it would look wrong as well.
    """
    content = copy.deepcopy(value)
    for place in places:
        name = str(place[0]) if place else "rows"
        meant = did_you_mean(name, [field for field in TaskFile.model_fields if field not in value])
        if name in DECISIVE or any(f"'{field}'" in meant for field in DECISIVE):
            return None
        if (
            name in ("templates", "choice_templates")
            and isinstance(content.get(name), dict)
            and len(place) > 1
        ):
            content[name].pop(place[1], None)
        else:
            content.pop(name, None)
    try:
        return TaskFile.model_validate(content)
    except ValidationError:
        return None


def _message(detail: ErrorDetails) -> str:
    """What pydantic found, as a sentence about the field."""
    name = next(
        (str(step) for step in reversed(detail["loc"]) if not str(step).startswith("<")), "the file"
    )
    kind = detail["type"]
    if kind in ("too_short", "too_long"):
        least, most = (detail["ctx"].get(bound) for bound in ("min_length", "max_length"))
        bounds = f"at least {least}" if kind == "too_short" else f"at most {most}"
        return f"'{name}' needs {bounds} entries, and has {detail['ctx']['actual_length']}"
    if kind == "missing":
        return f"'{name}' is missing"
    if kind == "extra_forbidden":
        return f"unknown field '{name}'{did_you_mean(name, _siblings(detail['loc']))}"
    if kind in ("value_error", "rule"):
        return detail["msg"].removeprefix("Value error, ")
    if kind == "string_pattern_mismatch":
        return f"'{name}' is {detail['input']!r}: use small letters, digits, '-', '.' and '_'"
    wanted = detail["msg"].removeprefix("Input should be ")
    value = detail["input"]
    if value is None:
        shown = "empty"
    else:
        shown = f"a {'list' if isinstance(value, list) else 'mapping'}"
    shown = repr(value) if isinstance(value, str) else shown
    return f"'{name}' is {shown}: it should be {wanted[:1].lower()}{wanted[1:]}"


def _siblings(location: tuple[str | int, ...]) -> list[str]:
    """The fields that may stand where an unknown one does."""
    if len(location) == 1:
        return list(TaskFile.model_fields)
    if location[0] == "rules":
        kind = row_rules.KINDS.get(str(location[2]).strip("<>"))
        if kind:
            return list(kind.model_fields)
        return list(row_rules.KINDS)
    part = _PARTS.get(str(location[0]))
    return list(part.model_fields) if part else []
