"""Rows of other people's files: CSV, TSV, JSON lines, JSON, Parquet and plain lines, texts gzipped
or not.

Each format has one reader, and `read_rows` picks it by the file's name. All yield the same, in the
order of the file: a `Row` (its number from 1, and its cells by name) or a `BadRow` (its number, and
why it cannot be read), which costs only itself. `parse_rows` makes values of the rows. Sizes are
bounded; a file that is unusable as a whole is one sentence for the user.
"""

from __future__ import annotations

import csv
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from seesay.data.cells import BadValueError, Cells, prompt_text
from seesay.data.json_stream import DuplicateKeys, parse_json
from seesay.data.lines import NOT_UTF8, Line, open_bytes, read_errors, read_head, read_lines
from seesay.errors import UserError, first_line
from seesay.files import damage_as_user_error
from seesay.quantities import quantity
from seesay.questions import BadRow

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "lines")
# Files are other people's: a bound turns one that would fill the memory into a sentence.
MOST_ROWS = 1_000_000
# Blank lines are no rows, and a quoted cell may run over several: a file has more lines than rows.
MOST_LINES = 4 * MOST_ROWS
MOST_COLUMNS = 10_000
LONGEST_ROW = 1 << 20
# A JSON document is parsed as a whole and takes several times its length; Parquet is read in
# batches, so that it may be larger.
LARGEST_DOCUMENT = 256 << 20
LARGEST_PARQUET = 1 << 30
BLOCK = 1 << 20
MOST_LINES_OF_A_ROW = 100
ROWS_IN_MEMORY = 256
KEY_TWICE = "a key occurs twice"
WHOLE_PARQUET = "it is not a Parquet file, or not a whole one"
_FORMATS_BY_OTHER_SUFFIX = {"txt": "tsv", "ndjson": "jsonl"}
_SEPARATORS = {
    ";": "semicolons",
    "\t": "tabs",
    "|": "vertical bars",
    ",": "commas",
}


class NotJsonError(UserError):
    """A file that should be a JSON document, and is none."""


class Row(NamedTuple):
    """A row with its number in the file; `file` names it where there are several."""

    number: int
    cells: dict[str, Any]
    file: str = ""

    @property
    def place(self) -> str:
        """What tells the row from all others: its number, after its file where there are
        several."""
        if self.file:
            return f"{self.file}/{self.number}"
        return str(self.number)

    def bad(self, reason: str) -> BadRow:
        """This row as one that cannot be used."""
        return BadRow(self.number, reason, self.file)


Rows = Iterable[Row | BadRow]
Parsed = tuple[dict[int, T], list[BadRow]]
"""What was made of the usable rows, by row number, and the others."""
Parse = Callable[[dict[str, Any]], T]
Key = Callable[[T], Hashable] | None


def format_of(path: Path) -> str:
    """Return the format that a file's name says, one of `FORMATS`."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.lstrip(".").lower()
    name = _FORMATS_BY_OTHER_SUFFIX.get(suffix, suffix)
    if name not in FORMATS:
        raise UserError(
            f"The name of {path} does not say its format: give `read: {{format: …}}`, one of "
            f"{', '.join(FORMATS)}."
        )
    return name


def read_rows(
    path: Path,
    *,
    format: str | None = None,
    delimiter: str = ",",
    columns: Sequence[str] = (),
    strip: bool = True,
    list_key: str = "",
    key_column: str = "",
) -> Rows:
    """Read the rows of a file of any format: the given one, or the one that its name says.

    `delimiter`, `columns` and `strip` are for CSV and TSV files, `list_key` and `key_column` are
    for JSON documents.
    """
    name = format or format_of(path)
    if name == "json":
        return read_json(path, list_key, key_column)
    if key_column or list_key:
        option = "key" if key_column else "list"
        raise UserError(f"{path} is not a JSON document: leave out `read: {{{option}: …}}`.")
    if name == "lines":
        return bound_rows(path, read_line_rows(path, columns))
    if name == "jsonl":
        return read_json_lines(path)
    if name == "parquet":
        return read_parquet(path, bounded=True)
    if name == "tsv":
        delimiter = "\t"
    return read_table(path, delimiter, columns=columns, strip=strip)


def parse_rows(
    path: Path,
    rows: Rows,
    parse: Parse[T],
    *,
    key: Key[T] = None,
) -> Parsed[T]:
    """Return what `parse` makes of the cells of each row, and the rows that could not be used.

    `parse` raises BadValueError for a row that it cannot take. Of rows with the same `key` the
    first one counts. A file without any usable row is refused.
    """
    good: dict[int, T] = {}
    bad: list[BadRow] = []
    row_numbers: dict[Hashable, int] = {}
    for row in rows:
        if isinstance(row, BadRow):
            bad.append(row)
            continue
        try:
            value = parse(row.cells)
            # Without a key every row counts: its own number is unlike all others.
            identity = row.number if key is None else key(value)
            if identity in row_numbers:
                raise BadValueError(f"repeats row {row_numbers[identity]}")
        except BadValueError as error:
            bad.append(row.bad(str(error)))
            continue
        row_numbers[identity] = row.number
        good[row.number] = value
    if not good:
        reason = str(bad[0]) if bad else "it is empty"
        raise UserError(f"{path} holds no row that can be used ({reason}). Is it the right file?")
    return good, bad


def parse_table(
    path: Path,
    columns: Sequence[str],
    parse: Callable[[dict[str, str]], T],
    *,
    key: Key[T] = None,
) -> Parsed[T]:
    """Return what `parse` makes of each row of a CSV or TSV file, and the unusable rows.

    The file must have these columns; `parse` gets their cells, each usable in a prompt.
    """
    header = column_names(path)
    missing = [name for name in columns if name not in header]
    if missing:
        raise UserError(
            f"{path} needs a first line that names the columns {', '.join(columns)}: "
            f"look at {', '.join(missing)}."
        )

    def parse_texts(cells: Cells) -> T:
        texts = {name: prompt_text(cells[name], name, empty=True) for name in columns}
        return parse(texts)

    return parse_rows(path, read_table(path), parse_texts, key=key)


def parse_json_lines(
    path: Path,
    parse: Parse[T],
    *,
    key: Key[T] = None,
) -> Parsed[T]:
    """Return what `parse` makes of each row of a file of JSON lines, and the unusable rows."""
    return parse_rows(path, read_json_lines(path), parse, key=key)


def every_row(path: Path, rows: Rows) -> Iterator[Row]:
    """Yield the rows of a file that is useful only as a whole: a bad one is an error."""
    for row in rows:
        if isinstance(row, BadRow):
            raise UserError(f"{path}, {row}.")
        yield row


def read_table(
    path: Path,
    delimiter: str = "",
    *,
    columns: Sequence[str] = (),
    strip: bool = True,
) -> Rows:
    """Read the rows of a CSV or TSV file; without `columns`, its first line names them."""
    lines = read_lines(path, longest=LONGEST_ROW, most=MOST_LINES)
    separator = delimiter or delimiter_of(path)
    rows = table_rows(lines, path, separator, columns=columns, strip=strip)
    return bound_rows(path, rows)


def bound_rows(path: Path, rows: Rows) -> Rows:
    """Yield the rows of a file, which is refused where it has more than any task."""
    for count, row in enumerate(rows, start=1):
        if count > MOST_ROWS:
            raise UserError(f"{path} has more than {MOST_ROWS:,} rows; a task has at most so many.")
        yield row


def table_rows(
    lines: Iterator[Line],
    path: Path | str,
    delimiter: str = ",",
    *,
    columns: Sequence[str] = (),
    strip: bool = True,
) -> Rows:
    """Yield the rows of a table's lines, blank ones left out; `path` names the table in errors."""
    rows = _split_rows(lines, delimiter, strip)
    header = list(columns) or _header(path, rows, delimiter)
    for number, cells in rows:
        if isinstance(cells, BadRow):
            yield cells
        elif len(cells) != len(header):
            verb = "is" if len(header) == 1 else "are"
            there = f"where there {verb} {quantity(len(header), 'column')}"
            yield BadRow(number, f"has {quantity(len(cells), 'cell')} {there}")
        else:
            yield Row(number, dict(zip(header, cells, strict=True)))


def column_names(path: Path, delimiter: str = "") -> list[str]:
    """Read the column names of a CSV or TSV file; none if it is empty."""
    separator = delimiter or delimiter_of(path)
    rows = _split_rows(read_lines(path, longest=LONGEST_ROW), separator)
    return _header(path, rows, separator)


def delimiter_of(path: Path) -> str:
    """Return what separates the cells of a table, by its name."""
    if ".tsv" in path.suffixes:
        return "\t"
    return ","


def _refuse_other_separator(
    path: Path | str,
    only_column: str,
    delimiter: str,
) -> None:
    """Say which character separates the columns of a table whose header seems to be one column."""
    for separator, name in _SEPARATORS.items():
        if separator != delimiter and separator in only_column:
            expected = _SEPARATORS.get(delimiter, delimiter)
            raise UserError(f"The columns of {path} are separated by {name}, not by {expected}.")


SplitRow = tuple[int, list[str] | BadRow]


def _header(
    path: Path | str,
    rows: Iterator[SplitRow],
    delimiter: str,
) -> list[str]:
    """Return the names in the first row.

    A column without a name, as the index that pandas writes, is named by its place.
    """
    _, cells = next(rows, (0, list[str]()))
    if isinstance(cells, BadRow):
        raise UserError(f"{path} needs a first line that names its columns ({cells}).")
    header = [name.strip() or f"column-{place}" for place, name in enumerate(cells, start=1)]
    # One column may be all there is; only another separator inside its name gives a mistake away.
    if len(header) == 1:
        _refuse_other_separator(path, header[0], delimiter)
    if len(header) > MOST_COLUMNS:
        raise UserError(
            f"{path} has {len(header):,} columns; a table has at most {MOST_COLUMNS:,}."
        )
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if repeated:
        raise UserError(f"{path} has two columns named '{repeated[0]}'.")
    return header


def _split_rows(
    lines: Iterator[Line],
    delimiter: str,
    strip: bool = True,
) -> Iterator[SplitRow]:
    """Yield the cells of each row, with the number of its first line."""
    source = _Lines(lines)
    while line := source.take():
        number, text = line
        if isinstance(text, BadRow):
            # spreadsheets are what writes tables so, and they can do otherwise
            how = f"{NOT_UTF8}: save it as UTF-8 (in a spreadsheet: CSV UTF-8)"
            yield number, BadRow(number, how) if text.reason == NOT_UTF8 else text
            continue
        if not text.strip():
            continue
        # In published TSV files quotes are characters like others: a measure may be 5" long.
        if delimiter == "\t" or '"' not in text:
            cells = text.split(delimiter)
        else:
            try:
                cells = _quoted_cells(text, source, delimiter, strip)
            except csv.Error as error:
                yield number, BadRow(number, f"not CSV ({error})")
                continue
        if strip:
            cells = [cell.strip() for cell in cells]
        yield number, cells


class _Lines:
    """Lines that can be put back after a look ahead, and are then taken again."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._put_back: deque[Line] = deque()

    def take(self) -> Line | None:
        """Return the next line, or None at the end."""
        if self._put_back:
            return self._put_back.popleft()
        return next(self._lines, None)

    def put_back(self, lines: Sequence[Line]) -> None:
        """Put lines back, in their order, to be taken again."""
        self._put_back.extendleft(reversed(lines))


def _quoted_cells(
    first: str,
    source: _Lines,
    delimiter: str,
    strip: bool,
) -> list[str]:
    """Return the cells of a row of CSV, whose quoted cells may run over several lines."""
    following: list[Line] = []

    def texts() -> Iterator[str]:
        yield f"{first}\n"
        while len(following) < MOST_LINES_OF_A_ROW and (line := source.take()):
            following.append(line)
            if isinstance(line[1], BadRow):
                return
            yield f"{line[1]}\n"

    reader = csv.reader(
        texts(),
        delimiter=delimiter,
        strict=True,
        skipinitialspace=strip,
    )
    try:
        return next(reader)
    except csv.Error:
        # A quote that no line closes belongs to this row alone: the lines that were read in search
        # of its end are rows of their own, and one stray quote must not swallow a hundred of them.
        source.put_back(following)
        raise


def read_json_lines(path: Path) -> Rows:
    """Read the rows of a file of JSON lines."""
    lines = read_lines(path, longest=LONGEST_ROW, most=MOST_LINES)
    return bound_rows(path, json_rows(lines))


def json_rows(lines: Iterable[Line]) -> Rows:
    """Yield the rows of lines of JSON, blank ones left out."""
    for number, line in lines:
        if isinstance(line, BadRow):
            yield line
        elif line.strip():
            try:
                yield _object_row(number, parse_json(line))
            except UnicodeEncodeError:
                yield BadRow(number, "holds half of a surrogate pair")
            except ValueError:
                yield BadRow(number, "not JSON")


def read_line_rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Read rows whose cells stand on lines of their own: as many lines as there are columns.

    Blank lines may stand between rows. Anything that would shift the lines after it, such as a
    line that is missing, makes the whole file unusable.
    """
    names = ", ".join(columns)
    cells: list[str] = []
    for number, line in read_lines(path, longest=LONGEST_ROW, most=MOST_LINES):
        if isinstance(line, BadRow):
            raise UserError(f"{path}, {line}: every line is part of a row ({names}).")
        if line.strip():
            cells.append(line)
        elif cells:
            raise UserError(
                f"{path}, line {number} is blank, and a row has {len(columns)} lines ({names}): "
                f"is one missing?"
            )
        if len(cells) == len(columns):
            yield Row(number - len(columns) + 1, dict(zip(columns, cells, strict=True)))
            cells = []
    if cells:
        raise UserError(
            f"{path} ends with {len(cells)} of the {len(columns)} lines of a row ({names}): is one "
            "missing?"
        )


def read_json(
    path: Path,
    list_key: str = "",
    key_column: str = "",
) -> Rows:
    """Read the rows of a JSON document that is a list, or has one under a key.

    With `key_column` they are a mapping, whose keys become that column. JSON lines are recognised,
    whatever the file's name says.
    """
    try:
        document = load_json(path)
    except NotJsonError:
        begins_with_object = read_head(path, 1 << 12).lstrip()[:1] == b"{"
        if not begins_with_object or list_key or key_column:
            raise
        yield from read_json_lines(path)
        return
    if list_key:
        if not isinstance(document, dict) or list_key not in document:
            raise UserError(f"{path} has no rows under '{list_key}'.")
        document = document[list_key]
    if key_column:
        yield from _mapped_rows(path, document, key_column)
        return
    rows = _rows_of_document(path, document, is_part=bool(list_key))
    refuse_too_many(path, len(rows))
    for number, value in enumerate(rows, start=1):
        yield _object_row(number, value)


def _mapped_rows(
    path: Path,
    document: Any,
    key_column: str,
) -> Rows:
    """Yield the rows of a mapping from keys to rows, or to single values, which are named so."""
    if not isinstance(document, dict):
        raise UserError(f"{path} is not a mapping of rows: leave out `read: {{key: …}}`.")
    if isinstance(document, DuplicateKeys):
        raise UserError(f"{path} has a key twice: which of its rows is meant?")
    refuse_too_many(path, len(document))
    for number, (key, value) in enumerate(document.items(), start=1):
        cells = value if isinstance(value, dict) else {"value": value}
        if isinstance(cells, DuplicateKeys):
            yield BadRow(number, KEY_TWICE)
        elif key_column in cells:
            yield BadRow(number, f"'{key}' has a '{key_column}' of its own beside its key")
        else:
            yield Row(number, {key_column: key, **cells})


def _rows_of_document(
    path: Path,
    document: Any,
    *,
    is_part: bool,
) -> list[Any]:
    """Return the list of rows that a JSON document, or the part of one under a key, is."""
    rows = document
    if (
        not is_part
        and isinstance(document, dict)
        and not any(isinstance(value, list | dict) for value in document.values())
    ):
        # An object of plain values is one row, as a file of JSON lines with one line is.
        rows = [document]
    if isinstance(rows, list):
        return rows
    hint = ""
    if isinstance(rows, dict):
        lists = [key for key, value in rows.items() if isinstance(value, list)]
        if lists:
            hint = f": give `read: {{list: {lists[0]}}}`"
        elif all(isinstance(value, dict) for value in rows.values()):
            hint = ", but a mapping of them: give `read: {key: id}`"
    raise UserError(f"{path} is not a list of rows{hint}.")


def load_json(path: Path, largest: int = LARGEST_DOCUMENT) -> Any:
    """Load a JSON document of somebody else's, whatever it holds."""
    with read_errors(path), open_bytes(path) as file:
        # Read in blocks: one read of `largest` bytes would take that much memory at once.
        blocks = iter(partial(file.read, BLOCK), b"")
        content = b"".join(islice(blocks, largest // BLOCK + 1))
    if len(content) > largest:
        raise UserError(
            f"{path} is larger than {largest >> 20:,} MB: split it, or write its rows as JSON "
            "lines."
        )
    try:
        return parse_json(content)
    except ValueError as error:
        raise NotJsonError(f"{path} is not JSON ({first_line(error)}).") from error


def _object_row(number: int, value: Any) -> Row | BadRow:
    """Return a JSON value as a row, which must be an object; which of two values under one key is
    meant, nobody knows."""
    if isinstance(value, DuplicateKeys):
        return BadRow(number, KEY_TWICE)
    if isinstance(value, dict):
        return Row(number, value)
    return BadRow(number, "not a JSON object")


def refuse_too_many(source: Path | str, count: int) -> None:
    """Refuse a source of more rows than any task has."""
    if count > MOST_ROWS:
        raise UserError(f"{source} has {count:,} rows; a task has at most {MOST_ROWS:,}.")


def parquet_columns(path: Path) -> list[str]:
    """Read the column names of a Parquet file."""
    import pyarrow.parquet as pq

    with read_errors(path), damage_as_user_error(path, WHOLE_PARQUET):
        return list(pq.read_schema(path).names)


def read_parquet(
    path: Path,
    columns: Sequence[str] | None = None,
    *,
    bounded: bool = False,
) -> Iterator[Row]:
    """Read the rows of a Parquet file, a few at a time, of all columns or of these.

    `bounded` refuses a file of more rows or bytes than a task has.
    """
    if bounded:
        _refuse_large_parquet(path)
    number = 0
    for batch in parquet_batches(path, ROWS_IN_MEMORY, columns):
        # texts are decoded only now, and may not be any
        with damage_as_user_error(path, WHOLE_PARQUET):
            rows = batch.to_pylist()
        for cells in rows:
            number += 1
            yield Row(number, cells)


def parquet_batches(
    path: Path, rows: int, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a Parquet file, so many rows at a time, of all columns or of these."""
    import pyarrow.parquet as pq

    with read_errors(path), damage_as_user_error(path, WHOLE_PARQUET), pq.ParquetFile(path) as file:
        yield from file.iter_batches(rows, columns=columns)


def _refuse_large_parquet(path: Path) -> None:
    """Refuse a Parquet file of more rows or bytes than a task has, before it is read."""
    import pyarrow.parquet as pq

    with read_errors(path), damage_as_user_error(path, WHOLE_PARQUET):
        metadata = pq.read_metadata(path)
    refuse_too_many(path, metadata.num_rows)
    # The size once unpacked: a few kilobytes of a constant column can unpack to gigabytes.
    groups = range(metadata.num_row_groups)
    size = sum(metadata.row_group(group).total_byte_size for group in groups)
    if size > LARGEST_PARQUET:
        raise UserError(f"{path} is larger than {LARGEST_PARQUET >> 20:,} MB: split it.")
