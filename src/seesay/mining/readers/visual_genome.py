"""Visual Genome (Krishna et al. 2017): objects, region descriptions and image data in one folder.

ViPhy takes names, subtypes, colours and sizes from it (section 3.1). An object's first name is its
name; region descriptions are the captions. Pictures are `ID.jpg` in the folder itself or in
`images`, `VG_100K` or `VG_100K_2`, as they are distributed.
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
    field_id,
    split_joined,
)
from seesay.mining.readers.validation import (
    BadAnnotationError,
    RawRegion,
    check_picture,
    clean_picture,
    clean_size,
    inside,
)
from seesay.mining.records import BadAnnotation, Picture

FILES = "*.json"
"""The files that are read in a folder."""
FOLDERS = ("", "images", "VG_100K", "VG_100K_2")
"""Where pictures may be, in the order in which they are looked for."""


def split(
    place: str, rows: int, scratch: Path, spread: Spread
) -> Iterator[JoinedPictures | BadAnnotation]:
    """Yield the pictures of a Visual Genome folder in parts, and what was left out."""
    folder = Path(place)
    image_data = folder / "image_data.json"
    if not image_data.is_file():
        raise UserError(
            f"'{folder}' holds no image_data.json: give the folder with Visual Genome's JSON files."
        )
    files = []
    for path, id_field, part in (
        (image_data, "image_id", ""),
        (folder / "objects.json", "image_id", "objects"),
        (folder / "region_descriptions.json", "id", "regions"),
    ):
        if path.is_file():
            prepare = partial(_prepare, id_field, part)
            files.append(JoinedFile(path, prepare, partial(_add, path.name)))
        else:
            yield BadAnnotation(
                path.name, "the file is missing: pictures have none of what it holds"
            )
    yield from split_joined(files, rows, scratch, spread, folder)


def read(part: JoinedPictures, images: Path | None) -> Iterator[Picture | BadAnnotation]:
    """Yield the pictures of a part, and what is wrong with them."""
    for picture in part:
        yield from _picture(*picture, part.context, images)


def _add(
    file: str, join: DiskJoin, number: int, row: tuple[str | None, str, Any]
) -> BadAnnotation | None:
    """Add a picture of a file, or return what is wrong with an entry."""
    picture_id, part, data = row
    where = f"{file}, entry {number}"
    if picture_id is None:
        return BadAnnotation(where, "the entry has no image id")
    if data is None:
        return BadAnnotation(where, f"the entry has no list of {part}")
    if not join.add_picture(picture_id, data):
        return BadAnnotation(f"{where}, picture {picture_id}", DUPLICATE)
    return None


def _prepare(id_field: str, part: str, _: str, entry: Any) -> Entries | tuple[str | None, str, Any]:
    """Return the entry's list of the name `part`, which belongs to a picture. Where there is none,
    return the id, the name, and the entry if it is the picture itself."""
    picture_id = field_id(entry, id_field, "image_id")
    if picture_id is None or not part:
        return picture_id, part, entry
    items = entry.get(part)
    if isinstance(items, list):
        return Entries(picture_id, part, items)
    return picture_id, part, None


def _picture(
    picture_id: str,
    data: dict[str, Any],
    annotations: dict[str, list[Any]],
    folder: Path,
    images: Path | None,
) -> Iterator[Picture | BadAnnotation]:
    """Yield a picture with its objects and descriptions, after what is wrong with it."""
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
        object_id = field_id(item, "object_id")
        if object_id is not None and object_id in object_ids:
            yield BadAnnotation(f"{picture_id}, object {object_id}", DUPLICATE)
            continue
        # Objects without an id are all kept: nothing says that two of them are the same.
        object_ids.add(object_id)
        objects.append(_object(item))
    phrases = [_phrase(item) for item in annotations.get("regions", ())]
    yield from clean_picture(
        picture_id,
        picture_id,
        size,
        objects,
        phrases,
        path=path,
    )


def _phrase(item: Any) -> Any:
    """Return a description's text; `clean_picture` rejects what is missing."""
    return item.get("phrase") if isinstance(item, dict) else None


def _object(item: Any) -> RawRegion:
    """Return name, box and polygon, of which the format has none."""
    if not isinstance(item, dict):
        return None, None, None
    name = item.get("names", item.get("name"))
    if isinstance(name, list) and name:
        name = name[0]
    box = [item.get(side) for side in ("x", "y", "w", "h")]
    return name, box, None


def _file(picture_id: str, folder: Path, images: Path | None) -> Path | None:
    """Return a picture's file.

    Only with a folder of pictures must every picture have one: a missing file is then reported
    under the name that it should have.
    """
    base = images or folder
    name = f"{picture_id}.jpg"
    for subfolder in FOLDERS:
        path = inside(base, f"{subfolder}/{name}" if subfolder else name)
        if path is not None and path.is_file():
            return path
    return base / name if images else None
