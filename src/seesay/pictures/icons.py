"""Icons of real things as vector graphics: Microsoft's flat Fluent emoji (MIT), from npm."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from seesay.data.downloads import PackagedFile, fetch_unpacked
from seesay.errors import UserError, needs_extra
from seesay.files import read_json
from seesay.metrics.base import FloatArray
from seesay.pictures.oklab import from_rgb, parse_hex

ICONS = PackagedFile(
    "npm",
    "@iconify-json/fluent-emoji-flat@1.2.6",
    "7d064769dee690815f823bc5bcc511d957198caf9f5edd8dd9c1aa48a6aeb175",
    "package/icons.json",
    megabytes=1,
)
LICENCE = "MIT (Fluent Emoji, Microsoft Corporation)"
VIEW = 32
"""The width and height of every icon, in its own units."""
_MEASURED = 128  # pixels per side at which areas and boxes are measured
_NEAR = 3  # levels by which a rendered pixel may differ from its fill, all channels together
PAINT = re.compile(r'(?<=[" ])(fill|stroke|stop-color)="(#[0-9a-fA-F]{3,6})"')

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Icon:
    """An icon, and what is measured of it."""

    name: str
    body: str
    """Its SVG elements."""
    areas: dict[str, float]
    """The share of its visible area that each colour has."""
    box: tuple[float, float, float, float]
    """The box that it fills: left, top, width and height in its own units."""

    def repaint(self, colors: dict[str, str]) -> str:
        """Return the elements with some colours replaced by others."""
        return PAINT.sub(lambda match: f'{match[1]}="{colors.get(match[2], match[2])}"', self.body)


@cache
def _bodies() -> dict[str, str]:
    icons = read_json(fetch_unpacked(ICONS, name="the icons"))["icons"]
    return {name: str(icon["body"]) for name, icon in icons.items()}


@cache
def icon(name: str) -> Icon:
    """Return the icon of this name, measured."""
    body = _bodies().get(name)
    if body is None:
        raise UserError(f"There is no icon '{name}' in {ICONS.requirement}.")
    picture = decode(render(body, _MEASURED))
    # pixels at an edge are partly transparent, and mix two colours
    visible = picture[..., 3] > 250
    colors = sorted({match[2] for match in PAINT.finditer(body)})
    # fills are flat: but for rounding, a pixel inside one has its colour
    palette = np.stack([255 * parse_hex(color) for color in colors])
    distances = np.abs(picture[visible][:, None, :3] - palette).sum(axis=2)
    nearest = distances.argmin(axis=1)[distances.min(axis=1) <= _NEAR]
    shares = np.bincount(nearest, minlength=len(colors)) / visible.sum()
    areas = dict(zip(colors, shares.tolist(), strict=True))
    return Icon(name, body, areas, _box(visible))


def _box(visible: NDArray[np.bool_]) -> tuple[float, float, float, float]:
    """Return left, top, width and height of what is visible, in the icon's units."""
    rows = np.flatnonzero(visible.any(axis=1))
    columns = np.flatnonzero(visible.any(axis=0))
    unit = VIEW / _MEASURED
    left = columns[0] * unit
    top = rows[0] * unit
    width = (columns[-1] + 1) * unit - left
    height = (rows[-1] + 1) * unit - top
    return float(left), float(top), float(width), float(height)


def render(
    elements: str,
    size: int,
    view: float = VIEW,
    background: str | None = None,
) -> bytes:
    """Render SVG elements in a square view as a PNG, `size` pixels per side.

    It is transparent without a `background`.
    """
    with needs_extra("Drawing pictures", "pictures"):
        from resvg_py import svg_to_bytes
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    box = f'viewBox="0 0 {view} {view}" width="{size}" height="{size}"'
    svg = f"<svg {names} {box}>{elements}</svg>"
    return bytes(svg_to_bytes(svg_string=svg, background=background, skip_system_fonts=True))


def decode(png: bytes) -> Pixels:
    """Return the pixels (rows, columns, RGBA) of a rendered PNG."""
    from PIL import Image

    with Image.open(BytesIO(png)) as image:
        return np.asarray(image.convert("RGBA"))


def palette_lab(icon: Icon) -> tuple[list[str], FloatArray, FloatArray]:
    """Return the icon's visible colours, their shares of its area, and their places in OKLab."""
    areas = {color: share for color, share in icon.areas.items() if share > 0}
    lab = from_rgb(np.stack([parse_hex(color) for color in areas]))
    return list(areas), np.array(list(areas.values())), lab
