"""ADE20K (Zhou et al. 2017): one JSON file beside each picture, with polygons, parts and the scene.

ViPhy takes its spatial relations from it (section 3.1). A part is named after its whole ("cabinet
door"), one level up only, and names are the annotators' own words (`raw_name`), as in ViPhy's
published space table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seesay.data.json_stream import parse_json
from seesay.errors import UserError
from seesay.grouping import chunks, group_by
from seesay.mining.readers.validation import (
    BadAnnotationError,
    bounds,
    check_picture,
    clean_name,
    clean_picture,
    clean_polygon,
    clean_size,
    inside,
)
from seesay.mining.records import BadAnnotation, Picture

FILES = "**/*.json"
"""The files that are read in a folder."""
MAX_BYTES = 1 << 26
"""Size limit of an annotation file; the largest of ADE20K has a few million bytes."""


@dataclass(frozen=True, slots=True)
class AdePart:
    """Some of the files of a folder."""

    folder: Path
    files: list[Path]


def split(place: str, rows: int, *_: object) -> Iterator[AdePart]:
    """Yield the files of a folder (and the folders in it), by path, so many at a time."""
    folder = Path(place)
    if not folder.is_dir():
        raise UserError(f"'{folder}' is not a folder: give the one with ADE20K's JSON files.")
    for paths in chunks(_files(folder), rows):
        yield AdePart(folder, paths)


def read(part: AdePart, images: Path | None) -> Iterator[Picture | BadAnnotation]:
    """Yield the pictures of a part, and what is wrong with them."""
    for path in part.files:
        yield from _picture(path, part.folder, images)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the JSON files of a folder and the folders in it, in alphabetical order."""
    for here, folders, names in os.walk(folder):
        # In place: `os.walk` goes on in the order of this list.
        folders.sort()
        yield from (Path(here) / name for name in sorted(names) if name.endswith(".json"))


def _picture(
    path: Path,
    folder: Path,
    images: Path | None,
) -> Iterator[Picture | BadAnnotation]:
    """Yield the picture that a file annotates, after what is wrong with it."""
    where = str(path.relative_to(folder))
    try:
        annotation = _load(path)
        size = _size(annotation.get("imsize"))
        file = _file(annotation.get("filename"), path, images)
        if file is not None:
            check_picture(file, size)
    except BadAnnotationError as error:
        yield error.at(where)
        return
    objects = annotation.get("object")
    # A list of one object may be written as that object.
    if isinstance(objects, dict):
        objects = [objects]
    if not isinstance(objects, list):
        yield BadAnnotation(where, "the list of objects is missing")
        objects = []
    by_id = _by_id(objects)
    regions = []
    for number, item in enumerate(objects):
        try:
            polygon = clean_polygon(_points(item), *size)
            if not polygon:
                raise BadAnnotationError("the object has no polygon")
            name = _name(item, by_id)
            regions.append((name, bounds(polygon), polygon))
        except BadAnnotationError as error:
            yield error.at(f"{where}, object {number}")
    yield from clean_picture(
        where,
        path.stem,
        size,
        regions,
        scene=_scene(annotation.get("scene")),
        path=file,
    )


def _by_id(objects: list[Any]) -> dict[int, list[Any]]:
    """Return the objects that have an id, by which parts name their whole.

    Several may share one, though they should not.
    """
    with_id = (
        item for item in objects if isinstance(item, dict) and isinstance(item.get("id"), int)
    )
    return group_by(with_id, lambda item: item["id"])


def _size(sides: Any) -> tuple[int, int]:
    """Return width and height; the format has the height first, and the channels last."""
    if isinstance(sides, list) and len(sides) > 1:
        return clean_size(sides[1], sides[0])
    return clean_size(None, None)


def _load(path: Path) -> dict[str, Any]:
    """Return the annotation in a file."""
    if path.stat().st_size > MAX_BYTES:
        raise BadAnnotationError(f"the file is larger than {MAX_BYTES} bytes")
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Some of the published files are in Latin-1, in which every byte is a character.
        text = raw.decode("latin-1")
    try:
        document = parse_json(text)
    except ValueError as error:
        raise BadAnnotationError("the file is not JSON", str(error)) from error
    annotation = document.get("annotation") if isinstance(document, dict) else None
    if not isinstance(annotation, dict):
        raise BadAnnotationError("the file holds no annotation of a picture")
    return annotation


def _file(name: Any, path: Path, images: Path | None) -> Path | None:
    """Return a picture's file, beside its annotation or in the folder of pictures.

    Only with a folder of pictures must every picture have one.
    """
    file = inside(images or path.parent, name)
    if images is not None and file is None:
        raise BadAnnotationError("the picture has no file name inside the folder of pictures")
    if file is not None and (images is not None or file.is_file()):
        return file
    return None


def _points(item: Any) -> list[Any] | None:
    """Return an object's polygon as x, y, x, y, … or None if it has none."""
    if not isinstance(item, dict) or not isinstance(item.get("polygon"), dict):
        return None
    x = item["polygon"].get("x")
    y = item["polygon"].get("y")
    if not isinstance(x, list) or not isinstance(y, list) or len(x) != len(y):
        return None
    return [value for point in zip(x, y, strict=True) for value in point]


def _name(item: dict[str, Any], by_id: dict[int, list[Any]]) -> str:
    """Return an object's name, after that of the object which it is part of.

    A part whose whole has the id of another object, with another name, has no name that is sure.
    """
    name = _raw_name(item)
    parts = item.get("parts")
    whole = parts.get("ispartof") if isinstance(parts, dict) else None
    if isinstance(whole, int) and whole in by_id:
        names = {_raw_name(candidate) for candidate in by_id[whole]}
        if len(names) > 1:
            raise BadAnnotationError("the object is part of one whose id several objects have")
        return f"{names.pop()} {name}"
    return name


def _raw_name(item: dict[str, Any]) -> str:
    """Return the annotator's own word; if it is missing, the first of the class's names."""
    name = item.get("raw_name") or item.get("name")
    if isinstance(name, str):
        return clean_name(name.split(",")[0])
    return clean_name(name)


def _scene(scene: Any) -> str:
    """Return the most specific word for the scene, spelt as ViPhy does: living_room."""
    if not isinstance(scene, list):
        return ""
    words = [word for word in scene if isinstance(word, str)]
    if not words:
        return ""
    return words[-1].strip().lower().replace(" ", "_")
