"""Picture files, which are untrusted: opened one at a time, and none that would fill the memory."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 40_000_000
"""Pixels that a picture may have: a few kilobytes of PNG can hold hundreds of millions."""


class TooManyPixelsError(ValueError):
    """A picture is larger than any photograph that seesay has a use for."""


def check_pixels(image: Image) -> Image:
    """The opened picture, whose pixels have not been decoded yet, unless it has too many."""
    if image.width * image.height > MOST_PIXELS:
        raise TooManyPixelsError(f"{image.width} x {image.height} pixels are too many")
    return image


def open_rgb(path: str | Path) -> Image:
    """A picture in RGB."""
    from PIL import Image

    with Image.open(path) as image:
        return check_pixels(image).convert("RGB")


def png_address(image: Image) -> str:
    """A picture as a PNG in a data address, with few colours."""
    buffer = io.BytesIO()
    image.quantize(64).save(buffer, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


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
    """Pictures of `size` pixels per side in rows of `columns`, each with its lines of text
    below."""
    from PIL import Image, ImageDraw, ImageFont

    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    gap = style.gap
    height = size + style.lines * style.line_height + style.gap
    sheet = Image.new("RGB", (columns * (size + gap) + gap, rows * height + gap), style.paper)
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(style.font_size)
    for place, (picture, lines) in enumerate(panels):
        left = gap + place % columns * (size + gap)
        top = gap + place // columns * height
        sheet.paste(picture, (left, top))
        for number, (text, color) in enumerate(lines):
            pen.text(
                (left, top + size + style.below + number * style.line_height),
                text,
                fill=color,
                font=font,
            )
    return sheet
