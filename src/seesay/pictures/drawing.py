"""Draw pictures on a plain background: one thing, two side by side, or six in two rows."""

from __future__ import annotations

import numpy as np

from seesay.pictures.icons import VIEW, Pixels, decode, icon, render
from seesay.pictures.kinds import KindPicture, layout
from seesay.pictures.oklab import to_hex, to_rgb
from seesay.pictures.plan import EQUAL, LARGER, SMALLER, ColorPicture, SizePicture
from seesay.pictures.recolor import draw_color, find_region, repaint
from seesay.pictures.things import Thing

BACKGROUND = "#c8d0d6"
"""Pale, so that white, gray and black things all stand out."""
PICTURE = 224
_SCALE = (0.75, 0.95)  # of the one thing in a picture
# longer sides of two things, in units of the view
_LENGTHS = {LARGER: (15.0, 6.5), SMALLER: (6.5, 15.0), EQUAL: (11.0, 11.0)}
_CONTROL_COLORS = ("blue", "orange")
_SHAPES = {
    "circle": '<circle cx="16" cy="16" r="12" fill="{}"/>',
    "rectangle": '<rect x="4" y="9" width="24" height="14" fill="{}"/>',
    "square": '<rect x="4" y="4" width="24" height="24" fill="{}"/>',
    "triangle": '<path d="M16 4L28 28H4Z" fill="{}"/>',
}
_COLUMNS = 3  # of the six cells
_FRAME = "#d40000"
_BOXES = {"rectangle": (4.0, 9.0, 24.0, 14.0)}
_BOX = (4.0, 4.0, 24.0, 24.0)

Picture = ColorPicture | SizePicture | KindPicture


def png(picture: Picture, size: int = PICTURE) -> bytes:
    """Draw the picture as a PNG, the same bytes for the same picture."""
    if isinstance(picture, SizePicture):
        return render(_side_by_side(picture), size, background=BACKGROUND)
    if isinstance(picture, KindPicture):
        return render(_in_cells(picture), size, background=BACKGROUND)
    background = "#ffffff" if picture.condition == "silhouette" else BACKGROUND
    return render(_single(picture), size, background=background)


def rgb(picture: Picture, size: int) -> Pixels:
    """Return the picture's pixels (size, size, 3)."""
    return np.ascontiguousarray(decode(png(picture, size))[..., :3])


def elements(thing: Thing, color: str, generator: np.random.Generator) -> str:
    """Return the thing's icon with its region in a shade of the colour."""
    region = find_region(thing.icon, thing.colors)
    return repaint(icon(thing.icon), region, color, draw_color(color, generator))


def _single(picture: ColorPicture) -> str:
    """Return a thing at a random place and size, mirrored or not."""
    generator = np.random.default_rng(picture.stream)
    scale = generator.uniform(*_SCALE)
    left, top = generator.uniform(0, VIEW * (1 - scale), size=2)
    mirrored = bool(generator.integers(2))
    if isinstance(picture.subject, str):
        body = _shape(picture.subject, picture.color, generator)
    elif picture.condition == "silhouette":
        shape = icon(picture.subject.icon)
        body = shape.repaint(dict.fromkeys(shape.areas, "#000000"))
    else:
        body = elements(picture.subject, picture.color, generator)
    across = scale
    if mirrored:
        # mirrored about its left edge, a thing lies to the left of it: moved back by its width
        left += VIEW * scale
        across = -scale
    move = f"translate({left:.3f} {top:.3f}) scale({across:.4f} {scale:.4f})"
    return f'<g transform="{move}">{body}</g>'


def _shape(name: str, color: str, generator: np.random.Generator) -> str:
    """Return a shape in a shade of the colour."""
    shade = to_hex(to_rgb(draw_color(color, generator)))
    return _SHAPES[name].format(shade)


def _side_by_side(picture: SizePicture) -> str:
    """Return both things on the same ground line, each in the middle of its half."""
    generator = np.random.default_rng(picture.stream)
    ground = generator.uniform(20, 28)
    subjects = zip((picture.first, picture.second), _LENGTHS[picture.shown], strict=True)
    parts = []
    for place, (subject, length) in enumerate(subjects):
        if isinstance(subject, str):
            body = _shape(subject, _CONTROL_COLORS[place], generator)
            box = _BOXES.get(subject, _BOX)
        else:
            body = icon(subject.icon).body
            box = icon(subject.icon).box
        middle = VIEW * (0.25 + 0.5 * place)
        parts.append(_stand(body, box, length, middle, ground))
    return "".join(parts)


def _in_cells(picture: KindPicture) -> str:
    """Return six things in two rows, and a frame around the cell of one."""
    things, framed_cell, scale = layout(picture)
    width = VIEW / _COLUMNS
    height = VIEW * _COLUMNS / len(things)
    parts = []
    for cell, (thing, length) in enumerate(things):
        row, column = divmod(cell, _COLUMNS)
        shape = icon(thing.icon)
        middle = width * (column + 0.5)
        # longer things reach higher up, as on a shelf
        ground = height * (row + 0.85)
        parts.append(_stand(shape.body, shape.box, scale * length, middle, ground))
    row, column = divmod(framed_cell, _COLUMNS)
    left = width * column + 0.3
    top = height * row + 0.3
    # as large as the cell: it does not tell how large the thing is
    size = f'width="{width - 0.6:.3f}" height="{height - 0.6:.3f}"'
    stroke = f'fill="none" stroke="{_FRAME}" stroke-width="0.4"'
    parts.append(f'<rect x="{left:.3f}" y="{top:.3f}" {size} {stroke}/>')
    return "".join(parts)


def _stand(
    body: str,
    box: tuple[float, float, float, float],
    length: float,
    middle: float,
    ground: float,
) -> str:
    """Return a shape whose longer side is so long, on the ground and around the middle."""
    left, top, width, height = box
    scale = length / max(width, height)
    x = middle - scale * (left + width / 2)
    y = ground - scale * (top + height)
    return f'<g transform="translate({x:.3f} {y:.3f}) scale({scale:.4f})">{body}</g>'
