"""Visual Genome (Krishna et al. 2017): objects.json, region_descriptions.json and image_data.json in one folder.

An object's first name is its name; region descriptions are the captions. Pictures are `ID.jpg` in the folder itself or
in `images`, `VG_100K` or `VG_100K_2`, as they are distributed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.mine.readers.join import Shelf, key
from seesay.mine.readers.json_stream import BrokenFileError, entries
from seesay.mine.readers.validation import BadAnnotationError, captions, check_picture, clean_size, inside, regions
from seesay.mine.records import Bad, Picture

FOLDERS = ("", "images", "VG_100K", "VG_100K_2")


def read(folder: Path, images: Path | None = None) -> Iterator[Picture | Bad]:
    """The pictures of a Visual Genome folder, and what had to be left out."""
    described = folder / "image_data.json"
    if not described.is_file():
        raise UserError(f"'{folder}' holds no image_data.json: give the folder with Visual Genome's JSON files.")
    with Shelf() as shelf:
        yield from _load(described, "image_id", None, shelf)
        yield from _load(folder / "objects.json", "image_id", "objects", shelf)
        yield from _load(folder / "region_descriptions.json", "id", "regions", shelf)
        for id_, count in shelf.strays():
            yield Bad(id_, f"image_data.json does not list this picture ({count} annotations)")
        for id_, data, found in shelf.pictures():
            yield from _picture(id_, data, found, folder, images)


def _load(path: Path, id_field: str, part: str | None, shelf: Shelf) -> Iterator[Bad]:
    """Put one file's entries on the shelf: whole (`part` None) or their list of that name."""
    if not path.is_file():
        yield Bad(path.name, "the file is missing: pictures have none of what it holds")
        return
    try:
        for number, (_, entry) in enumerate(entries(path)):
            where = f"{path.name}, entry {number}"
            id_ = key(entry.get(id_field, entry.get("image_id"))) if isinstance(entry, dict) else None
            if id_ is None:
                yield Bad(where, "the entry has no image id")
            elif part is None:
                if not shelf.picture(id_, entry):
                    yield Bad(f"{where}, picture {id_}", "the id is there twice: the first is kept")
            elif not isinstance(entry.get(part), list):
                yield Bad(where, f"the entry has no list of {part}")
            else:
                for item in entry[part]:
                    shelf.put(id_, part, item)
    except BrokenFileError as error:
        yield Bad(path.name, f"broken from here on: {error}")


def _picture(
    id_: str, data: dict[str, Any], found: dict[str, list[Any]], folder: Path, images: Path | None
) -> Iterator[Picture | Bad]:
    try:
        width, height = clean_size(data.get("width"), data.get("height"))
        path = _file(id_, folder, images)
        if path is not None:
            check_picture(path, width, height)
    except BadAnnotationError as error:
        yield Bad(id_, str(error))
        return
    objects, seen = [], set()
    for item in found.get("objects", ()):
        object_id = key(item.get("object_id")) if isinstance(item, dict) else None
        if object_id is not None and object_id in seen:
            yield Bad(f"{id_}, object {object_id}", "the id is there twice: the first is kept")
            continue
        seen.add(object_id)
        objects.append(_object(item))
    good, bad = regions(id_, objects, width, height)
    said, unusable = captions(id_, [_phrase(item) for item in found.get("regions", ())])
    yield from (*bad, *unusable)
    yield Picture(id_, width, height, good, said, path=str(path.resolve()) if path else "")


def _object(item: Any) -> tuple[Any, Any, Any]:
    if not isinstance(item, dict):
        return None, None, None
    names = item.get("names", item.get("name"))
    name = names[0] if isinstance(names, list) and names else names
    return name, [item.get(side) for side in ("x", "y", "w", "h")], None


def _phrase(item: Any) -> Any:
    return item.get("phrase") if isinstance(item, dict) else None


def _file(id_: str, folder: Path, images: Path | None) -> Path | None:
    """A picture's file. Only where a folder of pictures is given must every picture have one."""
    base = images or folder
    found = [path for sub in FOLDERS if (path := inside(base, f"{sub}/{id_}.jpg" if sub else f"{id_}.jpg"))]
    there = next((path for path in found if path.is_file()), None)
    return there or (base / f"{id_}.jpg" if images else None)
