"""A contact sheet: every picture, so that a person can check them all."""

from __future__ import annotations

import io
from collections.abc import Sequence

from seesay.data import pictures as grid
from seesay.data.pictures import INK, SheetStyle
from seesay.errors import UserError, needs_extra
from seesay.pictures.drawing import Picture, rgb
from seesay.pictures.kinds import HERE, KIND, KindPicture
from seesay.pictures.plan import ColorPicture
from seesay.pictures.things import Thing

_STYLE = SheetStyle(
    gap=6,
    below=1,
    lines=2,
    line_height=13,
    font_size=10,
    paper=(255, 255, 255),
)


def contact_sheet(pictures: Sequence[Picture], *, columns: int = 12, size: int = 96) -> bytes:
    """Draw a PNG of pictures, each with what it shows."""
    with needs_extra("A contact sheet", "pictures"):
        from PIL import Image, ImageFont
    if not pictures:
        raise UserError("There is no picture to show.")
    # the font that comes with Pillow: the same sheet on every machine
    font = ImageFont.load_default(_STYLE.font_size)
    panels = []
    for picture in pictures:
        lines = []
        for line in _caption(picture):
            # a caption that is too long loses its end
            while font.getlength(line) > size:
                line = line[:-1]
            lines.append((line, INK))
        panels.append((Image.fromarray(rgb(picture, size)), lines))
    buffer = io.BytesIO()
    grid.contact_sheet(panels, _STYLE, columns=columns, size=size).save(buffer, "PNG")
    return buffer.getvalue()


def _caption(picture: Picture) -> tuple[str, str]:
    """Return two lines: what the picture shows, and in which condition."""
    if isinstance(picture, ColorPicture):
        return _name(picture.subject), f"{picture.condition}: {picture.color}"
    if isinstance(picture, KindPicture):
        answers = picture.answers
        return picture.framed.name, f"here {answers[HERE]}, for its kind {answers[KIND]}"
    names = f"{_name(picture.first)} | {_name(picture.second)}"
    return names, f"{picture.condition}: {picture.shown}"


def _name(subject: Thing | str) -> str:
    return subject if isinstance(subject, str) else subject.name
