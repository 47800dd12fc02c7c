"""Our own format: one row per picture, in Parquet or JSON lines, with the columns of `records.SCHEMA`.

`id`, `width`, `height` and `regions` (or `captions`) are required, the others optional. Paths of pictures and depth
maps are relative to the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.data.json_stream import MAX_ENTRY, is_text, parse_json
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

FILES = "*.parquet"
"""The files that are read in a folder."""
MAX_LINE = MAX_ENTRY
BATCH = 256
REQUIRED = ("id", "width", "height")


def read(path: Path, images: Path | None = None) -> Iterator[Picture | BadAnnotation]:
    """The pictures of a file (or of a folder of Parquet parts), and what had to be left out."""
    if path.is_dir():
        files: Sequence[Path] = sorted(path.glob(FILES))
    else:
        files = [path] if path.is_file() else []
    if not files:
        raise UserError(f"There is no file '{path}', nor Parquet files in a folder of that name.")
    with DiskJoin() as ids:
        for file in files:
            rows = _parquet(file) if file.suffix == ".parquet" else _lines(file)
            for where, row in rows:
                yield from _picture(where, row, file.parent, images, ids)


RawPicture = dict[str, Any] | BadAnnotationError


def _parquet(path: Path) -> Iterator[tuple[str, RawPicture]]:
    try:
        file = pq.ParquetFile(path)
        missing = set(REQUIRED) - set(file.schema_arrow.names)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path} is not a Parquet file, or is damaged ({error}).") from error
    if missing:
        raise UserError(f"{path} lacks the column {sorted(missing)[0]!r}; `docs/mining.md` lists the columns.")
    columns = [name for name in SCHEMA.names if name in file.schema_arrow.names]
    number = 0
    with file:
        batches = file.iter_batches(BATCH, columns=columns)
        while True:
            try:
                rows = next(batches).to_pylist()
            except StopIteration:
                return
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
                yield f"{path.name}, row {number}", BadAnnotationError("the file is damaged from here on", str(error))
                return
            for row in rows:
                yield f"{path.name}, row {number}", row
                number += 1


def _lines(path: Path) -> Iterator[tuple[str, RawPicture]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="\n") as file:
        number = 0
        while line := file.readline(MAX_LINE):
            number += 1
            where = f"{path.name}, line {number}"
            if len(line) == MAX_LINE and not line.endswith("\n"):
                while (rest := file.readline(MAX_LINE)) and not rest.endswith("\n"):
                    pass
                yield where, BadAnnotationError(f"the line is longer than {MAX_LINE} characters")
                continue
            if not line.strip():
                continue
            try:
                row = parse_json(line)
            except ValueError as error:
                yield where, BadAnnotationError("the line is not JSON", str(error))
                continue
            yield where, row if isinstance(row, dict) else BadAnnotationError("the line is not a JSON object")


def _picture(
    where: str, row: RawPicture, folder: Path, images: Path | None, ids: DiskJoin
) -> Iterator[Picture | BadAnnotation]:
    try:
        if isinstance(row, BadAnnotationError):
            raise row
        if (picture_id := clean_id(row.get("id"))) is None:
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
    regions = [_region(item) for item in _listed(row.get("regions"))]
    scene = row["scene"] if isinstance(row.get("scene"), str) else ""
    captions = _listed(row.get("captions"))
    yield from clean_picture(where, picture_id, size, regions, captions, scene=scene, path=path, depth=depth)


def _beside(folder: Path, name: Any) -> Path | None:
    """The file that a row names. Absolute paths are accepted too: `to_parquet` writes them."""
    if name is None or name == "":
        return None
    if is_text(name) and "\0" not in name and Path(name).is_absolute():
        return Path(name)
    if (path := inside(folder, name)) is None:
        raise BadAnnotationError("a file's name leads out of the folder")
    return path


def _region(item: Any) -> tuple[Any, Any, Any]:
    return (item.get("name"), item.get("box"), item.get("polygon")) if isinstance(item, dict) else (None, None, None)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else () if value is None else (value,)
