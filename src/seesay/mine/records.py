"""The one shape that every annotation file is read into: a picture, its captions, and its regions.

Readers yield `Picture`s one by one; the engine works on Arrow batches of the same columns (`SCHEMA`), which is also
what our own Parquet and JSON-lines files hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

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


def row(picture: Picture) -> dict[str, Any]:
    """A picture as a row; `dataclasses.asdict` copies every number of every polygon and takes ten times as long."""
    return {
        "id": picture.id,
        "width": picture.width,
        "height": picture.height,
        "regions": [{"name": r.name, "box": r.box, "polygon": r.polygon} for r in picture.regions],
        "captions": picture.captions,
        "scene": picture.scene,
        "path": picture.path,
        "depth": picture.depth,
    }


def to_batch(pictures: Iterable[Picture]) -> pa.RecordBatch:
    """Pictures as one Arrow batch."""
    return pa.RecordBatch.from_pylist([row(picture) for picture in pictures], schema=SCHEMA)


def from_batch(batch: pa.RecordBatch | pa.Table) -> Iterable[Picture]:
    """The pictures of a batch, whatever other columns it has."""
    for found in batch.select(SCHEMA.names).to_pylist():
        regions = tuple(Region(r["name"], tuple(r["box"]), tuple(r["polygon"] or ())) for r in found["regions"] or ())
        yield Picture(**{**found, "regions": regions, "captions": tuple(found["captions"] or ())})
