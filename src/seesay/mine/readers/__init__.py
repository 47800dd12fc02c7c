"""Annotation files of several makes, read picture by picture: nothing is held whole, nothing is lost without a reason.

`read("coco:instances.json,captions.json")` yields `Picture`s, and a `Bad` for whatever could not be used.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq

from seesay.errors import UserError
from seesay.mine.readers import ade20k, coco, plain, visual_genome
from seesay.mine.records import SCHEMA, Bad, Picture, to_batch

READERS: dict[str, Callable[[str, Path | None], Iterator[Picture | Bad]]] = {
    "visual-genome": lambda place, images: visual_genome.read(Path(place), images),
    "ade20k": lambda place, images: ade20k.read(Path(place), images),
    "coco": lambda place, images: coco.read([Path(part) for part in place.split(",")], images),
    "plain": lambda place, images: plain.read(Path(place), images),
}


@dataclass(frozen=True, slots=True)
class Cut:
    """What `to_parquet` wrote: the parts in order, how many pictures, and how often each reason left something out."""

    parts: tuple[Path, ...]
    pictures: int
    bad: dict[str, int]


def read(spec: str, images: Path | None = None) -> Iterator[Picture | Bad]:
    """The pictures of an annotation, given as `FORMAT:PLACE`.

    With `images`, every picture must have its file there; without, files are looked for where the format keeps them.
    Paths come out absolute.
    """
    kind, colon, place = spec.partition(":")
    if not colon or not place:
        raise UserError(f"'{spec}' names no format and place: write it as visual-genome:FOLDER or plain:FILE.parquet.")
    if kind not in READERS:
        near = get_close_matches(kind, READERS, 1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise UserError(f"Unknown annotation format '{kind}'.{hint} There are: {', '.join(READERS)}.")
    if images is not None and not images.is_dir():
        raise UserError(f"There is no folder of pictures '{images}'.")
    return READERS[kind](place, images)


def to_parquet(
    spec: str, folder: Path, rows_per_part: int = 10_000, images: Path | None = None,
    tell: Callable[[int], None] = lambda pictures: None,
) -> Cut:  # fmt: skip
    """Cut an annotation into Parquet parts of so many pictures; `bad.jsonl` lists what was left out, and why.

    No more than a few hundred pictures are in memory at any time.
    """
    if rows_per_part < 1:
        raise UserError("A part needs at least one picture.")
    found = read(spec, images)
    folder.mkdir(parents=True, exist_ok=True)
    reasons: Counter[str] = Counter()
    parts: list[Path] = []
    pictures = 0
    with (folder / "bad.jsonl").open("w", encoding="utf-8") as listed:

        def good() -> Iterator[Picture]:
            nonlocal pictures
            for item in found:
                if isinstance(item, Bad):
                    listed.write(json.dumps(asdict(item)) + "\n")
                    reasons[item.reason.partition(" (")[0]] += 1
                else:
                    pictures += 1
                    tell(pictures)
                    yield item

        usable = good()
        while (part := _part(folder / f"part-{len(parts):05d}.parquet", usable, rows_per_part)) is not None:
            parts.append(part)
    return Cut(tuple(parts), pictures, dict(reasons.most_common()))


def _part(path: Path, pictures: Iterator[Picture], rows: int) -> Path | None:
    """One part, whole or not at all; None when there are no more pictures."""
    some = list(islice(pictures, min(plain.BATCH, rows)))
    if not some:
        return None
    unfinished = path.with_suffix(".unfinished")
    with pq.ParquetWriter(unfinished, SCHEMA) as writer:
        while some:
            writer.write_batch(to_batch(some))
            rows -= len(some)
            some = list(islice(pictures, min(plain.BATCH, rows)))
    unfinished.replace(path)
    return path
