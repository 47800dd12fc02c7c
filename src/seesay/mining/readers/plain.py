"""Our own format: one row per picture, in Parquet or JSON lines.

The columns are those of `records.SCHEMA`. `id`, `width`, `height` and `regions` (or `captions`) are
required, the others optional. Paths of pictures and depth maps are relative to the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seesay.data.json_stream import BROKEN, MAX_ENTRY, is_text
from seesay.data.lines import read_lines
from seesay.data.rows import Rows, json_rows, parquet_columns, read_parquet
from seesay.errors import UserError
from seesay.mining.readers.join import DUPLICATE, DiskJoin, clean_id
from seesay.mining.readers.validation import (
    BadAnnotationError,
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
BATCH = 256
"""Pictures in memory at a time."""
REQUIRED = ("id", "width", "height")


def read(path: Path, images: Path | None = None) -> Iterator[Picture | BadAnnotation]:
    """Yield the pictures of a file (or of a folder of Parquet parts), and what was left out."""
    files: Sequence[Path] = [path]
    if not path.is_file():
        files = sorted(path.glob(FILES))
    if not files:
        raise UserError(f"There is no file '{path}', nor Parquet files in a folder of that name.")
    # On disk, since the ids of millions of pictures take gigabytes.
    with DiskJoin() as ids:
        for file in files:
            for row in _rows(file):
                if isinstance(row, BadRow):
                    yield BadAnnotation(f"{file.name}, row {row.row}", row.reason)
                else:
                    where = f"{file.name}, row {row.number}"
                    yield from _picture(where, row.cells, file.parent, images, ids)


def _rows(path: Path) -> Rows:
    """Yield the rows of a file; where a Parquet file breaks off, the last of them is a bad one."""
    if path.suffix != ".parquet":
        yield from json_rows(read_lines(path, longest=MAX_ENTRY))
        return
    columns = parquet_columns(path)
    missing = set(REQUIRED) - set(columns)
    if missing:
        raise UserError(
            f"{path} lacks the column {sorted(missing)[0]!r}; `docs/mining.md` lists the columns."
        )
    number = 0
    needed = [name for name in SCHEMA.names if name in columns]
    try:
        for row in read_parquet(path, needed):
            number = row.number
            yield row
    except UserError:
        yield BadRow(number + 1, BROKEN)


def _picture(
    where: str,
    row: Mapping[str, Any],
    folder: Path,
    images: Path | None,
    ids: DiskJoin,
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
        if not ids.add_picture(picture_id):
            raise BadAnnotationError(DUPLICATE)
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


def _region(item: Any) -> tuple[Any, Any, Any]:
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
