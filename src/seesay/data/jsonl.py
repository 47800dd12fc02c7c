"""JSON lines of other people, checked: a bad line is reported and costs that line only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from seesay.data.json_stream import parse_json
from seesay.data.lines import read_lines
from seesay.errors import UserError
from seesay.questions import SEPARATOR, SLOT, BadRow

T = TypeVar("T")
Record = Mapping[str, object]

MOST_LINES = 1_000_000
LONGEST_TEXT = 100


class BadValueError(ValueError):
    """Why a row cannot be used."""


def read_rows(path: Path) -> Iterator[tuple[int, str | BadRow]]:
    """The lines of a table or list with their numbers, blank ones left out."""
    rows = read_lines(path, most=MOST_LINES)
    return ((number, line) for number, line in rows if isinstance(line, BadRow) or line.strip())


def read(path: Path, parse: Callable[[Record], T]) -> tuple[dict[int, T], list[BadRow]]:
    """Every line of a JSON lines file through `parse`, by line number, and the lines that could not be used.

    `parse` raises BadValueError for a row it cannot take.
    """
    good: dict[int, T] = {}
    bad: list[BadRow] = []
    for number, line in read_rows(path):
        if isinstance(line, BadRow):
            bad.append(line)
            continue
        try:
            good[number] = parse(_record(line))
        except BadValueError as error:
            bad.append(BadRow(number, str(error)))
    if not good:
        first = f" (line {bad[0].row}: {bad[0].reason})" if bad else " (it is empty)"
        raise UserError(f"{path} holds no row that can be used{first}. Is it the right file?")
    return good, bad


def _record(line: str) -> Record:
    try:
        value = parse_json(line)
    except UnicodeEncodeError:
        raise BadValueError("holds half of a surrogate pair") from None
    except ValueError:
        raise BadValueError("not JSON") from None
    if not isinstance(value, dict):
        raise BadValueError("not a JSON object")
    return value


def text_field(record: Record, key: str, *, empty: bool = False) -> str:
    """A short text that can stand in a prompt."""
    if key not in record:
        raise BadValueError(f"'{key}' is missing")
    value = record[key]
    if not isinstance(value, str):
        raise BadValueError(f"'{key}' is not a text")
    return prompt_text(value, key, empty=empty)


def prompt_text(value: str, key: str, *, empty: bool = False) -> str:
    """The same check for a text that does not come from JSON."""
    value = value.strip()
    if len(value) > LONGEST_TEXT:
        raise BadValueError(f"'{key}' is longer than {LONGEST_TEXT} characters")
    if not value and not empty:
        raise BadValueError(f"'{key}' is empty")
    if not value.isprintable():
        raise BadValueError(f"'{key}' holds control characters")
    if SLOT in value or SEPARATOR in value:
        raise BadValueError(f"'{key}' holds {SLOT} or {SEPARATOR}")
    return value


def whole_number(record: Record, key: str, low: int, high: int) -> int:
    """A whole number within bounds."""
    if key not in record:
        raise BadValueError(f"'{key}' is missing")
    value = record[key]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadValueError(f"'{key}' is not a whole number from {low} to {high}")
    return value
