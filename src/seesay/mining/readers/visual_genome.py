"""Visual Genome (Krishna et al. 2017): objects.json, region_descriptions.json and image_data.json
in one folder.

An object's first name is its name; region descriptions are the captions. Pictures are `ID.jpg` in
the folder itself or in `images`, `VG_100K` or `VG_100K_2`, as they are distributed.
"""

from __future__ import annotations

from collections.abc import Iterator
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
FOLDERS = ("", "images", "VG_100K", "VG_100K_2")


def read(folder: Path, images: Path | None = None) -> Iterator[Picture | BadAnnotation]:
    """The pictures of a Visual Genome folder, and what had to be left out."""
    image_data = folder / "image_data.json"
    if not image_data.is_file():
        raise UserError(
            f"'{folder}' holds no image_data.json: give the folder with Visual Genome's JSON files."
        )
    with DiskJoin() as join:
        yield from _load(image_data, "image_id", None, join)
        yield from _load(folder / "objects.json", "image_id", "objects", join)
        yield from _load(folder / "region_descriptions.json", "id", "regions", join)
        for picture_id, count in join.unlisted():
            yield BadAnnotation(
                picture_id, "image_data.json does not list this picture", f"{count} annotations"
            )
        for picture_id, data, annotations in join.pictures():
            yield from _picture(picture_id, data, annotations, folder, images)


def _load(path: Path, id_field: str, part: str | None, join: DiskJoin) -> Iterator[BadAnnotation]:
    """Add one file's entries: whole (`part` None), or the items of their list of that name."""
    if not path.is_file():
        yield BadAnnotation(path.name, "the file is missing: pictures have none of what it holds")
        return
    try:
        for number, (_, entry) in enumerate(entries(path)):
            where = f"{path.name}, entry {number}"
            if isinstance(entry, dict):
                picture_id = clean_id(entry.get(id_field, entry.get("image_id")))
            else:
                picture_id = None
            if picture_id is None:
                yield BadAnnotation(where, "the entry has no image id")
            elif part is None:
                if not join.add_picture(picture_id, entry):
                    yield BadAnnotation(f"{where}, picture {picture_id}", DUPLICATE)
            elif not isinstance(entry.get(part), list):
                yield BadAnnotation(where, f"the entry has no list of {part}")
            else:
                for item in entry[part]:
                    join.add_entry(picture_id, part, item)
    except BrokenFileError as error:
        yield BadAnnotation(path.name, BROKEN, str(error))


def _picture(
    picture_id: str,
    data: dict[str, Any],
    annotations: dict[str, list[Any]],
    folder: Path,
    images: Path | None,
) -> Iterator[Picture | BadAnnotation]:
    try:
        size = clean_size(data.get("width"), data.get("height"))
        path = _file(picture_id, folder, images)
        if path is not None:
            check_picture(path, size)
    except BadAnnotationError as error:
        yield error.at(picture_id)
        return
    objects = []
    object_ids = set()
    for item in annotations.get("objects", ()):
        if isinstance(item, dict):
            object_id = clean_id(item.get("object_id"))
        else:
            object_id = None
        if object_id is not None and object_id in object_ids:
            yield BadAnnotation(f"{picture_id}, object {object_id}", DUPLICATE)
            continue
        object_ids.add(object_id)
        objects.append(_object(item))
    phrases = [
        item.get("phrase") if isinstance(item, dict) else None
        for item in annotations.get("regions", ())
    ]
    yield from clean_picture(picture_id, picture_id, size, objects, phrases, path=path)


def _object(item: Any) -> tuple[Any, Any, Any]:
    if not isinstance(item, dict):
        return None, None, None
    names = item.get("names", item.get("name"))
    name = names[0] if isinstance(names, list) and names else names
    return name, [item.get(side) for side in ("x", "y", "w", "h")], None


def _file(picture_id: str, folder: Path, images: Path | None) -> Path | None:
    """A picture's file. Every picture must have one only if a folder of pictures is given."""
    base = images or folder
    candidates = (
        inside(base, f"{sub}/{picture_id}.jpg" if sub else f"{picture_id}.jpg") for sub in FOLDERS
    )
    path = next((path for path in candidates if path is not None and path.is_file()), None)
    return path or (base / f"{picture_id}.jpg" if images else None)
