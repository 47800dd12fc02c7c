"""Readers of annotation files: pictures one by one, nothing dropped without a reason.

No file is held in memory. `read("coco:instances.json,captions.json")` yields `Picture`s, and a
`BadAnnotation` for whatever could not be used.
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
    """A format of annotations."""

    read: Callable[[str, Path | None], Iterator[Picture | BadAnnotation]]
    """Reads the pictures of a place, whose files may be in a folder."""
    files: str
    """The pattern of the files that it reads in a folder: a mining whose files have changed is not
    resumed."""


def _read_coco(place: str, images: Path | None) -> Iterator[Picture | BadAnnotation]:
    return coco.read([Path(part) for part in place.split(",")], images)


READERS = {
    "visual-genome": AnnotationReader(
        lambda place, images: visual_genome.read(Path(place), images),
        visual_genome.FILES,
    ),
    "ade20k": AnnotationReader(
        lambda place, images: ade20k.read(Path(place), images),
        ade20k.FILES,
    ),
    "coco": AnnotationReader(_read_coco, coco.FILES),
    "plain": AnnotationReader(
        lambda place, images: plain.read(Path(place), images),
        plain.FILES,
    ),
}
BAD_ROWS = "bad.jsonl"


def find_reader(spec: str) -> AnnotationReader:
    """Return the reader of an annotation that is named as `FORMAT:PLACE`."""
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
    """Return the pictures of an annotation that is named as `FORMAT:PLACE`.

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
    """Split an annotation into Parquet parts of so many pictures.

    Returns the parts in order and the bad annotations by kind; `bad.jsonl` lists what was left out,
    and why. A few hundred pictures at most are in memory at a time.
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
                if isinstance(item, Picture):
                    yield item
                    continue
                row = {"where": item.where, "reason": item.reason}
                bad_rows.write(json.dumps(row) + "\n")
                bad[item.kind] += 1

        pictures = usable()
        # The first batch of a part is read before its file is opened, or an annotation that ends
        # with a part would leave an empty one.
        while batch := list(islice(pictures, min(plain.BATCH, rows_per_part))):
            path = folder / f"part-{len(parts):05d}.parquet"
            free = rows_per_part
            with atomic_write(path) as unfinished, pq.ParquetWriter(unfinished, SCHEMA) as writer:
                while batch:
                    writer.write_batch(to_batch(batch))
                    free -= len(batch)
                    total += len(batch)
                    progress(len(batch), total)
                    batch = list(islice(pictures, min(plain.BATCH, free)))
            parts.append(path)
    return parts, dict(bad.most_common())
