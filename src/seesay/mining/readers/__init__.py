"""Readers of annotation files: pictures one by one, no file held in memory, nothing dropped without
a reason.

`read("coco:instances.json,captions.json")` yields `Picture`s, and a `BadAnnotation` for whatever
could not be used.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq

from seesay.errors import UserError
from seesay.files import atomic_write
from seesay.mining.choices import PART_SIZE
from seesay.mining.readers import ade20k, coco, plain, visual_genome
from seesay.mining.records import SCHEMA, BadAnnotation, Picture, to_batch
from seesay.progress import ProgressCallback
from seesay.registry import unknown


@dataclass(frozen=True, slots=True)
class AnnotationReader:
    """A format of annotations. `files` is the pattern of the files that it reads in a folder: a
    mining whose files have changed is not resumed."""

    read: Callable[[str, Path | None], Iterator[Picture | BadAnnotation]]
    files: str


READERS = {
    "visual-genome": AnnotationReader(
        lambda place, images: visual_genome.read(Path(place), images), visual_genome.FILES
    ),
    "ade20k": AnnotationReader(
        lambda place, images: ade20k.read(Path(place), images), ade20k.FILES
    ),
    "coco": AnnotationReader(
        lambda place, images: coco.read([Path(part) for part in place.split(",")], images),
        coco.FILES,
    ),
    "plain": AnnotationReader(lambda place, images: plain.read(Path(place), images), plain.FILES),
}
BAD_ROWS = "bad.jsonl"


def find_reader(spec: str) -> AnnotationReader:
    """The reader of an annotation that is given as `FORMAT:PLACE`."""
    name, _, place = spec.partition(":")
    if not place:
        raise UserError(
            f"'{spec}' names no format and place: write it as visual-genome:FOLDER or "
            "plain:FILE.parquet."
        )
    if name not in READERS:
        raise unknown("annotation format", name, READERS, "seesay mine --help")
    return READERS[name]


def read(spec: str, images: Path | None = None) -> Iterator[Picture | BadAnnotation]:
    """The pictures of an annotation, given as `FORMAT:PLACE`.

    With `images`, every picture must have its file there; without, files are looked for where the
    format keeps them. The paths of pictures are absolute.
    """
    reader = find_reader(spec)
    if images is not None and not images.is_dir():
        raise UserError(f"There is no folder of pictures '{images}'.")
    return reader.read(spec.partition(":")[2], images)


def to_parquet(
    spec: str,
    folder: Path,
    rows_per_part: int = PART_SIZE,
    images: Path | None = None,
    progress: ProgressCallback = lambda done, total: None,
) -> tuple[list[Path], dict[str, int]]:
    """Split an annotation into Parquet parts of so many pictures; `bad.jsonl` lists what was left
    out, and why.

    Returns the parts in order and the bad annotations by kind. A few hundred pictures at most are
    in memory at a time.
    """
    if rows_per_part < 1:
        raise UserError("A part needs at least one picture.")
    annotations = read(spec, images)
    folder.mkdir(parents=True, exist_ok=True)
    bad: Counter[str] = Counter()
    parts: list[Path] = []
    total = 0
    with (folder / BAD_ROWS).open("w", encoding="utf-8") as bad_rows:

        def usable() -> Iterator[Picture]:
            for item in annotations:
                if isinstance(item, BadAnnotation):
                    bad_rows.write(json.dumps({"where": item.where, "reason": item.reason}) + "\n")
                    bad[item.kind] += 1
                else:
                    yield item

        pictures = usable()
        while batch := list(islice(pictures, min(plain.BATCH, rows_per_part))):
            path = folder / f"part-{len(parts):05d}.parquet"
            left = rows_per_part
            with atomic_write(path) as unfinished, pq.ParquetWriter(unfinished, SCHEMA) as writer:
                while batch:
                    writer.write_batch(to_batch(batch))
                    left = left - len(batch)
                    total = total + len(batch)
                    progress(len(batch), total)
                    batch = list(islice(pictures, min(plain.BATCH, left)))
            parts.append(path)
    return parts, dict(bad.most_common())
