"""Our own format: one row per picture, in Parquet or JSON lines.

The columns are those of `records.SCHEMA`. `id`, `width`, `height` and `regions` (or `captions`) are
required, the others optional. Paths of pictures and depth maps are relative to the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

from seesay.data.json_stream import BROKEN, MAX_ENTRY, is_text
from seesay.data.lines import NOT_UTF8, Line, read_lines
from seesay.data.rows import (
    ROWS_IN_MEMORY,
    Row,
    Rows,
    json_rows,
    parquet_batches,
    parquet_columns,
)
from seesay.errors import UserError
from seesay.grouping import bounded_batches
from seesay.mining.readers.join import clean_id
from seesay.mining.readers.validation import (
    BadAnnotationError,
    RawRegion,
    check_picture,
    clean_picture,
    clean_size,
    inside,
    is_file,
)
from seesay.mining.records import SCHEMA, BadAnnotation, Picture
from seesay.questions import BadRow

FILES = "*.parquet"
"""The files that are read in a folder."""
MAX_PART = 1 << 26
"""Bytes of a part in memory, as they are in the file: rows of hostile files may be large."""
REQUIRED = ("id", "width", "height")


@dataclass(frozen=True, slots=True)
class PlainPart:
    """Some of the rows of a file, as they are there."""

    file: Path
    lines: list[Line] = field(default_factory=list)
    """Those of a file of JSON lines, with their numbers."""
    first: int = 1
    """The number of the first row."""
    batches: list[pa.RecordBatch] = field(default_factory=list)
    """Those of a Parquet file."""


def split(place: str, rows: int, *_: object) -> Iterator[PlainPart]:
    """Yield the rows of a file, or of a folder of Parquet files, so many at a time."""
    path = Path(place)
    files: Sequence[Path] = [path]
    if not path.is_file():
        files = sorted(path.glob(FILES))
    if not files:
        raise UserError(f"There is no file '{path}', nor Parquet files in a folder of that name.")
    for file in files:
        if file.suffix == ".parquet":
            yield from _split_parquet(file, rows)
        else:
            lines = read_lines(file, longest=MAX_ENTRY)
            for some_lines in bounded_batches(
                lines, rows, lambda line: len(str(line[1])), MAX_PART
            ):
                yield PlainPart(file, lines=some_lines)


def _split_parquet(path: Path, rows: int) -> Iterator[PlainPart]:
    """Yield the rows of a Parquet file; where it breaks off, the last of them is a bad one."""
    columns = parquet_columns(path)
    missing = set(REQUIRED) - set(columns)
    if missing:
        raise UserError(
            f"{path} lacks the column {sorted(missing)[0]!r}; `docs/mining.md` lists the columns."
        )
    needed = [name for name in SCHEMA.names if name in columns]
    batch_count = math.ceil(rows / ROWS_IN_MEMORY)
    batch_size = math.ceil(rows / batch_count)
    first = 1
    batches = parquet_batches(path, batch_size, needed)
    try:
        for group in bounded_batches(batches, batch_count, lambda batch: batch.nbytes, MAX_PART):
            yield PlainPart(path, first=first, batches=group)
            first += sum(batch.num_rows for batch in group)
    except UserError:
        # From the first row of the group on that cannot be read as a whole.
        yield PlainPart(path, lines=[(first, BadRow(first, BROKEN))])


def read(part: PlainPart, images: Path | None) -> Iterator[Picture | BadAnnotation]:
    """Yield the pictures of a part, and what is wrong with them."""
    for row in _rows(part):
        if isinstance(row, BadRow):
            yield BadAnnotation(f"{part.file.name}, row {row.row}", row.reason)
        else:
            where = f"{part.file.name}, row {row.number}"
            yield from _picture(where, row.cells, part.file.parent, images)


def _rows(part: PlainPart) -> Rows:
    yield from json_rows(part.lines)
    first = part.first
    for batch in part.batches:
        yield from _rows_of_batch(first, batch)
        first += batch.num_rows


def _rows_of_batch(first: int, batch: pa.RecordBatch) -> Rows:
    """Yield the rows of a batch; only those that hold bytes which are no text are bad."""
    try:
        yield from map(Row, count(first), batch.to_pylist())
    except UnicodeDecodeError:
        if batch.num_rows == 1:
            yield BadRow(first, NOT_UTF8)
            return
        for offset in range(batch.num_rows):
            yield from _rows_of_batch(first + offset, batch.slice(offset, 1))


def _picture(
    where: str,
    row: Mapping[str, Any],
    folder: Path,
    images: Path | None,
) -> Iterator[Picture | BadAnnotation]:
    """Yield the picture of a row, after what is wrong with it."""
    try:
        picture_id = clean_id(row.get("id"))
        if picture_id is None:
            raise BadAnnotationError("the row has no id")
        size = clean_size(row.get("width"), row.get("height"))
        path = _beside(images or folder, row.get("path"))
        depth = _beside(folder, row.get("depth"))
        if path is not None:
            check_picture(path, size)
        if depth is not None and not is_file(depth):
            raise BadAnnotationError("the depth map is missing")
    except BadAnnotationError as error:
        yield error.at(where)
        return
    scene = row.get("scene")
    yield from clean_picture(
        where,
        picture_id,
        size,
        [_region(item) for item in _as_list(row.get("regions"))],
        _as_list(row.get("captions")),
        scene="" if scene is None else scene,
        path=path,
        depth=depth,
    )


def _beside(folder: Path, name: Any) -> Path | None:
    """Return the file that a row names, relative to a folder.

    Absolute paths are accepted too: `to_parquet` writes them.
    """
    if name is None or name == "":
        return None
    if is_text(name) and "\0" not in name and Path(name).is_absolute():
        return Path(name)
    path = inside(folder, name)
    if path is None:
        raise BadAnnotationError("a file's name leads out of the folder")
    return path


def _region(item: Any) -> RawRegion:
    """Return name, box and polygon as they are; `clean_region` rejects what is missing."""
    if not isinstance(item, dict):
        return None, None, None
    return item.get("name"), item.get("box"), item.get("polygon")


def _as_list(value: Any) -> Sequence[Any]:
    """Return a list as it is, anything else as the only element of one, so that it is reported."""
    if value is None:
        return ()
    if isinstance(value, list):
        return value
    return (value,)
