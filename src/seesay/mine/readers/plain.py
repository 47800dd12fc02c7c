"""Our own format: a row a picture, in Parquet or JSON lines, with the columns of `records.SCHEMA`.

`id`, `width`, `height` and `regions` (or `captions`) are needed, the others may be missing. Paths of pictures and depth
maps are relative to the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.errors import UserError
from seesay.mine.readers.join import Shelf, key
from seesay.mine.readers.validation import BadAnnotationError, captions, check_picture, clean_size, inside, regions
from seesay.mine.records import SCHEMA, Bad, Picture

LONGEST_LINE = 1 << 26
BATCH = 256
NEEDED = ("id", "width", "height")


def read(path: Path, images: Path | None = None) -> Iterator[Picture | Bad]:
    """The pictures of a file (or of a folder of Parquet parts), and what had to be left out."""
    if path.is_dir():
        files: Sequence[Path] = sorted(path.glob("*.parquet"))
    else:
        files = [path] if path.is_file() else []
    if not files:
        raise UserError(f"There is no file '{path}', nor Parquet files in a folder of that name.")
    with Shelf() as seen:
        for file in files:
            rows = _parquet(file) if file.suffix == ".parquet" else _lines(file)
            for where, row in rows:
                yield from _picture(where, row, file.parent, images, seen)


Row = dict[str, Any] | BadAnnotationError


def _parquet(path: Path) -> Iterator[tuple[str, Row]]:
    try:
        file = pq.ParquetFile(path)
        missing = set(NEEDED) - set(file.schema_arrow.names)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path} is no Parquet file, or a damaged one ({error}).") from error
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
                yield f"{path.name}, row {number}", BadAnnotationError(f"the file is damaged from here on ({error})")
                return
            for found in rows:
                yield f"{path.name}, row {number}", found
                number += 1


def _lines(path: Path) -> Iterator[tuple[str, Row]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="\n") as file:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            where = f"{path.name}, line {number}"
            if len(line) == LONGEST_LINE and not line.endswith("\n"):
                while (rest := file.readline(LONGEST_LINE)) and not rest.endswith("\n"):
                    pass
                yield where, BadAnnotationError(f"the line is longer than {LONGEST_LINE} characters")
                continue
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield where, BadAnnotationError(f"the line is no JSON ({error})")
                continue
            yield where, found if isinstance(found, dict) else BadAnnotationError("the line is no JSON object")


def _picture(where: str, row: Row, folder: Path, images: Path | None, seen: Shelf) -> Iterator[Picture | Bad]:
    try:
        if isinstance(row, BadAnnotationError):
            raise row
        if (id_ := key(row.get("id"))) is None:
            raise BadAnnotationError("the row has no id")
        width, height = clean_size(row.get("width"), row.get("height"))
        path = _beside(images or folder, row.get("path"))
        depth = _beside(folder, row.get("depth"))
        if path is not None:
            check_picture(path, width, height)
        if depth is not None and not depth.is_file():
            raise BadAnnotationError("the depth map is missing")
        if not seen.picture(id_, None):
            raise BadAnnotationError("the id is there twice: the first is kept")
    except BadAnnotationError as error:
        yield Bad(where, str(error))
        return
    things = [_thing(thing) for thing in _listed(row.get("regions"))]
    good, bad = regions(where, things, width, height)
    said, unusable = captions(where, _listed(row.get("captions")))
    yield from (*bad, *unusable)
    scene = row.get("scene")
    yield Picture(
        id_, width, height, good, said, scene if isinstance(scene, str) else "",
        str(path.resolve()) if path else "", str(depth.resolve()) if depth else "",
    )  # fmt: skip


def _beside(folder: Path, name: Any) -> Path | None:
    """The file a row names. Absolute names are taken too: they are what `to_parquet` writes."""
    if name is None or name == "":
        return None
    if isinstance(name, str) and "\0" not in name and Path(name).is_absolute():
        return Path(name)
    if (path := inside(folder, name)) is None:
        raise BadAnnotationError("a file's name leads out of the folder")
    return path


def _thing(thing: Any) -> tuple[Any, Any, Any]:
    return (
        (thing.get("name"), thing.get("box"), thing.get("polygon")) if isinstance(thing, dict) else (None, None, None)
    )


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else () if value is None else (value,)
