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
    """Rows with their columns.

    `bad` are the rows that cannot be used, `notes` say what was done to them, and `pictures` are
    the columns that held pictures themselves.
    """

    rows: list[Row] = field(default_factory=list)
    columns: dict[str, None] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pictures: set[str] = field(default_factory=set)


def read_file(
    path: Path,
    reading: Reading,
    *,
    pictures: bool = False,
) -> Table:
    """Read the rows of a file; with `pictures`, those that they hold are stored as files."""
    kind = reading.format or format_of(path)
    delimiter = reading.delimiter
    if kind == "tsv":
        delimiter = "\t"
    columns = reading.columns
    rows = read_rows(
        path,
        format=kind,
        delimiter=delimiter,
        columns=columns,
        strip=reading.strip,
        list_key=reading.list,
        key_column=reading.key,
    )
    table = _table(rows, reading, pictures)
    if kind in ("csv", "tsv"):
        # From the header and not from the rows: messages name columns even if no row is usable.
        table.columns = dict.fromkeys(columns or column_names(path, delimiter))
    return table


def inside(folder: Path, name: str) -> Path:
    """Return a path below a folder; one that leaves it is refused."""
    path = path_below(folder, name)
    if path is None or Path(name).is_absolute():
        raise UserError(
            f"'{name[:80]}' leaves the folder of the task file, or is not a file name: put the "
            "file into that folder."
        )
    return path


def read_inline(rows: Sequence[Mapping[str, Any]], reading: Reading) -> Table:
    """Return the rows that a task file holds itself."""
    return _table(_number_rows(rows), reading)


def read_hub(
    address: str,
    split: str,
    reading: Reading,
    *,
    folder: Path,
    pictures: bool = False,
) -> Table:
    """Read the rows of a data set on the Hub, at one revision, for a task file in a folder."""
    rows = hub_rows(address, split, reading.config, folder)
    return _table(_number_rows(rows), reading, pictures)


def name_rows(table: Table, file: str) -> Table:
    """Return the table with the file's name on every row."""
    rows = [row._replace(file=file) for row in table.rows]
    bad = [replace(row, file=file) for row in table.bad]
    return Table(rows, table.columns, bad, table.notes)


def join_tables(tables: Sequence[Table]) -> Table:
    """Return one table with the rows of several files."""
    whole = Table()
    for table in tables:
        whole.rows += table.rows
        whole.bad += table.bad
        whole.columns |= table.columns
    return whole


def column_values(table: Table, column: str) -> Iterator[str]:
    """Yield the texts of a column, row by row."""
    for row in table.rows:
        value = row.cells.get(column)
        if isinstance(value, str):
            yield value


def _number_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Return rows with their numbers, from 1."""
    return (Row(number, dict(cells)) for number, cells in enumerate(rows, start=1))


def _table(
    rows: Rows,
    reading: Reading,
    pictures: bool = False,
) -> Table:
    """Collect rows into a table, their values as cells and their pictures as files."""
    table = Table()
    for row in rows:
        if isinstance(row, BadRow):
            table.bad.append(row)
            continue
        values = dict(row.cells)
        # Nearly all cells are texts, and there may be millions.
        others = {name: value for name, value in values.items() if type(value) is not str}
        picture_columns = [name for name, value in others.items() if is_picture(value)]
        table.pictures.update(picture_columns)
        try:
            for name in picture_columns:
                values[name] = store_picture(values[name]) if pictures else None
        except BadValueError as error:
            table.bad.append(row.bad(str(error)))
            # The columns exist even if every picture is bad: a rule may refer to them.
            table.columns |= dict.fromkeys(map(str, values))
            continue
        cells = {str(name): as_cell(value, reading.strip) for name, value in values.items()}
        table.rows.append(Row(row.number, cells))
        # Rows of JSON may have different keys: a column is one that any row has.
        if cells.keys() - table.columns.keys():
            table.columns |= dict.fromkeys(cells)
    return table


def as_cell(value: Any, strip: bool = True) -> Cell:
    """Return a value of JSON or Arrow as a cell: numbers and truth values as they are written."""
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
    return str(value)
