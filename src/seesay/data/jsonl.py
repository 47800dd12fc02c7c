"""Reading other people's text files line by line: bounded, checked, and every unusable line reported.

A file is never trusted to be what its name says. One bad line costs that line; a file without a good one is an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn, TypeVar

from seesay.errors import UserError
from seesay.questions import SEPARATOR, SLOT, BadRow

T = TypeVar("T")
Record = Mapping[str, object]

LONGEST_LINE = 65_536
MOST_LINES = 1_000_000
LONGEST_TEXT = 100


class BadValueError(ValueError):
    """Why a row cannot be used."""


def lines(path: Path) -> Iterator[tuple[int, str | BadRow]]:
    """The lines of a UTF-8 file with their numbers (from 1), blank ones left out; an unreadable one as a BadRow."""
    number = 0
    try:
        with path.open("rb") as file:
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                if number > MOST_LINES:
                    raise UserError(f"{path} has more than {MOST_LINES:,} lines: this is not a file that seesay knows.")
                if len(raw) > LONGEST_LINE:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(LONGEST_LINE)
                    yield number, BadRow(number, f"longer than {LONGEST_LINE:,} bytes")
                    continue
                try:
                    line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError:
                    yield number, BadRow(number, "not UTF-8 text")
                    continue
                if line.strip():
                    yield number, line
    except FileNotFoundError:
        raise UserError(f"There is no file {path}.") from None
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error


def read(path: Path, parse: Callable[[Record], T]) -> tuple[dict[int, T], list[BadRow]]:
    """Every line of a JSON lines file through `parse`, by line number, and the lines that could not be used.

    `parse` raises BadValueError for a row it cannot take.
    """
    good: dict[int, T] = {}
    bad: list[BadRow] = []
    for number, line in lines(path):
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
        value = json.loads(line, parse_constant=_not_a_number)
    except (ValueError, RecursionError):
        raise BadValueError("not JSON") from None
    if not isinstance(value, dict):
        raise BadValueError("not a JSON object")
    return value


def _not_a_number(constant: str) -> NoReturn:
    raise ValueError(constant)


def text(record: Record, key: str, *, empty: bool = False) -> str:
    """A short piece of running text, fit to stand in a prompt."""
    if key not in record:
        raise BadValueError(f"'{key}' is missing")
    value = record[key]
    if not isinstance(value, str):
        raise BadValueError(f"'{key}' is not a text")
    return wording(value, key, empty=empty)


def wording(value: str, key: str, *, empty: bool = False) -> str:
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
