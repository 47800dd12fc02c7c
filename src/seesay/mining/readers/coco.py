"""COCO (Lin et al. 2014): files of images, annotations and categories; instances and captions.

Several files are given with commas between them: `coco:instances.json,captions.json`. Annotations
need not be sorted by picture, nor do categories have to come first: everything is joined on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.mining.readers.join import (
    DUPLICATE,
    DiskJoin,
    Entries,
    JoinedFile,
    JoinedPictures,
    Spread,
    clean_id,
    field_id,
    split_joined,
)
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
CROWD = "a crowd, which has no box of its own"


def split(
    place: str, rows: int, folder: Path, spread: Spread
) -> Iterator[JoinedPictures | BadAnnotation]:
    """Yield the pictures of COCO files, each read once, in parts, and what was left out."""
    paths = list({Path(part).resolve(): Path(part) for part in place.split(",")}.values())
    for path in paths:
        if not path.is_file():
            raise UserError(f"There is no file '{path}'.")
    categories: dict[str, Any] = {}
    files = [
        JoinedFile(path, _prepare, partial(_add, path.name, categories, path == paths[0]))
        for path in paths
    ]
    return split_joined(files, rows, folder, spread, categories)


def read(part: JoinedPictures, images: Path | None) -> Iterator[Picture | BadAnnotation]:
    """Yield the pictures of a part, and what is wrong with them."""
    for picture in part:
        yield from _picture(*picture, part.context, images)


def _add(
    file: str,
    categories: dict[str, Any],
    is_first: bool,
    join: DiskJoin,
    number: int,
    row: tuple[str, str | None, Any],
) -> BadAnnotation | None:
    """Add a picture or a category of a file, or return what is wrong with it."""
    part, entry_id, data = row
    where = f"{file}, {part}, entry {number}"
    if entry_id is None:
        return BadAnnotation(where, "the entry has no id")
    if part == "annotations":
        return BadAnnotation(where, CROWD)
    if part == "categories":
        _add_category(entry_id, data, where, categories)
    elif not join.add_picture(entry_id, data):
        if is_first:
            return BadAnnotation(f"{where}, picture {entry_id}", DUPLICATE)
        # The file of captions lists the pictures of the file of instances again.
        _refuse_other_picture(entry_id, data, where, join)
    return None


def _prepare(part: str, entry: Any) -> Entries | tuple[str, str | None, Any] | None:
    """Return what belongs to a picture; of what is said otherwise, the part of the file, the id,
    and the picture or the category's name. None for what is of no use."""
    if part not in ("images", "annotations", "categories"):
        return None
    entry_id = field_id(entry, "image_id" if part == "annotations" else "id")
    if entry_id is None:
        return part, None, None
    if part == "images":
        return part, entry_id, entry
    if part == "categories":
        return part, entry_id, entry.get("name")
    if entry.get("iscrowd") in (1, True):
        return part, entry_id, None
    if "caption" in entry:
        return Entries(entry_id, "caption", [entry["caption"]])
    region = [entry.get(name) for name in ("category_id", "bbox", "segmentation")]
    return Entries(entry_id, "region", [region])


def _add_category(category_id: str, name: Any, where: str, categories: dict[str, Any]) -> None:
    """Add a category; files whose numbers mean different things cannot be read together."""
    if categories.setdefault(category_id, name) != name:
        raise UserError(
            f"{where}: category {category_id} is {name!r} here and {categories[category_id]!r} "
            "before: mine files that number differently one by one."
        )


def _refuse_other_picture(
    picture_id: str, entry: dict[str, Any], where: str, join: DiskJoin
) -> None:
    """Refuse a file that gives a number to another picture than the files before it."""
    listed = join.picture(picture_id)
    for field in ("file_name", "width", "height"):
        values = (entry.get(field), listed.get(field))
        if None not in values and values[0] != values[1]:
            raise UserError(
                f"{where}: picture {picture_id} has the {field} {values[0]!r} here and "
                f"{values[1]!r} before: mine files that number differently one by one."
            )


def _picture(
    picture_id: str,
    data: dict[str, Any],
    annotations: dict[str, list[Any]],
    categories: dict[str, Any],
    images: Path | None,
) -> Iterator[Picture | BadAnnotation]:
    """Yield a picture with its regions and captions, after what is wrong with it."""
    path = None
    try:
        size = clean_size(data.get("width"), data.get("height"))
        if images is not None:
            path = inside(images, data.get("file_name"))
            if path is None:
                raise BadAnnotationError(
                    "the picture has no file name inside the folder of pictures"
                )
            check_picture(path, size)
    except BadAnnotationError as error:
        yield error.at(picture_id)
        return
    regions = []
    for category, box, rings in annotations.get("region", ()):
        name = categories.get(clean_id(category) or "")
        regions.append((name, box, _outline(rings)))
    captions = annotations.get("caption", ())
    yield from clean_picture(
        picture_id,
        picture_id,
        size,
        regions,
        captions,
        path=path,
    )


def _outline(rings: Any) -> Any:
    """Return the longest ring of a segmentation, or None if it is a mask.

    An object that another one cuts in two has several rings.
    """
    if not isinstance(rings, list):
        return None
    polygons = [ring for ring in rings if isinstance(ring, list)]
    return max(polygons, key=len, default=None)
