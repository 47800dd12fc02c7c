"""The common format that every annotation file is read into: a picture, its captions and its
regions.

Readers yield `Picture`s one by one; workers process Arrow batches with the same columns (`SCHEMA`),
which are also the columns of our own Parquet and JSON-lines files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.files import damage_as_user_error

DELETE_WORK = "delete the folder work and run the same command again"
"""What to do about a damaged file of a mining."""

Box = tuple[float, float, float, float]
"""Left, top, width and height in pixels; y grows downwards."""


@dataclass(frozen=True, slots=True)
class Region:
    """A named object in a picture. `polygon` is its outline as x, y, x, y, … where the annotation
    has one."""

    name: str
    box: Box
    polygon: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as annotated. `path` and `depth` name its files, where there are any."""

    id: str
    width: int
    height: int
    regions: tuple[Region, ...] = ()
    captions: tuple[str, ...] = ()
    scene: str = ""
    path: str = ""
    depth: str = ""


@dataclass(frozen=True, slots=True)
class BadAnnotation:
    """Something that was left out: where (a picture's id, a line), the kind of mistake, and the
    details of this one."""

    where: str
    kind: str
    detail: str = ""

    @property
    def reason(self) -> str:
        """The kind, with the details where there are any."""
        if self.detail:
            return f"{self.kind} ({self.detail})"
        return self.kind


REGION = pa.struct(
    [("name", pa.string()), ("box", pa.list_(pa.float64(), 4)), ("polygon", pa.list_(pa.float64()))]
)
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("regions", pa.list_(REGION)),
        ("captions", pa.list_(pa.string())),
        ("scene", pa.string()),
        ("path", pa.string()),
        ("depth", pa.string()),
    ]
)


def to_row(picture: Picture) -> dict[str, Any]:
    """A picture as a row; `dataclasses.asdict` copies every number of every polygon and is ten
    times slower."""
    regions = [{"name": r.name, "box": r.box, "polygon": r.polygon} for r in picture.regions]
    return {name: getattr(picture, name) for name in SCHEMA.names} | {"regions": regions}


def to_batch(pictures: Iterable[Picture]) -> pa.RecordBatch:
    """Pictures as one Arrow batch."""
    return pa.RecordBatch.from_pylist([to_row(picture) for picture in pictures], schema=SCHEMA)


def from_batch(batch: pa.RecordBatch | pa.Table) -> Iterable[Picture]:
    """The pictures of a batch, whatever other columns it has."""
    for row in batch.select(SCHEMA.names).to_pylist():
        regions = tuple(
            Region(r["name"], tuple(r["box"]), tuple(r["polygon"] or ()))
            for r in row["regions"] or ()
        )
        yield Picture(**{**row, "regions": regions, "captions": tuple(row["captions"] or ())})


def read_batches(
    path: Path, columns: list[str] | None = None, rows: int = 1 << 10
) -> Iterator[pa.RecordBatch]:
    """A part of the pictures, so many at a time, with some of its columns or all."""
    with damage_as_user_error(path, DELETE_WORK), pq.ParquetFile(path) as file:
        yield from file.iter_batches(rows, columns=columns)
