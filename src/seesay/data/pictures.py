"""Picture files, which are untrusted: opened one at a time, and none that would fill the memory."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 40_000_000
"""Pixels that a picture may have: a few kilobytes of PNG can hold hundreds of millions."""


THUMBNAIL = 96
"""The longer side of a thumbnail in pixels: it takes at most 10 kB of a page."""


class TooManyPixelsError(ValueError):
    """A picture is larger than any photograph that seesay has a use for."""


def check_pixels(image: Image) -> Image:
    """Return the opened picture, whose pixels are not decoded yet, unless it has too many."""
    if image.width * image.height > MOST_PIXELS:
        raise TooManyPixelsError(f"{image.width} x {image.height} pixels are too many")
    return image


def open_rgb(path: str | Path) -> Image:
    """Open a picture in RGB."""
    from PIL import Image

    # Opening reads the header alone, so that the size is known before any pixel is decoded.
    with Image.open(path) as image:
        return check_pixels(image).convert("RGB")


def png_address(image: Image) -> str:
    """Return a picture as a PNG in a data address, with few colours."""
    buffer = io.BytesIO()
    # Few colours take a fraction of the bytes, and a page may hold hundreds of pictures.
    image.quantize(64).save(buffer, "PNG", optimize=True)
    return data_address(buffer.getvalue())


def data_address(png: bytes) -> str:
    """Return a PNG file as a data address."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


Color = tuple[int, int, int]
INK = (30, 30, 30)


@dataclass(frozen=True, slots=True)
class SheetStyle:
    """The look of a contact sheet, lengths in pixels: `gap` between pictures, `below` between a
    picture and its text, and the height of each of the `lines` of text."""

    gap: int
    below: int
    lines: int
    line_height: int
    font_size: int
    paper: Color


def contact_sheet(
    panels: Sequence[tuple[Image, Sequence[tuple[str, Color]]]],
    style: SheetStyle,
    *,
    columns: int,
    size: int,
) -> Image:
    """Return pictures of `size` pixels per side in rows of `columns`.

    Each has its lines of text below.
    """
    from PIL import Image, ImageDraw, ImageFont

    columns = min(columns, len(panels))
    row_count = math.ceil(len(panels) / columns)
    gap = style.gap
    width = size + gap
    height = size + style.lines * style.line_height + gap
    # Every panel brings the gap after it; the one before the first is added once.
    extent = (columns * width + gap, row_count * height + gap)
    sheet = Image.new("RGB", extent, style.paper)
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(style.font_size)
    for place, (picture, lines) in enumerate(panels):
        row, column = divmod(place, columns)
        left = gap + column * width
        top = gap + row * height
        sheet.paste(picture, (left, top))
        for number, (text, color) in enumerate(lines):
            baseline = top + size + style.below + number * style.line_height
            pen.text((left, baseline), text, fill=color, font=font)
    return sheet


@lru_cache(maxsize=512)
def thumbnail(path: str) -> str:
    """Return a small PNG of a picture file as a data address."""
    picture = open_rgb(path)
    picture.thumbnail((THUMBNAIL, THUMBNAIL))
    return png_address(picture)


def open_thumbnail(path: str) -> str | None:
    """Return a small PNG as a data address; None where the picture cannot be opened.

    A page may be made on a machine that lacks the pictures, or the library that opens them.
    """
    try:
        return thumbnail(path)
    except Exception:  # other people's pictures fail in more ways than can be listed
        return None
