"""Readers of annotation files: pictures part by part, nothing dropped without a reason.

No file is held in memory. A reader splits an annotation into parts, which one process does, and
makes `Picture`s of the parts, and a `BadAnnotation` of whatever could not be used, which any number
of workers do. `read("coco:instances.json,captions.json")` does both.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, repeat
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.compute as pc
import pyarrow.parquet as pq

from seesay import cluster
from seesay.errors import UserError
from seesay.files import atomic_write, damage_as_user_error, write_text
from seesay.grouping import chunks, group_by
from seesay.mining.choices import PART_SIZE
from seesay.mining.parts import has_note, read_note, write_note
from seesay.mining.queries import open_database
from seesay.mining.readers import ade20k, coco, plain, visual_genome
from seesay.mining.readers.join import DUPLICATE, JOIN, Packed, Prepare, Spread, pack_piece
from seesay.mining.records import DELETE_WORK, PART, BadAnnotation, Picture, to_batch
from seesay.processors import without_garbage_collection
from seesay.progress import ProgressCallback
from seesay.registry import unknown
from seesay.shards import WHOLE, Shard

BATCH = 1 << 10
"""Pictures in memory at a time."""
BAD_ROWS = "bad.jsonl"


@dataclass(frozen=True, slots=True)
class AnnotationReader:
    """A format of annotations."""

    split: Callable[[str, int, Path, Spread], Iterator[Any]]
    """Splits a place into parts of so many pictures; a folder is there to put files in, and workers
    to decode them. Yields what is wrong with no part, too."""
    read: Callable[[Any, Path | None], Iterator[Picture | BadAnnotation]]
    """Reads the pictures of a part, whose files may be in a folder."""
    files: str
    """The pattern of the files that it reads in a folder: a mining whose files have changed is not
    resumed."""


READERS = {
    "visual-genome": AnnotationReader(visual_genome.split, visual_genome.read, visual_genome.FILES),
    "ade20k": AnnotationReader(ade20k.split, ade20k.read, ade20k.FILES),
    "coco": AnnotationReader(coco.split, coco.read, coco.FILES),
    "plain": AnnotationReader(plain.split, plain.read, plain.FILES),
}


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


def split(
    spec: str,
    rows: int,
    folder: Path,
    images: Path | None,
    spread: Spread,
) -> Iterator[Any | BadAnnotation]:
    """Yield the parts of an annotation that is named as `FORMAT:PLACE`."""
    reader = find_reader(spec)
    if images is not None and not images.is_dir():
        raise UserError(f"There is no folder of pictures '{images}'.")
    return reader.split(spec.partition(":")[2], rows, folder, spread)


def read(spec: str, images: Path | None = None) -> Iterator[Picture | BadAnnotation]:
    """Yield the pictures of an annotation that is named as `FORMAT:PLACE`.

    With `images`, every picture must have its file there; without, files are looked for where the
    format keeps them. The paths of pictures are absolute.
    """
    reader = find_reader(spec)
    with tempfile.TemporaryDirectory(prefix="seesay-") as folder:
        for part in split(spec, PART_SIZE, Path(folder), images, _spread_nothing):
            if isinstance(part, BadAnnotation):
                yield part
            else:
                yield from reader.read(part, images)


def to_parquet(
    spec: str,
    folder: Path,
    rows_per_part: int = PART_SIZE,
    images: Path | None = None,
    progress: ProgressCallback = lambda done, total: None,
    *,
    workers: int = 1,
    engine: str = cluster.Engine.LOCAL,
    shard: Shard = WHOLE,
) -> tuple[list[Path], dict[str, int]]:
    """Split an annotation into Parquet parts of about so many pictures, or only this share of them.

    Parts that are there are not read again. Returns the parts in order and the bad annotations by
    kind; `bad.jsonl` lists what was left out, and why.
    """
    if rows_per_part < 1:
        raise UserError("A part needs at least one picture.")
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[Path] = []
    bad: Counter[str] = Counter()
    make_reader = partial(PartReader, find_reader(spec), images)
    with (
        (folder / BAD_ROWS).open("w", encoding="utf-8") as bad_rows,
        cluster.open_pool(make_reader, workers, engine=engine, what="Mining") as map_in_pool,
    ):
        spread = partial(_spread_pieces, map_in_pool)

        def unread() -> Iterator[tuple[Path, Any]]:
            numbers = count(1)
            for part in split(spec, rows_per_part, folder, images, spread):
                if isinstance(part, BadAnnotation):
                    bad[part.kind] += 1
                    bad_rows.write(_bad_line(part))
                elif shard.has(number := next(numbers)):
                    parts.append(folder / f"part-{number - 1:05d}.parquet")
                    if not (parts[-1].is_file() and has_note(folder, parts[-1])):
                        yield parts[-1], part

        total = 0
        for _, pictures in map_in_pool(unread()):
            total += pictures
            progress(pictures, total)
        (folder / JOIN).unlink(missing_ok=True)
        duplicates = _drop_duplicates(parts, folder, workers) if parts and shard == WHOLE else []
        for part in parts:
            bad.update(read_note(folder, part).bad)
            bad_rows.write(_bad_path(part).read_text(encoding="utf-8"))
        for duplicate in duplicates:
            bad[DUPLICATE] += 1
            bad_rows.write(_bad_line(BadAnnotation(duplicate["source"], DUPLICATE)))
    return parts, dict(bad.most_common())


class Piece(NamedTuple):
    """A piece of a file that is decoded before it can be split."""

    number: int
    prepare: Prepare
    text: bytes


def _spread_nothing(_prepare: Prepare, _texts: Iterable[bytes]) -> Iterator[None]:
    """Have files read by entries, which takes the least memory."""
    yield None


def _spread_pieces(
    map_in_pool: cluster.MapInPool,
    prepare: Prepare,
    texts: Iterable[bytes],
) -> Iterator[Packed | None]:
    """Let workers pack the pieces of a file, and yield them in order."""
    numbered = map(Piece, count(), repeat(prepare), texts)
    decoded: dict[int, Packed | None] = {}
    following = 0
    for piece, packed in map_in_pool(numbered):
        decoded[piece.number] = packed
        while following in decoded:
            yield decoded.pop(following)
            following += 1


class PartReader:
    """A worker that reads parts, and writes the pictures of each; before, it decodes pieces."""

    def __init__(self, reader: AnnotationReader, images: Path | None) -> None:
        self._reader = reader
        self._images = images

    def __call__(self, work: tuple[Path, Any] | Piece) -> Any:
        """Write a part to its file, and what was left out beside it; return its pictures. Return
        what is prepared of a piece."""
        with without_garbage_collection():
            if isinstance(work, Piece):
                return pack_piece(work.prepare, work.text)
            return self._read(*work)

    def _read(self, path: Path, part: Any) -> int:
        """Write the pictures of a part, and return how many they are."""
        bad: Counter[str] = Counter()
        bad_lines: list[str] = []

        def usable() -> Iterator[Picture]:
            for item in self._reader.read(part, self._images):
                if isinstance(item, Picture):
                    yield item
                else:
                    bad[item.kind] += 1
                    bad_lines.append(_bad_line(item))

        total = 0
        with atomic_write(path) as unfinished, pq.ParquetWriter(unfinished, PART) as writer:
            for batch in chunks(usable(), BATCH):
                writer.write_batch(to_batch(batch, PART))
                total += len(batch)
        write_text(_bad_path(path), "".join(bad_lines))
        write_note(path.parent, path, total, bad)
        return total


def _bad_path(part: Path) -> Path:
    return part.with_suffix(".bad.jsonl")


def _bad_line(annotation: BadAnnotation) -> str:
    row = {"where": annotation.where, "reason": annotation.reason}
    return json.dumps(row) + "\n"


def _drop_duplicates(parts: Sequence[Path], folder: Path, workers: int) -> list[dict[str, Any]]:
    """Drop the pictures of parts whose id is that of an earlier one, and return them.

    They are listed in a file before the first is dropped, so that none is forgotten if this is
    interrupted.
    """
    listed = folder / "duplicates.table"
    if not listed.is_file():
        query = """
            WITH repeated AS (SELECT id FROM pictures GROUP BY id HAVING count(*) > 1)
            SELECT parse_filename(filename) AS part, source
            FROM pictures SEMI JOIN repeated USING (id)
            QUALIFY row_number() OVER (PARTITION BY id ORDER BY filename, file_row_number) > 1
            ORDER BY filename, file_row_number
        """
        with (
            damage_as_user_error(folder, DELETE_WORK),
            open_database(folder, workers) as connection,
            atomic_write(listed) as unfinished,
        ):
            connection.read_parquet(
                list(map(str, parts)), filename=True, file_row_number=True
            ).create_view("pictures")
            connection.sql(query).write_parquet(str(unfinished))
    duplicates: list[dict[str, Any]] = pq.read_table(listed).to_pylist()
    for file, rows in group_by(duplicates, lambda row: str(row["part"])).items():
        part = folder / file
        is_repeated = pc.field("source").isin([row["source"] for row in rows])
        pictures = pq.read_table(part, filters=~is_repeated)
        with atomic_write(part) as unfinished:
            pq.write_table(pictures, unfinished)
        write_note(folder, part, pictures.num_rows, read_note(folder, part).bad)
    return duplicates
