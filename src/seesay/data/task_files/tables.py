"""Tables of a task file's rows: from files, from the Hub, or written in the task file itself.

A cell is a text, a list, a mapping or None (JSON's null, or a key that a row lacks). A row that
cannot be read is reported and costs only itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError
from seesay.data.rows import Row, Rows, column_names, format_of, read_rows
from seesay.data.task_files.hub import hub_rows, is_picture, store_picture
from seesay.data.task_files.schema_rows import Reading
from seesay.errors import UserError
from seesay.files import path_below
from seesay.questions import BadRow

Cell = Any


@dataclass
class Table:
    """Rows with their columns; `bad` are those that cannot be used, `notes` what was done to them,
    `pictures` the columns that held pictures themselves."""

    rows: list[Row] = field(default_factory=list)
    columns: dict[str, None] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pictures: set[str] = field(default_factory=set)


def read_file(path: Path, reading: Reading, *, pictures: bool = False) -> Table:
    """The rows of a file; `pictures` that they hold are stored as files if wanted."""
    kind = reading.format or format_of(path)
    delimiter = "\t" if kind == "tsv" else reading.delimiter
    columns = reading.columns
    rows = read_rows(
        path,
        format=kind,
        delimiter=delimiter,
        columns=columns,
        strip=reading.strip,
        list_key=reading.list,
    )
    table = _table(rows, reading, pictures)
    if kind in ("csv", "tsv"):
        # also where no row is usable
        table.columns = dict.fromkeys(columns or column_names(path, delimiter))
    return table


def inside(folder: Path, name: str) -> Path:
    """A path below a folder; one that leaves it is refused."""
    path = path_below(folder, name)
    if path is None or Path(name).is_absolute():
        raise UserError(
            f"'{name[:80]}' leaves the folder of the task file, or is no name of a file: put it "
            "into it."
        )
    return path


def read_inline(rows: Sequence[Mapping[str, Any]], reading: Reading) -> Table:
    """Rows that stand in the task file."""
    return _table(_numbered(rows), reading)


def read_hub(address: str, split: str, reading: Reading, *, pictures: bool = False) -> Table:
    """Rows of a data set on the Hub, at one revision."""
    return _table(_numbered(hub_rows(address, split, reading.config)), reading, pictures)


def named(table: Table, file: str) -> Table:
    """The table with the file's name on every row."""
    rows = [row._replace(file=file) for row in table.rows]
    return Table(rows, table.columns, [replace(row, file=file) for row in table.bad], table.notes)


def joined(tables: Sequence[Table]) -> Table:
    """The rows of several files."""
    whole = Table()
    for table in tables:
        whole.rows += table.rows
        whole.bad += table.bad
        whole.columns |= table.columns
    return whole


def column_values(table: Table, column: str) -> Iterator[str]:
    """The texts of a column, row by row."""
    for row in table.rows:
        value = row.cells.get(column)
        if isinstance(value, str):
            yield value


def _numbered(rows: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    return (Row(number, dict(cells)) for number, cells in enumerate(rows, start=1))


def _table(rows: Rows, reading: Reading, pictures: bool = False) -> Table:
    table = Table()
    for row in rows:
        if isinstance(row, BadRow):
            table.bad.append(row)
            continue
        values = row.cells
        if held := [name for name, value in values.items() if is_picture(value)]:
            table.pictures.update(held)
            try:
                values = {
                    **values,
                    **{name: store_picture(values[name]) if pictures else None for name in held},
                }
            except BadValueError as error:
                table.bad.append(row.bad(str(error)))
                table.columns |= dict.fromkeys(map(str, values))
                continue
        cells = {str(name): as_cell(value, reading.strip) for name, value in values.items()}
        table.rows.append(Row(row.number, cells))
        if cells.keys() - table.columns.keys():
            table.columns |= dict.fromkeys(cells)
    return table


def as_cell(value: Any, strip: bool = True) -> Cell:
    """A value of JSON or Arrow as a cell: numbers and truth values as they are written."""
    if isinstance(value, str):
        return value.strip() if strip else value
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return [as_cell(item, strip) for item in value]
    if isinstance(value, Mapping):
        return {str(name): as_cell(item, strip) for name, item in value.items()}
    return repr(value) if isinstance(value, float) else str(value)
