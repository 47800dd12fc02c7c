"""What must be true of an annotation before it counts: names, boxes and picture files are other people's input.

A box that is partly outside of its picture is cut at the edge, and its polygon's corners are moved to the edge; one
that is outside altogether, empty, or not four finite numbers is left out with the reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seesay.mine.records import Bad, Region

LARGEST_SIDE = 1 << 20
MOST_REGIONS = 500
"""Regions of a picture that are kept: all pairs of them are compared, so memory grows with the square, and faster."""
_SPACES = re.compile(r"\s+")


class BadAnnotationError(ValueError):
    """Why an annotation cannot be used."""


def clean_name(name: Any) -> str:
    """A name in lower case, its spaces single."""
    if not isinstance(name, str):
        raise BadAnnotationError("the name is not a text")
    if "\ufffd" in name:
        raise BadAnnotationError("the name is not UTF-8")
    if not (cleaned := _SPACES.sub(" ", name).strip().lower()):
        raise BadAnnotationError("the name is empty")
    return cleaned


def clean_size(width: Any, height: Any) -> tuple[int, int]:
    """A picture's width and height in pixels."""
    sides = [_number(side) for side in (width, height)]
    if any(side is None or not 1 <= side <= LARGEST_SIDE for side in sides):
        raise BadAnnotationError("the picture has no usable width and height")
    return int(sides[0] or 0), int(sides[1] or 0)


def clean_region(name: Any, box: Any, polygon: Any, width: int, height: int) -> Region:
    """A region inside its picture."""
    cleaned = clean_name(name)
    if not isinstance(box, Sequence) or isinstance(box, str) or len(box) != 4:
        raise BadAnnotationError("the box is not four numbers")
    numbers = [_number(side) for side in box]
    if any(side is None or not math.isfinite(side) for side in numbers):
        raise BadAnnotationError("the box is not four finite numbers")
    x, y, w, h = (float(side or 0) for side in numbers)
    if w <= 0 or h <= 0:
        raise BadAnnotationError("the box is empty")
    left, top, right, bottom = max(x, 0.0), max(y, 0.0), min(x + w, float(width)), min(y + h, float(height))
    if left >= right or top >= bottom:
        raise BadAnnotationError("the box is outside of the picture")
    return Region(cleaned, (left, top, right - left, bottom - top), clean_polygon(polygon, width, height))


def clean_polygon(polygon: Any, width: int, height: int) -> tuple[float, ...]:
    """An outline x, y, x, y, … inside its picture; nothing where there is none."""
    if polygon is None or (isinstance(polygon, Sequence) and not polygon):
        return ()
    if not isinstance(polygon, Sequence) or isinstance(polygon, str):
        raise BadAnnotationError("the polygon is not a list of numbers")
    numbers = [_number(value) for value in polygon]
    if len(numbers) < 6 or len(numbers) % 2 or any(v is None or not math.isfinite(v) for v in numbers):
        raise BadAnnotationError("the polygon is not three or more points of finite numbers")
    limits = (float(width), float(height))
    return tuple(min(max(float(v or 0), 0.0), limits[i % 2]) for i, v in enumerate(numbers))


def bounds(polygon: Sequence[float]) -> tuple[float, float, float, float]:
    """The box around a polygon."""
    xs, ys = polygon[::2], polygon[1::2]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def regions(
    where: str, found: Sequence[tuple[Any, Any, Any]], width: int, height: int
) -> tuple[tuple[Region, ...], list[Bad]]:
    """The usable ones of a picture's (name, box, polygon) and what is wrong with the others."""
    good: list[Region] = []
    bad: list[Bad] = []
    for number, (name, box, polygon) in enumerate(found):
        try:
            if len(good) == MOST_REGIONS:
                raise BadAnnotationError(f"the picture has more than {MOST_REGIONS} regions: the first are kept")
            good.append(clean_region(name, box, polygon, width, height))
        except BadAnnotationError as error:
            bad.append(Bad(f"{where}, region {number}", str(error)))
    return tuple(good), bad


def captions(where: str, found: Sequence[Any]) -> tuple[tuple[str, ...], list[Bad]]:
    """The usable captions of a picture and what is wrong with the others."""
    good: list[str] = []
    bad: list[Bad] = []
    for number, text in enumerate(found):
        if isinstance(text, str) and text.strip():
            good.append(_SPACES.sub(" ", text).strip())
        else:
            bad.append(Bad(f"{where}, caption {number}", "the caption is not a text, or empty"))
    return tuple(good), bad


def inside(folder: Path, name: Any) -> Path | None:
    """The file of this name, if it is under the folder: an annotation may name no other file of the machine."""
    if not isinstance(name, str) or not name or "\0" in name:
        return None
    path = folder / name
    return path if path.resolve().is_relative_to(folder.resolve()) else None


def check_picture(path: Path, width: int, height: int) -> None:
    """Refuse a picture file that is missing, broken, cut off, or of another size than annotated.

    Pixels are not decoded here: the header, PNG's checksums and JPEG's end marker tell nearly all broken files.
    """
    from PIL import Image

    if not path.is_file():
        raise BadAnnotationError("the picture file is missing")
    try:
        with Image.open(path) as image:
            kind, size = image.format, image.size
            image.verify()
        with path.open("rb") as file:
            file.seek(max(-64, -path.stat().st_size), 2)
            ends = b"\xff\xd9" in file.read()
    except Exception as error:  # image libraries raise nearly anything on rubbish
        raise BadAnnotationError(f"the picture file is broken ({type(error).__name__})") from error
    if kind == "JPEG" and not ends:
        raise BadAnnotationError("the picture file is cut off")
    if size != (width, height):
        raise BadAnnotationError(
            f"the picture has another size than annotated ({size[0]} x {size[1]}, not {width} x {height})"
        )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
