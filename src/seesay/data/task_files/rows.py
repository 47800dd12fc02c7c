"""Rows of a task file: from CSV, TSV, JSON lines, JSON and Parquet files, from the Hub, or written in the file itself.

A cell is a text, a list, a mapping or None (JSON's null, or a key that a row lacks). A row that cannot be read is
reported and costs only itself.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from seesay.data.json_stream import parse_json
from seesay.data.jsonl import MOST_LINES, BadValueError
from seesay.data.lines import DAMAGED_GZIP, open_bytes, read_lines
from seesay.data.tables import refuse_other_separator
from seesay.data.task_files.hub import hub_rows, is_picture, store_picture
from seesay.data.task_files.schema_rows import Reading
from seesay.errors import UserError, first_line
from seesay.files import path_below
from seesay.questions import BadRow

LONGEST_ROW = 1 << 20
LARGEST_DOCUMENT = 256 << 20
MOST_LINES_OF_A_ROW = 100
FORMATS = ("csv", "tsv", "jsonl", "json", "parquet")

Cell = Any
Numbered = Iterator[tuple[int, Mapping[str, Any] | BadRow]]


class Row(NamedTuple):
    """A row with its number in the file; `file` names it where there are several."""

    number: int
    cells: dict[str, Cell]
    file: str = ""

    def bad(self, reason: str) -> BadRow:
        """This row as one that cannot be used."""
        return BadRow(self.number, reason, self.file)


@dataclass
class Table:
    """Rows with their columns; `bad` are those that cannot be used, `notes` what was done to them, `pictures` the
    columns that held pictures themselves."""

    rows: list[Row] = field(default_factory=list)
    columns: dict[str, None] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pictures: set[str] = field(default_factory=set)


def format_of(path: Path, reading: Reading) -> str:
    """The format of a file, by its name unless the task file says it."""
    if reading.format:
        return reading.format
    suffix = Path(path.name.removesuffix(".gz")).suffix.lstrip(".").lower()
    name = {"txt": "tsv", "ndjson": "jsonl"}.get(suffix, suffix)
    if name not in FORMATS:
        raise UserError(
            f"The name of {path} does not say its format: give `read: {{format: …}}`, one of {', '.join(FORMATS)}."
        )
    return name


def read_file(path: Path, reading: Reading, *, pictures: bool = False) -> Table:
    """The rows of a file; `pictures` that they hold are stored as files if wanted."""
    if not path.is_file():
        raise UserError(f"There is no file {path}.")
    kind = format_of(path, reading)
    if kind == "parquet":
        rows = _parquet(path)
    elif kind == "json":
        rows = _json(path, reading)
    elif kind == "jsonl":
        rows = _json_lines(path)
    else:
        return _delimited(path, reading, "\t" if kind == "tsv" else reading.delimiter)
    return _table(rows, reading, pictures)


def inside(folder: Path, name: str) -> Path:
    """A path below a folder; one that leaves it is refused."""
    path = path_below(folder, name)
    if path is None or Path(name).is_absolute():
        raise UserError(f"'{name[:80]}' leaves the folder of the task file, or is no name of a file: put it into it.")
    return path


def read_inline(rows: Sequence[Mapping[str, Any]], reading: Reading) -> Table:
    """Rows that stand in the task file."""
    return _table(enumerate(rows, start=1), reading)


def read_hub(address: str, split: str, reading: Reading, *, pictures: bool = False) -> Table:
    """Rows of a data set on the Hub, at one revision."""
    return _table(enumerate(hub_rows(address, split, reading.config), start=1), reading, pictures)


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


def _table(rows: Iterable[tuple[int, Mapping[str, Any] | BadRow]], reading: Reading, pictures: bool = False) -> Table:
    table = Table()
    for number, row in rows:
        if isinstance(row, BadRow):
            table.bad.append(row)
            continue
        if held := [name for name, value in row.items() if is_picture(value)]:
            table.pictures.update(held)
            try:
                row = {**row, **{name: store_picture(row[name]) if pictures else None for name in held}}
            except BadValueError as error:
                table.bad.append(BadRow(number, str(error)))
                table.columns |= dict.fromkeys(map(str, row))
                continue
        cells = {str(name): as_cell(value, reading.strip) for name, value in row.items()}
        table.rows.append(Row(number, cells))
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


def _delimited(path: Path, reading: Reading, delimiter: str) -> Table:
    """A CSV or TSV file. Quotes mean something in CSV only: in published TSV files they are characters like others."""
    table = Table()
    header = list(reading.columns)
    for number, cells in _cells(path, delimiter):
        if isinstance(cells, BadRow):
            table.bad.append(cells)
            continue
        if not header:
            header = [name.strip() or f"column-{place}" for place, name in enumerate(cells, start=1)]
            refuse_other_separator(path, header, delimiter)
            if repeated := next((name for name in header if header.count(name) > 1), None):
                raise UserError(f"{path} has two columns named '{repeated}'.")
            continue
        if len(cells) != len(header):
            table.bad.append(BadRow(number, f"has {len(cells)} cells where there are {len(header)} columns"))
            continue
        values = map(str.strip, cells) if reading.strip else cells
        table.rows.append(Row(number, dict(zip(header, values, strict=True))))
    table.columns = dict.fromkeys(header)
    return table


def _cells(path: Path, delimiter: str) -> Iterator[tuple[int, list[str] | BadRow]]:
    """The cells of each row. A quoted cell may run over lines; one that is never closed costs its first line only."""
    quoting = delimiter != "\t"
    lines = read_lines(path, longest=LONGEST_ROW, most=MOST_LINES)
    waiting: list[tuple[int, str | BadRow]] = []
    while True:
        number, line = waiting.pop(0) if waiting else next(lines, (0, ""))
        if number == 0:
            return
        if isinstance(line, BadRow):
            yield number, line
        elif not line.strip():
            continue
        elif not quoting or '"' not in line:
            yield number, line.split(delimiter)
        else:
            text = line
            taken: list[tuple[int, str | BadRow]] = []
            while text.count('"') % 2 and len(taken) < MOST_LINES_OF_A_ROW:
                following = waiting.pop(0) if waiting else next(lines, None)
                if following is None:
                    break
                taken.append(following)
                if isinstance(following[1], BadRow):
                    break
                text += f"\n{following[1]}"
            try:
                if text.count('"') % 2:
                    raise csv.Error("a quote is never closed")
                yield number, next(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
            except csv.Error as error:
                waiting = taken + waiting  # each of these lines is a row of its own after all
                yield number, BadRow(number, f"not CSV ({error})")


def _json_lines(path: Path) -> Numbered:
    for number, line in read_lines(path, longest=LONGEST_ROW, most=MOST_LINES):
        if isinstance(line, BadRow):
            yield number, line
        elif line.strip():
            try:
                yield number, _object(parse_json(line))
            except BadValueError as error:
                yield number, BadRow(number, str(error))
            except (ValueError, RecursionError):
                yield number, BadRow(number, "not JSON")


def _json(path: Path, reading: Reading) -> Numbered:
    """A JSON document that is a list of rows, or has one under a key; JSON lines are recognised."""
    try:
        with open_bytes(path) as file:
            raw = file.read(LARGEST_DOCUMENT + 1)
    except DAMAGED_GZIP as error:
        raise UserError(f"{path} is damaged ({error}): fetch it again.") from error
    if len(raw) > LARGEST_DOCUMENT:
        raise UserError(f"{path} is larger than {LARGEST_DOCUMENT >> 20} MB: write its rows as JSON lines.")
    try:
        value = parse_json(raw)
    except (ValueError, RecursionError) as error:
        if raw.lstrip()[:1] == b"{" and not reading.list:
            yield from _json_lines(path)
            return
        raise UserError(f"{path} is not JSON ({first_line(error)}).") from error
    if reading.list:
        if not isinstance(value, dict) or reading.list not in value:
            raise UserError(f"{path} has no list of rows under '{reading.list}'.")
        value = value[reading.list]
    elif isinstance(value, dict) and not any(isinstance(item, list | dict) for item in value.values()):
        value = [value]  # one row, as a file of JSON lines may have
    if not isinstance(value, list):
        keys = [key for key, item in value.items() if isinstance(item, list)] if isinstance(value, dict) else []
        hint = f": give `read: {{list: {keys[0]}}}`" if keys else ""
        raise UserError(f"{path} is not a list of rows{hint}.")
    if len(value) > MOST_LINES:
        raise UserError(f"{path} has {len(value):,} rows; a task has at most {MOST_LINES:,}.")
    for number, item in enumerate(value, start=1):
        try:
            yield number, _object(item)
        except BadValueError as error:
            yield number, BadRow(number, str(error))


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadValueError("not a JSON object")
    return value


def _parquet(path: Path) -> Numbered:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            size = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
            if file.metadata.num_rows > MOST_LINES or size > LARGEST_DOCUMENT * 4:
                raise UserError(f"{path} has {file.metadata.num_rows:,} rows; a task has at most {MOST_LINES:,}.")
            yield from enumerate((row for batch in file.iter_batches() for row in batch.to_pylist()), start=1)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not a Parquet file that can be read ({first_line(error)}).") from error
