"""The common format that every annotation file is read into: pictures with captions and regions.

Readers yield `Picture`s one by one; workers process Arrow batches with the same columns (`SCHEMA`),
which are also the columns of our own Parquet and JSON-lines files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.files import damage_as_user_error

DELETE_WORK = "delete the folder work and run the same command again"
"""What to do about a damaged file of a mining."""

Box = tuple[float, float, float, float]
"""Left, top, width and height in pixels; y grows downwards."""
Colors = tuple[str, ...]
"""The colours of a region, of the eleven."""


@dataclass(frozen=True, slots=True)
class Region:
    """A named object in a picture."""

    name: str
    box: Box
    polygon: tuple[float, ...] = ()
    """Its outline as x, y, x, y, … where the annotation has one."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as annotated."""

    id: str
    width: int
    """In pixels, as is the height."""
    height: int
    regions: tuple[Region, ...] = ()
    captions: tuple[str, ...] = ()
    scene: str = ""
    """The kind of scene, such as living_room, where the annotation names one."""
    path: str = ""
    """Its file, where there is one."""
    depth: str = ""
    """The file of its depth map, where there is one."""
    source: str = field(default="", compare=False)
    """Where the annotation has it: a list of bad annotations calls it so."""


@dataclass(frozen=True, slots=True)
class BadAnnotation:
    """Something that was left out."""

    where: str
    """A picture's id, or a line of a file."""
    kind: str
    """The kind of mistake, by which mistakes are counted."""
    detail: str = ""

    @property
    def reason(self) -> str:
        """Return the kind, with the details where there are any."""
        if self.detail:
            return f"{self.kind} ({self.detail})"
        return self.kind


REGION = pa.struct(
    [
        ("name", pa.string()),
        ("box", pa.list_(pa.float64(), 4)),
        ("polygon", pa.list_(pa.float64())),
    ]
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
PART = SCHEMA.append(pa.field("source", pa.string()))
"""The columns of a part."""


def to_row(picture: Picture, schema: pa.Schema = SCHEMA) -> dict[str, Any]:
    """Return a picture as a row."""
    # `dataclasses.asdict` copies every number of every polygon and is ten times slower.
    row = {name: getattr(picture, name) for name in schema.names}
    row["regions"] = [
        {
            "name": region.name,
            "box": region.box,
            "polygon": region.polygon,
        }
        for region in picture.regions
    ]
    return row


def to_batch(pictures: Iterable[Picture], schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    """Return pictures as one Arrow batch."""
    rows = [to_row(picture, schema) for picture in pictures]
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def from_batch(batch: pa.RecordBatch | pa.Table) -> Iterable[Picture]:
    """Yield the pictures of a batch, whatever other columns it has."""
    for row in batch.select(SCHEMA.names).to_pylist():
        row["regions"] = tuple(
            Region(region["name"], tuple(region["box"]), tuple(region["polygon"]))
            for region in row["regions"]
        )
        row["captions"] = tuple(row["captions"])
        yield Picture(**row)


def read_batches(
    path: Path,
    columns: list[str] | None = None,
    rows: int = 1 << 10,
) -> Iterator[pa.RecordBatch]:
    """Yield the pictures of a part, so many at a time, with some of its columns or all."""
    with damage_as_user_error(path, DELETE_WORK), pq.ParquetFile(path) as file:
        yield from file.iter_batches(rows, columns=columns)
