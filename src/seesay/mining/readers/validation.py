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
"""Pixels of a picture's side: areas remain exact, and nobody has a larger picture."""
MAX_CAPTION = 10_000
"""Characters of a caption that are tagged: memory and time of the tagger grow with them."""
MAX_REGIONS = 500
"""Regions kept per picture: all pairs of them are compared, so memory grows with the square, and
faster."""
RawRegion = tuple[Any, Any, Any]
"""Name, box and polygon as an annotation has them."""
_SPACES = re.compile(r"\s+")


class BadAnnotationError(ValueError):
    """Why an annotation cannot be used: the kind of mistake, and the details of this one."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)

    def at(self, where: str) -> BadAnnotation:
        """Return this mistake as an entry of the list of what was left out."""
        return BadAnnotation(where, *self.args)


def clean_name(name: Any) -> str:
    """Return a name in lower case with single spaces.

    >>> clean_name(" Coffee  Cup ")
    'coffee cup'
    """
    if not isinstance(name, str):
        raise BadAnnotationError("the name is not a text")
    # U+FFFD is what decoders put in place of broken bytes.
    if "\ufffd" in name or not is_text(name):
        raise BadAnnotationError("the name is not UTF-8")
    cleaned = _SPACES.sub(" ", name).strip().lower()
    if not cleaned:
        raise BadAnnotationError("the name is empty")
    return cleaned


def clean_size(width: Any, height: Any) -> tuple[int, int]:
    """Return a picture's width and height in pixels."""
    return _clean_side(width), _clean_side(height)


def _clean_side(side: Any) -> int:
    """Return a width or a height in pixels."""
    number = _number(side)
    if number is None or not 1 <= number <= MAX_SIDE:
        raise BadAnnotationError("the picture has no usable width and height")
    return int(number)


def clean_region(
    name: Any,
    box: Any,
    polygon: Any,
    width: int,
    height: int,
) -> Region:
    """Return a region inside its picture."""
    cleaned_name = clean_name(name)
    numbers = _finite_numbers(box)
    if len(numbers) != 4 or len(box) != 4:
        raise BadAnnotationError("the box is not four finite numbers")
    x, y, box_width, box_height = numbers
    if box_width <= 0 or box_height <= 0:
        raise BadAnnotationError("the box is empty")
    left = max(x, 0.0)
    top = max(y, 0.0)
    right = min(x + box_width, float(width))
    bottom = min(y + box_height, float(height))
    if left >= right or top >= bottom:
        raise BadAnnotationError("the box is outside of the picture")
    return Region(
        name=cleaned_name,
        box=(left, top, right - left, bottom - top),
        polygon=clean_polygon(polygon, width, height),
    )


def clean_polygon(polygon: Any, width: int, height: int) -> tuple[float, ...]:
    """Return an outline x, y, x, y, … inside its picture; empty if there is none.

    >>> clean_polygon([-1, 0, 9, 0, 9, 4], width=8, height=6)
    (0.0, 0.0, 8.0, 0.0, 8.0, 4.0)
    """
    if polygon is None or (isinstance(polygon, Sequence) and not polygon):
        return ()
    numbers = _finite_numbers(polygon)
    if len(numbers) < 6 or len(numbers) != len(polygon) or len(numbers) % 2:
        raise BadAnnotationError("the polygon is not three or more points of finite numbers")
    # x and y alternate.
    limits = (float(width), float(height))
    return tuple(min(max(value, 0.0), limits[i % 2]) for i, value in enumerate(numbers))


def bounds(polygon: Sequence[float]) -> Box:
    """Return the box around a polygon.

    >>> bounds([1, 2, 4, 2, 4, 8])
    (1, 2, 3, 6)
    """
    xs = polygon[::2]
    ys = polygon[1::2]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def clean_picture(
    where: str,
    picture_id: str,
    size: tuple[int, int],
    raw_regions: Sequence[RawRegion],
    raw_captions: Sequence[Any] = (),
    *,
    scene: str = "",
    path: Path | None = None,
    depth: Path | None = None,
) -> Iterator[Picture | BadAnnotation]:
    """Yield a picture with its usable regions and captions, after what is wrong with the others.

    `where`: what a list of bad annotations calls this picture.
    `size`: its width and height.
    `raw_regions`: names, boxes and polygons, as they are in the annotation.
    `path`, `depth`: its files, where there are any.
    """
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
        try:
            captions.append(_clean_caption(text))
        except BadAnnotationError as error:
            yield error.at(f"{where}, caption {number}")
    if not is_text(scene):
        yield BadAnnotation(where, "the scene is not a text")
        scene = ""
    width, height = size
    yield Picture(
        id=picture_id,
        width=width,
        height=height,
        regions=tuple(regions),
        captions=tuple(captions),
        scene=scene,
        path=str(path.resolve()) if path else "",
        depth=str(depth.resolve()) if depth else "",
        source=where,
    )


def _clean_caption(text: Any) -> str:
    """Return a caption with single spaces."""
    if not is_text(text) or not text.strip():
        raise BadAnnotationError("the caption is not a text, or empty")
    if len(text) > MAX_CAPTION:
        raise BadAnnotationError(f"the caption has more than {MAX_CAPTION:,} characters")
    return _SPACES.sub(" ", text).strip()


def inside(folder: Path, name: Any) -> Path | None:
    """Return the file of this name, if it is under the folder.

    An annotation, which others wrote, may name no other file of the machine.
    """
    if isinstance(name, str) and name:
        return path_below(folder, name)
    return None


def is_file(path: Path) -> bool:
    """Return whether there is such a file; `Path.is_file` raises for names that are too long."""
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
            # A few bytes may follow the end marker.
            file.seek(max(-64, -path.stat().st_size), 2)
            has_end = b"\xff\xd9" in file.read()
    except TooManyPixelsError as error:
        raise BadAnnotationError("the picture file has too many pixels", str(error)) from error
    # Image libraries raise nearly anything on broken files.
    except Exception as error:
        raise BadAnnotationError("the picture file is broken", type(error).__name__) from error
    if file_format == "JPEG" and not has_end:
        raise BadAnnotationError("the picture file is cut off")
    if file_size != size:
        detail = "{} x {}, not {} x {}".format(*file_size, *size)
        raise BadAnnotationError("the picture has another size than annotated", detail)


def _finite_numbers(values: Any) -> list[float]:
    """Return those of the values that are finite numbers; none of what is no list."""
    if not isinstance(values, Sequence):
        return []
    numbers = [_number(value) for value in values]
    return [number for number in numbers if number is not None and math.isfinite(number)]


def _number(value: Any) -> float | None:
    """Return a number; None for anything else, and for one that is too large."""
    # A truth value is an int in Python, but not in an annotation.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
