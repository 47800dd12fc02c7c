"""Picture files, which are untrusted: opened one at a time, and none that would fill the memory."""

from __future__ import annotations

import base64
import io
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
