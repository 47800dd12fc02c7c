"""Validation of annotations: names, boxes and picture files are untrusted input.

A box that is partly outside its picture is clipped at the edge, and its polygon's points are moved
to the edge; one that is entirely outside, empty, or not four finite numbers is left out with the
reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from seesay.data.json_stream import is_text
from seesay.data.pictures import TooManyPixelsError, check_pixels
from seesay.files import path_below
from seesay.mining.records import BadAnnotation, Box, Picture, Region

MAX_SIDE = 1 << 20
MAX_CAPTION = 10_000
"""Characters of a caption that are tagged: memory and time of the tagger grow with them."""
MAX_REGIONS = 500
"""Regions kept per picture: all pairs of them are compared, so memory grows with the square, and
faster."""
_SPACES = re.compile(r"\s+")


class BadAnnotationError(ValueError):
    """Why an annotation cannot be used: the kind of mistake, and the details of this one."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)

    def at(self, where: str) -> BadAnnotation:
        """The same as an entry of the list of what was left out."""
        return BadAnnotation(where, *self.args)


def clean_name(name: Any) -> str:
    """A name in lower case with single spaces."""
    if not isinstance(name, str):
        raise BadAnnotationError("the name is not a text")
    if "\ufffd" in name or not is_text(name):
        raise BadAnnotationError("the name is not UTF-8")
    if not (cleaned := _SPACES.sub(" ", name).strip().lower()):
        raise BadAnnotationError("the name is empty")
    return cleaned


def clean_size(width: Any, height: Any) -> tuple[int, int]:
    """A picture's width and height in pixels."""
    sides = [_number(side) for side in (width, height)]
    if any(side is None or not 1 <= side <= MAX_SIDE for side in sides):
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
    left = max(x, 0.0)
    top = max(y, 0.0)
    right = min(x + w, float(width))
    bottom = min(y + h, float(height))
    if left >= right or top >= bottom:
        raise BadAnnotationError("the box is outside of the picture")
    return Region(
        cleaned, (left, top, right - left, bottom - top), clean_polygon(polygon, width, height)
    )


def clean_polygon(polygon: Any, width: int, height: int) -> tuple[float, ...]:
    """An outline x, y, x, y, … inside its picture; empty if there is none."""
    if polygon is None or (isinstance(polygon, Sequence) and not polygon):
        return ()
    if not isinstance(polygon, Sequence) or isinstance(polygon, str):
        raise BadAnnotationError("the polygon is not a list of numbers")
    numbers = [_number(value) for value in polygon]
    if (
        len(numbers) < 6
        or len(numbers) % 2
        or any(v is None or not math.isfinite(v) for v in numbers)
    ):
        raise BadAnnotationError("the polygon is not three or more points of finite numbers")
    limits = (float(width), float(height))
    return tuple(min(max(float(v or 0), 0.0), limits[i % 2]) for i, v in enumerate(numbers))


def bounds(polygon: Sequence[float]) -> Box:
    """The box around a polygon."""
    xs = polygon[::2]
    ys = polygon[1::2]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def clean_picture(
    where: str,
    picture_id: str,
    size: tuple[int, int],
    raw_regions: Sequence[tuple[Any, Any, Any]],
    raw_captions: Sequence[Any] = (),
    *,
    scene: str = "",
    path: Path | None = None,
    depth: Path | None = None,
) -> Iterator[Picture | BadAnnotation]:
    """A picture with its usable regions (name, box, polygon) and captions, after what is wrong with
    the others."""
    regions: list[Region] = []
    for number, raw_region in enumerate(raw_regions):
        try:
            if len(regions) == MAX_REGIONS:
                raise BadAnnotationError(
                    f"the picture has more than {MAX_REGIONS} regions: the first are kept"
                )
            regions.append(clean_region(*raw_region, *size))
        except BadAnnotationError as error:
            yield error.at(f"{where}, region {number}")
    captions: list[str] = []
    for number, text in enumerate(raw_captions):
        if not is_text(text) or not text.strip():
            yield BadAnnotation(f"{where}, caption {number}", "the caption is not a text, or empty")
        elif len(text) > MAX_CAPTION:
            yield BadAnnotation(
                f"{where}, caption {number}",
                f"the caption has more than {MAX_CAPTION:,} characters",
            )
        else:
            captions.append(_SPACES.sub(" ", text).strip())
    if not is_text(scene):
        yield BadAnnotation(where, "the scene is not a text")
        scene = ""
    files = (str(file.resolve()) if file else "" for file in (path, depth))
    yield Picture(picture_id, *size, tuple(regions), tuple(captions), scene, *files)


def inside(folder: Path, name: Any) -> Path | None:
    """The file of this name, if it is under the folder: an annotation may name no other file of the
    machine."""
    if isinstance(name, str) and name:
        return path_below(folder, name)
    return None


def is_file(path: Path) -> bool:
    """Whether there is such a file; `Path.is_file` raises for names that are too long."""
    try:
        return path.is_file()
    except OSError:
        return False


def check_picture(path: Path, size: tuple[int, int]) -> None:
    """Reject a picture file that is missing, broken, truncated, or of another size than annotated.

    Pixels are not decoded here: the header, PNG's checksums and JPEG's end marker reveal nearly all
    broken files.
    """
    from PIL import Image

    if not is_file(path):
        raise BadAnnotationError("the picture file is missing")
    try:
        with Image.open(path) as image:
            file_format = image.format
            file_size = check_pixels(image).size
            image.verify()
        with path.open("rb") as file:
            file.seek(max(-64, -path.stat().st_size), 2)
            has_end = b"\xff\xd9" in file.read()
    except TooManyPixelsError as error:
        raise BadAnnotationError("the picture file has too many pixels", str(error)) from error
    except Exception as error:  # image libraries raise nearly anything on broken files
        raise BadAnnotationError("the picture file is broken", type(error).__name__) from error
    if file_format == "JPEG" and not has_end:
        raise BadAnnotationError("the picture file is cut off")
    if file_size != size:
        detail = "{} x {}, not {} x {}".format(*file_size, *size)
        raise BadAnnotationError("the picture has another size than annotated", detail)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
