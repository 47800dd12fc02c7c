"""COCO (Lin et al. 2014): instances and captions, each one file of images, annotations and
categories.

Several files are given with commas between them: `coco:instances.json,captions.json`. Annotations
need not be sorted by picture, nor do categories have to come first: everything is joined on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from seesay.data.json_stream import BROKEN, BrokenFileError, entries
from seesay.errors import UserError
from seesay.mining.readers.join import DUPLICATE, DiskJoin, clean_id
from seesay.mining.readers.validation import (
    BadAnnotationError,
    check_picture,
    clean_picture,
    clean_size,
    inside,
)
from seesay.mining.records import BadAnnotation, Picture

FILES = "*.json"
"""The files that are read in a folder."""


def read(paths: Sequence[Path], images: Path | None = None) -> Iterator[Picture | BadAnnotation]:
    """The pictures of COCO files, each read once, and what had to be left out."""
    paths = list({path.resolve(): path for path in paths}.values())
    for path in paths:
        if not path.is_file():
            raise UserError(f"There is no file '{path}'.")
    categories: dict[str, Any] = {}
    with DiskJoin() as join:
        for path in paths:
            yield from _load(path, join, categories, first=path == paths[0])
        for picture_id, count in join.unlisted():
            yield BadAnnotation(picture_id, "the picture is not listed", f"{count} annotations")
        for picture_id, data, annotations in join.pictures():
            yield from _picture(picture_id, data, annotations, categories, images)


def _load(
    path: Path, join: DiskJoin, categories: dict[str, Any], *, first: bool
) -> Iterator[BadAnnotation]:
    """Add one file's entries. A second file may list the same pictures again."""
    try:
        for number, (part, entry) in enumerate(entries(path)):
            if part not in ("images", "annotations", "categories"):
                continue
            where = f"{path.name}, {part}, entry {number}"
            id_field = "image_id" if part == "annotations" else "id"
            if isinstance(entry, dict):
                entry_id = clean_id(entry.get(id_field))
            else:
                entry_id = None
            if entry_id is None:
                yield BadAnnotation(where, "the entry has no id")
            elif part == "categories":
                categories[entry_id] = entry.get("name")
            elif part == "images":
                if not join.add_picture(entry_id, entry) and first:
                    yield BadAnnotation(f"{where}, picture {entry_id}", DUPLICATE)
            elif entry.get("iscrowd") in (1, True):
                yield BadAnnotation(where, "a crowd, which has no box of its own")
            elif "caption" in entry:
                join.add_entry(entry_id, "caption", entry["caption"])
            else:
                region = [entry.get(name) for name in ("category_id", "bbox", "segmentation")]
                join.add_entry(entry_id, "region", region)
    except BrokenFileError as error:
        yield BadAnnotation(path.name, BROKEN, str(error))


def _picture(
    picture_id: str,
    data: dict[str, Any],
    annotations: dict[str, list[Any]],
    categories: dict[str, Any],
    images: Path | None,
) -> Iterator[Picture | BadAnnotation]:
    path = None
    try:
        size = clean_size(data.get("width"), data.get("height"))
        if images is not None:
            if (path := inside(images, data.get("file_name"))) is None:
                raise BadAnnotationError(
                    "the picture has no file name inside the folder of pictures"
                )
            check_picture(path, size)
    except BadAnnotationError as error:
        yield error.at(picture_id)
        return
    regions = [
        (categories.get(clean_id(category) or ""), box, _outline(rings))
        for category, box, rings in annotations.get("region", ())
    ]
    yield from clean_picture(
        picture_id, picture_id, size, regions, annotations.get("caption", ()), path=path
    )


def _outline(rings: Any) -> Any:
    """The longest ring of a segmentation: an object that another one cuts in two has several. Masks
    give none."""
    if not isinstance(rings, list):
        return None
    return max((ring for ring in rings if isinstance(ring, list)), key=len, default=None)
