"""ADE20K (Zhou et al. 2017): one JSON file per picture, beside it, with polygons, parts and the
scene.

A part is named after its whole ("cabinet door"), one level up only, and names are the annotators'
own words (`raw_name`), as in ViPhy's published space table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seesay.data.json_stream import parse_json
from seesay.errors import UserError
from seesay.mining.readers.join import DUPLICATE, DiskJoin
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


def read(folder: Path, images: Path | None = None) -> Iterator[Picture | BadAnnotation]:
    """The pictures of a folder (and the folders in it), by path, and what had to be left out."""
    if not folder.is_dir():
        raise UserError(f"'{folder}' is not a folder: give the one with ADE20K's JSON files.")
    with DiskJoin() as ids:
        for path in _files(folder):
            yield from _picture(path, folder, images, ids)


def _files(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(here) / name for name in sorted(names) if name.endswith(".json"))


def _picture(
    path: Path, folder: Path, images: Path | None, ids: DiskJoin
) -> Iterator[Picture | BadAnnotation]:
    where = str(path.relative_to(folder))
    try:
        annotation = _load(path)
        sides = annotation.get("imsize")
        if isinstance(sides, list) and len(sides) > 1:
            size = clean_size(sides[1], sides[0])
        else:
            size = clean_size(0, 0)
        file = _file(annotation.get("filename"), path, images)
        if file is not None:
            check_picture(file, size)
        if not ids.add_picture(path.stem):
            raise BadAnnotationError(DUPLICATE)
    except BadAnnotationError as error:
        yield error.at(where)
        return
    objects = annotation.get("object")
    if isinstance(objects, dict):  # a single object
        objects = [objects]
    if not isinstance(objects, list):
        yield BadAnnotation(where, "the list of objects is missing")
        objects = []
    by_id = {o["id"]: o for o in objects if isinstance(o, dict) and isinstance(o.get("id"), int)}
    regions = []
    for number, item in enumerate(objects):
        try:
            polygon = clean_polygon(_points(item), *size)
            if not polygon:
                raise BadAnnotationError("the object has no polygon")
            regions.append((_name(item, by_id), bounds(polygon), polygon))
        except BadAnnotationError as error:
            yield error.at(f"{where}, object {number}")
    yield from clean_picture(
        where, path.stem, size, regions, scene=_scene(annotation.get("scene")), path=file
    )


def _load(path: Path) -> dict[str, Any]:
    if path.stat().st_size > MAX_BYTES:
        raise BadAnnotationError(f"the file is larger than {MAX_BYTES} bytes")
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")  # as some of the published files are
    try:
        document = parse_json(text)
    except ValueError as error:
        raise BadAnnotationError("the file is not JSON", str(error)) from error
    annotation = document.get("annotation") if isinstance(document, dict) else None
    if not isinstance(annotation, dict):
        raise BadAnnotationError("the file holds no annotation of a picture")
    return annotation


def _file(name: Any, path: Path, images: Path | None) -> Path | None:
    """A picture's file, beside its annotation. Every picture must have one only if a folder of
    pictures is given."""
    file = inside(images or path.parent, name)
    if images is not None and file is None:
        raise BadAnnotationError("the picture has no file name inside the folder of pictures")
    if file is not None and (images is not None or file.is_file()):
        return file
    return None


def _points(item: Any) -> list[Any] | None:
    polygon = item.get("polygon") if isinstance(item, dict) else None
    x, y = (polygon.get("x"), polygon.get("y")) if isinstance(polygon, dict) else (None, None)
    if not isinstance(x, list) or not isinstance(y, list) or len(x) != len(y):
        return None
    return [value for point in zip(x, y, strict=True) for value in point]


def _name(item: dict[str, Any], by_id: dict[int, Any]) -> str:
    parts = item.get("parts")
    whole = parts.get("ispartof") if isinstance(parts, dict) else None
    own = _raw(item)
    if isinstance(whole, int) and whole in by_id:
        return f"{_raw(by_id[whole])} {own}"
    return own


def _raw(item: dict[str, Any]) -> str:
    """The annotator's own word; if it is missing, the first of the class's names."""
    name = item.get("raw_name") or item.get("name")
    return clean_name(name.split(",")[0] if isinstance(name, str) else name)


def _scene(scene: Any) -> str:
    """The most specific word for the scene, spelt as ViPhy does: living_room."""
    if isinstance(scene, list):
        words = [word for word in scene if isinstance(word, str)]
    else:
        words = []
    return words[-1].strip().lower().replace(" ", "_") if words else ""
