"""A contact sheet: scenes side by side with what is said of them, to look at."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import numpy as np

from seesay.errors import UserError
from seesay.scenes.raster import rgb
from seesay.scenes.world import Scene

GAP = 8
LINE = 15
_PAPER, _INK, _TRUE, _FALSE = (250, 250, 248), (30, 30, 30), (0, 110, 60), (170, 30, 30)


def contact_sheet(shown: Sequence[tuple[Scene, str, bool]], *, columns: int = 5, size: int = 200) -> bytes:
    """A PNG of scenes with their sentence and whether it is true."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise UserError("Contact sheets need an extra that is not installed: pip install 'seesay[scenes]'") from error
    if not shown:
        raise UserError("There is no scene to show.")
    columns = min(columns, len(shown))
    rows = -(-len(shown) // columns)
    cell = size + 3 * LINE + GAP
    sheet = Image.new("RGB", (columns * (size + GAP) + GAP, rows * cell + GAP), _PAPER)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(12)
    for place, (scene, sentence, holds) in enumerate(shown):
        left = GAP + place % columns * (size + GAP)
        top = GAP + place // columns * cell
        sheet.paste(Image.fromarray(np.ascontiguousarray(rgb(scene, size))), (left, top))
        lines = _wrap(sentence, lambda text: pen.textlength(text, font=font) <= size)
        for number, line in enumerate(lines[:2]):
            pen.text((left, top + size + 2 + number * LINE), line, fill=_INK, font=font)
        mark, color = ("true", _TRUE) if holds else ("false", _FALSE)
        pen.text((left, top + size + 2 + 2 * LINE), mark, fill=color, font=font)
    buffer = io.BytesIO()
    sheet.quantize(128, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _wrap(text: str, fits: Callable[[str], bool]) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and fits(longer):
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
