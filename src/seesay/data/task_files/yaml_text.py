"""YAML as plain text values with their places, so that every message can say where.

Scalars stay as they are written: `no` is the word no, `1.0` the version 1.0, and a gold label 1
equals a cell 1. Tags (`!function`) and aliases (`*name`) are refused: nothing executes, and no file
grows when it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from seesay.data.lines import read_errors
from seesay.errors import UserError, first_line
from seesay.quantities import quantity

LARGEST = 1 << 20
DEEPEST = 12
NULLS = ("", "~", "null")
_QUOTES = "a text that begins with '[', '{' or '!', or that contains ': ', needs quotes"

Steps = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a task file, or a hint about it: one sentence and its place."""

    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    hint: bool = False

    def __str__(self) -> str:
        if not self.file and not self.line:
            return f"{self.message}."
        place = self.file
        if self.line:
            place = f"{self.file}, line {self.line}, column {self.column}"
        return f"{place}: {self.message}."


class TaskFileError(UserError):
    """A task file that cannot be used.

    The message is its first problem; `problems` has them all.
    """

    def __init__(self, path: Path, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        message = str(problems[0])
        more = len(problems) - 1
        if more:
            verb = "is" if more == 1 else "are"
            message += (
                f" There {verb} {quantity(more, 'more problem')}: "
                f"`seesay tasks check {path}` lists them all."
            )
        super().__init__(message)


@dataclass
class YamlDocument:
    """The value of a YAML file, the place of everything in it, and its syntax errors."""

    file: str
    value: Any = None
    places: dict[Steps, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def problem(
        self,
        message: str,
        at: Sequence[str | int] = (),
        *,
        hint: bool = False,
    ) -> Problem:
        """Return a problem at a path, or at the nearest thing around it that the file has."""
        path: Steps = ()
        value = self.value
        for step in at:
            in_mapping = isinstance(value, dict) and step in value
            in_list = isinstance(value, list) and type(step) is int and 0 <= step < len(value)
            # Steps that the file does not have, such as the branch of a union, are skipped.
            if in_mapping or in_list:
                path = (*path, step)
                value = value[step]
        line, column = self.places.get(path, (1, 1))
        return Problem(message, self.file, line, column, hint)


def read_yaml(path: Path) -> YamlDocument:
    """Read the document of a file.

    Syntax errors are among its problems; a file that cannot be read is a UserError.
    """
    with read_errors(path), path.open("rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        message = f"larger than {LARGEST >> 20} MB: put the rows into a file of their own"
        return YamlDocument(path.name, problems=[Problem(message, path.name)])
    try:
        return parse_yaml(raw.decode("utf-8-sig"), path.name)
    except UnicodeDecodeError:
        return YamlDocument(path.name, problems=[Problem("not UTF-8 text", path.name)])


def parse_yaml(text: str, name: str) -> YamlDocument:
    """Parse the document of a text; `name` is the file's, for messages.

    Where it breaks off it has no value: what comes later would only seem to be missing.
    """
    document = YamlDocument(name)
    try:
        _build(document, text)
        return document
    except _RefusedError as error:
        document.problems.append(Problem(error.message, name, *error.place))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (1, 1)
        if mark is not None:
            place = _place(mark)
        message = f"not YAML ({error.problem}): {_QUOTES}"
        document.problems.append(Problem(message, name, *place))
    except yaml.YAMLError as error:
        document.problems.append(Problem(f"not YAML ({first_line(error)})", name, 1, 1))
    document.value = None
    return document


def _place(mark: Any) -> tuple[int, int]:
    """Return the line and the column of one of the parser's marks, which count from 0, from 1."""
    return mark.line + 1, mark.column + 1


@dataclass
class _Frame:
    """A mapping or list that is being read.

    `path` is its own, `key` the one whose value comes next.
    """

    value: Any
    path: Steps
    key: str | None = None

    @property
    def awaits_key(self) -> bool:
        """Whether the next scalar is the name of a field and not a value."""
        return isinstance(self.value, dict) and self.key is None


def _build(document: YamlDocument, text: str) -> None:
    """Fill the document from the parser's events.

    Events need no recursion, however deep the file is.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    stack: list[_Frame] = []
    documents = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                message = "a second document begins here: one task per file"
                place = _place(event.start_mark)
                document.problems.append(Problem(message, document.file, *place))
                return
        elif isinstance(event, yaml.AliasEvent):
            raise _RefusedError(f"alias '*{event.anchor}': write the value out", event)
        elif isinstance(event, yaml.ScalarEvent | yaml.SequenceStartEvent | yaml.MappingStartEvent):
            if event.tag is not None and event.tag not in ("tag:yaml.org,2002:str", "!"):
                raise _RefusedError(f"tag '{event.tag}': nothing in a task file executes", event)
            if stack and stack[-1].awaits_key:
                _set_key(document, stack[-1], event)
            else:
                _put(document, stack, event)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            stack.pop()


def _set_key(
    document: YamlDocument,
    frame: _Frame,
    event: Any,
) -> None:
    """Take a scalar as the name of the field whose value comes next."""
    if not isinstance(event, yaml.ScalarEvent):
        raise _RefusedError("a field's name must be a word", event)
    place = _place(event.start_mark)
    if event.value in frame.value:
        message = f"field '{event.value}' appears twice"
        document.problems.append(Problem(message, document.file, *place))
    frame.key = event.value
    # A field's place is that of its name: its value may begin lines below.
    document.places[(*frame.path, event.value)] = place


def _put(
    document: YamlDocument,
    stack: list[_Frame],
    event: Any,
) -> None:
    """Put a value where it belongs: into the mapping or list that is open, or at the top."""
    value: Any
    if isinstance(event, yaml.ScalarEvent):
        # `~` in quotes is a text; a plain one is nothing.
        is_plain = event.style in (None, "") and event.implicit[0]
        value = None if is_plain and event.value in NULLS else event.value
    elif isinstance(event, yaml.SequenceStartEvent):
        value = []
    else:
        value = {}
    path: Steps = ()
    if not stack:
        document.value = value
    elif isinstance(stack[-1].value, dict):
        frame = stack[-1]
        path = (*frame.path, frame.key or "")
        frame.value[frame.key] = value
        frame.key = None
    else:
        frame = stack[-1]
        path = (*frame.path, len(frame.value))
        frame.value.append(value)
    # A value in a mapping keeps the place of its field's name, which was set before.
    document.places.setdefault(path, _place(event.start_mark))
    if not isinstance(event, yaml.ScalarEvent):
        stack.append(_Frame(value, path))
        if len(stack) > DEEPEST:
            raise _RefusedError(f"nested more than {DEEPEST} levels deep", event)


class _RefusedError(Exception):
    """Valid YAML that a task file may not hold."""

    def __init__(self, message: str, event: Any) -> None:
        self.message = message
        self.place = _place(event.start_mark)
