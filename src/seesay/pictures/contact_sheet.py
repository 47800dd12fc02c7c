"""A contact sheet: every picture, so that a person can check them all."""

from __future__ import annotations

import io
from collections.abc import Sequence

from seesay.errors import UserError, missing_extra
from seesay.pictures.drawing import png
from seesay.pictures.plan import ColorPicture, Picture
from seesay.pictures.things import Thing

GAP, LINE = 6, 13
_PAPER, _INK = (255, 255, 255), (30, 30, 30)


def contact_sheet(pictures: Sequence[Picture], *, columns: int = 12, size: int = 96) -> bytes:
    """A PNG of pictures, each with what it shows."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise missing_extra("A contact sheet", "pictures", error) from error
    if not pictures:
        raise UserError("There is no picture to show.")
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    cell = size + 2 * LINE + GAP
    sheet = Image.new("RGB", (columns * (size + GAP) + GAP, rows * cell + GAP), _PAPER)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(10)
    for place, picture in enumerate(pictures):
        left, top = GAP + place % columns * (size + GAP), GAP + place // columns * cell
        with Image.open(io.BytesIO(png(picture, size))) as image:
            sheet.paste(image.convert("RGB"), (left, top))
        for number, line in enumerate(_caption(picture)):
            while pen.textlength(line, font=font) > size:
                line = line[:-1]
            pen.text((left, top + size + 1 + number * LINE), line, fill=_INK, font=font)
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG")
    return buffer.getvalue()


def _caption(picture: Picture) -> tuple[str, str]:
    if isinstance(picture, ColorPicture):
        return _name(picture.subject), f"{picture.condition}: {picture.color}"
    return f"{_name(picture.first)} | {_name(picture.second)}", f"{picture.condition}: {picture.shown}"


def _name(subject: Thing | str) -> str:
    return subject if isinstance(subject, str) else subject.name
