"""CSV and TSV tables with a header: a row that cannot be used is reported and costs only itself."""

from __future__ import annotations

import csv
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from seesay.data.jsonl import BadValueError, prompt_text, read_rows
from seesay.errors import UserError
from seesay.questions import BadRow

T = TypeVar("T")
Cells = dict[str, str]


def read_csv(
    path: Path,
    columns: Sequence[str],
    parse: Callable[[Cells], T],
    *,
    key: Callable[[T], Hashable] | None = None,
    delimiter: str = ",",
) -> tuple[list[T], list[BadRow]]:
    """Every row through `parse`, and the rows that could not be used.

    `parse` gets the cells of `columns`, checked to be usable in a prompt, and raises BadValueError for a row it cannot
    take. Of rows with the same `key` the first one counts.
    """
    numbered = read_rows(path)
    header = _header(path, columns, next(numbered, None), delimiter)
    good: list[T] = []
    bad: list[BadRow] = []
    seen: dict[Hashable, int] = {}
    for number, line in numbered:
        if isinstance(line, BadRow):
            bad.append(line)
            continue
        try:
            value = parse(_cells(line, header, columns, delimiter))
            identity = number if key is None else key(value)
            if identity in seen:
                raise BadValueError(f"repeats row {seen[identity]}")
        except BadValueError as error:
            bad.append(BadRow(number, str(error)))
            continue
        seen[identity] = number
        good.append(value)
    if not good:
        first = f" (row {bad[0].row}: {bad[0].reason})" if bad else " (nothing follows its header)"
        raise UserError(f"{path} holds no row that can be used{first}. Is it the right file?")
    return good, bad


def column_names(path: Path, delimiter: str = ",") -> list[str]:
    """The column names of a table, so that a reader can tell which of several layouts it has."""
    return _header(path, (), next(read_rows(path), None), delimiter)


def one_of(value: str, allowed: Iterable[str], column: str) -> str:
    """The value, if it is one of the words that the column may hold."""
    names = list(allowed)
    if value not in names:
        raise BadValueError(f"'{column}' is {value!r}, not one of {', '.join(map(repr, names))}")
    return value


def split_words(cell: str, column: str) -> tuple[str, ...]:
    """The parts of a cell that lists several words with `;` between them."""
    parts = tuple(part.strip() for part in cell.split(";"))
    if not all(parts):
        raise BadValueError(f"'{column}' has an empty part: {cell!r}")
    if len(set(parts)) < len(parts):
        raise BadValueError(f"'{column}' names a word twice: {cell!r}")
    return parts


def _header(path: Path, columns: Sequence[str], first: tuple[int, str | BadRow] | None, delimiter: str) -> list[str]:
    line = "" if first is None or isinstance(first[1], BadRow) else first[1]
    try:
        header = [name.strip() for name in _split(line, delimiter)]
    except BadValueError:
        header = []
    missing = [name for name in columns if header.count(name) != 1]
    if missing:
        refuse_other_separator(path, header, delimiter)
        rule = f"{path} needs a first line that names the columns {', '.join(columns)} once each"
        raise UserError(f"{rule}: look at {', '.join(missing)}.")
    return header


def refuse_other_separator(path: Path, header: Sequence[str], delimiter: str) -> None:
    """Say which character separates the columns of a file whose header is one column of several names."""
    names = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ",": "commas"}
    if len(header) == 1:
        for other, name in names.items():
            if other != delimiter and other in header[0]:
                raise UserError(
                    f"The columns of {path} are separated by {name}, not by {names.get(delimiter, delimiter)}."
                )


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True, delimiter=delimiter), [])
    except csv.Error as error:
        raise BadValueError(f"not CSV ({error})") from None


def _cells(line: str, header: Sequence[str], columns: Sequence[str], delimiter: str) -> Cells:
    cells = _split(line, delimiter)
    if len(cells) != len(header):
        raise BadValueError(f"has {len(cells)} cells where the header has {len(header)}")
    row = dict(zip(header, cells, strict=True))
    return {name: prompt_text(row[name], name, empty=True) for name in columns}
