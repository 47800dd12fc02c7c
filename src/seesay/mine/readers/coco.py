"""COCO (Lin et al. 2014): instances and captions, each one file of images, annotations and categories.

Several files are given with commas between them: `coco:instances.json,captions.json`. A file's annotations are not
sorted by picture, nor must categories come first: all goes over a shelf on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.mine.readers.join import Shelf, key
from seesay.mine.readers.json_stream import BrokenFileError, entries
from seesay.mine.readers.validation import BadAnnotationError, captions, check_picture, clean_size, inside, regions
from seesay.mine.records import Bad, Picture


def read(paths: Sequence[Path], images: Path | None = None) -> Iterator[Picture | Bad]:
    """The pictures of COCO files, and what had to be left out."""
    for path in paths:
        if not path.is_file():
            raise UserError(f"There is no file '{path}'.")
    names: dict[str, Any] = {}
    with Shelf() as shelf:
        for path in paths:
            yield from _load(path, shelf, names, first=path == paths[0])
        for id_, count in shelf.strays():
            yield Bad(id_, f"the picture is not listed ({count} annotations)")
        for id_, data, found in shelf.pictures():
            yield from _picture(id_, data, found, names, images)


def _load(path: Path, shelf: Shelf, names: dict[str, Any], *, first: bool) -> Iterator[Bad]:
    """Put one file on the shelf. That a second file lists the same pictures is no mistake."""
    try:
        for number, (part, entry) in enumerate(entries(path)):
            if part not in ("images", "annotations", "categories"):
                continue
            where = f"{path.name}, {part}, entry {number}"
            id_ = key(entry.get("image_id" if part == "annotations" else "id")) if isinstance(entry, dict) else None
            if id_ is None:
                yield Bad(where, "the entry has no id")
            elif part == "categories":
                names[id_] = entry.get("name")
            elif part == "images":
                if not shelf.picture(id_, entry) and first:
                    yield Bad(f"{where}, picture {id_}", "the id is there twice: the first is kept")
            elif entry.get("iscrowd") in (1, True):
                yield Bad(where, "a crowd, which has no box of its own")
            elif "caption" in entry:
                shelf.put(id_, "caption", entry["caption"])
            else:
                shelf.put(id_, "region", [entry.get(name) for name in ("category_id", "bbox", "segmentation")])
    except BrokenFileError as error:
        yield Bad(path.name, f"broken from here on: {error}")


def _picture(
    id_: str, data: dict[str, Any], found: dict[str, list[Any]], names: dict[str, Any], images: Path | None
) -> Iterator[Picture | Bad]:
    path = None
    try:
        width, height = clean_size(data.get("width"), data.get("height"))
        if images is not None:
            if (path := inside(images, data.get("file_name"))) is None:
                raise BadAnnotationError("the picture has no file name inside the folder of pictures")
            check_picture(path, width, height)
    except BadAnnotationError as error:
        yield Bad(id_, str(error))
        return
    things = [
        (names.get(key(category) or ""), box, _outline(rings)) for category, box, rings in found.get("region", ())
    ]
    good, bad = regions(id_, things, width, height)
    said, unusable = captions(id_, found.get("caption", ()))
    yield from (*bad, *unusable)
    yield Picture(id_, width, height, good, said, path=str(path.resolve()) if path else "")


def _outline(rings: Any) -> Any:
    """The longest ring of a segmentation: a thing cut in two by what stands before it has several. Masks give none."""
    if not isinstance(rings, list):
        return None
    return max((ring for ring in rings if isinstance(ring, list)), key=len, default=None)
