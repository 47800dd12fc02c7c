"""ADE20K (Zhou et al. 2017): a JSON file a picture, beside it, with polygons, parts and the scene.

A part is named after what it is part of ("cabinet door"), one level up only, as the names in ViPhy's published space
table are; names are the annotators' own words (`raw_name`), as there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.mine.readers.join import Shelf
from seesay.mine.readers.validation import (
    BadAnnotationError,
    bounds,
    check_picture,
    clean_name,
    clean_polygon,
    clean_size,
    inside,
    regions,
)
from seesay.mine.records import Bad, Picture

LARGEST = 1 << 26
"""Bytes a picture's file may have; the largest of ADE20K has a few million."""


def read(folder: Path, images: Path | None = None) -> Iterator[Picture | Bad]:
    """The pictures of a folder (and the folders in it), by path, and what had to be left out."""
    if not folder.is_dir():
        raise UserError(f"'{folder}' is no folder: give the one with ADE20K's JSON files.")
    with Shelf() as seen:
        for path in _files(folder):
            yield from _picture(path, folder, images, seen)


def _files(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(here) / name for name in sorted(names) if name.endswith(".json"))


def _picture(path: Path, folder: Path, images: Path | None, seen: Shelf) -> Iterator[Picture | Bad]:
    where = str(path.relative_to(folder))
    try:
        annotation = _load(path)
        size = annotation.get("imsize")
        if not isinstance(size, list) or len(size) < 2:
            raise BadAnnotationError("the picture has no usable width and height")
        width, height = clean_size(size[1], size[0])
        file = _file(annotation.get("filename"), path, images)
        if file is not None:
            check_picture(file, width, height)
        if not seen.picture(path.stem, None):
            raise BadAnnotationError("the id is there twice: the first is kept")
    except BadAnnotationError as error:
        yield Bad(where, str(error))
        return
    objects = annotation.get("object")
    if isinstance(objects, dict):  # one object only
        objects = [objects]
    if not isinstance(objects, list):
        yield Bad(where, "the list of objects is missing")
        objects = []
    by_id = {o["id"]: o for o in objects if isinstance(o, dict) and isinstance(o.get("id"), int)}
    things, bad = [], []
    for number, item in enumerate(objects):
        try:
            polygon = clean_polygon(_points(item), width, height)
            if not polygon:
                raise BadAnnotationError("the object has no polygon")
            things.append((_name(item, by_id), bounds(polygon), polygon))
        except BadAnnotationError as error:
            bad.append(Bad(f"{where}, object {number}", str(error)))
    good, more = regions(where, things, width, height)
    yield from (*bad, *more)
    text = str(file.resolve()) if file else ""
    yield Picture(path.stem, width, height, good, scene=_scene(annotation.get("scene")), path=text)


def _load(path: Path) -> dict[str, Any]:
    if path.stat().st_size > LARGEST:
        raise BadAnnotationError(f"the file is larger than {LARGEST} bytes")
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")  # as some of the published files are
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadAnnotationError(f"the file is no JSON ({error})") from error
    annotation = found.get("annotation") if isinstance(found, dict) else None
    if not isinstance(annotation, dict):
        raise BadAnnotationError("the file holds no annotation of a picture")
    return annotation


def _file(name: Any, path: Path, images: Path | None) -> Path | None:
    """A picture's file, beside its annotation. Only where a folder of pictures is given must every picture have one."""
    file = inside(images or path.parent, name)
    if images is not None and file is None:
        raise BadAnnotationError("the picture has no file name inside the folder of pictures")
    return file if file is not None and (images is not None or file.is_file()) else None


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
    return f"{_raw(by_id[whole])} {own}" if isinstance(whole, int) and whole in by_id else own


def _raw(item: dict[str, Any]) -> str:
    """The annotator's word for it; where that is missing, the first of the class's names."""
    name = item.get("raw_name") or item.get("name")
    return clean_name(name.split(",")[0] if isinstance(name, str) else name)


def _scene(scene: Any) -> str:
    """The finest word for the scene, spelt as ViPhy does: living_room."""
    words = [word for word in scene if isinstance(word, str)] if isinstance(scene, list) else []
    return words[-1].strip().lower().replace(" ", "_") if words else ""
