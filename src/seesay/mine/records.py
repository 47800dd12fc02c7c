"""The one shape that every annotation file is read into: a picture, its captions, and its regions.

Readers yield `Picture`s one by one; the engine works on Arrow batches of the same columns (`SCHEMA`), which is also
what our own Parquet and JSON-lines files hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa

Box = tuple[float, float, float, float]
"""Left, top, width and height in pixels; y grows downwards."""


@dataclass(frozen=True, slots=True)
class Region:
    """A named thing in a picture. `polygon` is its outline as x, y, x, y, … where the annotation has one."""

    name: str
    box: Box
    polygon: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as annotated. `path` and `depth` name files beside the annotation, where there are any."""

    id: str
    width: int
    height: int
    regions: tuple[Region, ...] = ()
    captions: tuple[str, ...] = ()
    scene: str = ""
    path: str = ""
    depth: str = ""


@dataclass(frozen=True, slots=True)
class Bad:
    """What was left out of the annotations: where (a picture's id, a line) and why."""

    where: str
    reason: str


REGION = pa.struct([("name", pa.string()), ("box", pa.list_(pa.float64(), 4)), ("polygon", pa.list_(pa.float64()))])
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


def to_batch(pictures: Sequence[Picture]) -> pa.RecordBatch:
    """Pictures as one Arrow batch."""
    return pa.RecordBatch.from_pylist([asdict(picture) for picture in pictures], schema=SCHEMA)


def from_batch(batch: pa.RecordBatch | pa.Table) -> Iterable[Picture]:
    """The pictures of a batch."""
    for row in batch.to_pylist():
        regions = tuple(Region(r["name"], tuple(r["box"]), tuple(r["polygon"] or ())) for r in row["regions"] or ())
        yield Picture(**{**row, "regions": regions, "captions": tuple(row["captions"] or ())})
