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
        if self.line:
            place = f"{self.file}, line {self.line}, column {self.column}"
        else:
            place = self.file
        if place:
            return f"{place}: {self.message}."
        return f"{self.message}."


class TaskFileError(UserError):
    """A task file that cannot be used. The message is its first problem; `problems` has them
    all."""

    def __init__(self, path: Path, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        more = len(problems) - 1
        if more:
            others = f" There {'is' if more == 1 else 'are'} {quantity(more, 'more problem')}: "
        else:
            others = ""
        super().__init__(
            f"{problems[0]}{others}{f'`seesay tasks check {path}` lists them all.' if more else ''}"
        )


@dataclass
class YamlDocument:
    """The value of a YAML file, the place of everything in it, and what was wrong with its
    syntax."""

    file: str
    value: Any = None
    places: dict[Steps, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def problem(self, message: str, at: Sequence[str | int] = (), *, hint: bool = False) -> Problem:
        """A problem at a path, or at the nearest thing around it that the file has."""
        path: Steps = ()
        value = self.value
        # steps that the file does not have, such as the branch of a union, are skipped
        for step in at:
            if isinstance(value, dict):
                inside = value
            elif isinstance(value, list):
                inside = dict(enumerate(value))
            else:
                inside = {}
            if step in inside:
                path = (*path, step)
                value = inside[step]
        line, column = self.places.get(path, (1, 1))
        return Problem(message, self.file, line, column, hint)


def read_yaml(path: Path) -> YamlDocument:
    """The document of a file. Syntax errors are among its problems; a file that cannot be read is a
    UserError."""
    with read_errors(path), path.open("rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        problem = Problem(
            f"larger than {LARGEST >> 20} MB: put the rows into a file of their own", path.name
        )
        return YamlDocument(path.name, problems=[problem])
    try:
        return parse_yaml(raw.decode("utf-8-sig"), path.name)
    except UnicodeDecodeError:
        return YamlDocument(path.name, problems=[Problem("not UTF-8 text", path.name)])


def parse_yaml(text: str, name: str) -> YamlDocument:
    """The document of a text; `name` is the file's, for messages."""
    document = YamlDocument(name)
    try:
        _build(document, text)
    except _RefusedError as error:
        document.problems.append(Problem(error.message, name, *error.place))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        document.problems.append(
            Problem(f"not YAML ({error.problem}): {_QUOTES}", name, line, column)
        )
    except yaml.YAMLError as error:
        document.problems.append(Problem(f"not YAML ({first_line(error)})", name, 1, 1))
    return document


@dataclass
class _Frame:
    """A mapping or list that is being read; `path` is its own, `key` the one whose value comes
    next."""

    value: Any
    path: Steps
    key: str | None = None


def _build(document: YamlDocument, text: str) -> None:
    """Fill the document from the parser's events, which need no recursion however deep the file
    is."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    stack: list[_Frame] = []
    documents = 0
    for event in yaml.parse(text, Loader=loader):
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                document.problems.append(
                    Problem(
                        "a second document begins here: one task per file", document.file, *place
                    )
                )
                return
        elif isinstance(event, yaml.AliasEvent):
            raise _RefusedError(f"alias '*{event.anchor}': write the value out", event)
        elif isinstance(event, yaml.ScalarEvent | yaml.SequenceStartEvent | yaml.MappingStartEvent):
            if event.tag is not None and event.tag not in ("tag:yaml.org,2002:str", "!"):
                raise _RefusedError(f"tag '{event.tag}': nothing in a task file executes", event)
            frame = stack[-1] if stack else None
            if frame is not None and isinstance(frame.value, dict) and frame.key is None:
                if not isinstance(event, yaml.ScalarEvent):
                    raise _RefusedError("a field's name must be a word", event)
                if event.value in frame.value:
                    where = Problem(f"field '{event.value}' appears twice", document.file, *place)
                    document.problems.append(where)
                frame.key = event.value
                document.places[(*frame.path, event.value)] = place
                continue
            _put(document, stack, event, place)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            stack.pop()


def _put(document: YamlDocument, stack: list[_Frame], event: Any, place: tuple[int, int]) -> None:
    """Put a value where it belongs: into the mapping or list that is open, or at the top."""
    value: Any
    if isinstance(event, yaml.ScalarEvent):
        plain_null = event.value in NULLS and event.style in (None, "") and event.implicit[0]
        value = None if plain_null else event.value
    else:
        value = [] if isinstance(event, yaml.SequenceStartEvent) else {}
    path: Steps = ()
    if stack:
        frame = stack[-1]
        if isinstance(frame.value, dict):
            path = (*frame.path, frame.key or "")
            frame.value[frame.key] = value
            frame.key = None
        else:
            path = (*frame.path, len(frame.value))
            frame.value.append(value)
    else:
        document.value = value
    document.places.setdefault(path, place)
    if not isinstance(event, yaml.ScalarEvent):
        stack.append(_Frame(value, path))
        if len(stack) > DEEPEST:
            raise _RefusedError(f"nested more than {DEEPEST} levels deep", event)


class _RefusedError(Exception):
    """Valid YAML that a task file may not hold."""

    def __init__(self, message: str, event: Any) -> None:
        self.message = message
        self.place = (event.start_mark.line + 1, event.start_mark.column + 1)
