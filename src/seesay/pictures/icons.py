"""Icons of real things as vector graphics: Microsoft's Fluent emoji, flat (MIT licence), from
npm."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from seesay.data.downloads import PackagedFile, fetch_unpacked
from seesay.errors import UserError, missing_extra
from seesay.files import read_json
from seesay.metrics.base import FloatArray
from seesay.pictures.oklab import from_rgb, parse_hex

ICONS = PackagedFile(
    "npm",
    "@iconify-json/fluent-emoji-flat@1.2.6",
    "7d064769dee690815f823bc5bcc511d957198caf9f5edd8dd9c1aa48a6aeb175",
    "package/icons.json",
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
    """An icon's SVG elements, the share of its visible area that each colour has, and the box that
    it fills (left, top, width and height in its own units)."""

    name: str
    body: str
    areas: dict[str, float]
    box: tuple[float, float, float, float]

    def painted(self, colors: dict[str, str]) -> str:
        """The elements with some colours replaced by others."""
        return PAINT.sub(lambda match: f'{match[1]}="{colors.get(match[2], match[2])}"', self.body)


@cache
def _bodies() -> dict[str, str]:
    icons = read_json(fetch_unpacked(ICONS))["icons"]
    return {name: str(icon["body"]) for name, icon in icons.items()}


@cache
def icon(name: str) -> Icon:
    """The icon of this name, measured."""
    body = _bodies().get(name)
    if body is None:
        raise UserError(f"There is no icon '{name}' in {ICONS.requirement}.")
    picture = decode(render(body, _MEASURED))
    visible = picture[..., 3] > 250
    colors = sorted({match[2] for match in PAINT.finditer(body)})
    palette = np.stack([255 * parse_hex(color) for color in colors])
    distances = np.abs(picture[visible][:, None, :3] - palette).sum(axis=2)
    nearest = distances.argmin(axis=1)[distances.min(axis=1) <= _NEAR]
    counts = np.bincount(nearest, minlength=len(colors)) / visible.sum()
    return Icon(name, body, dict(zip(colors, counts.tolist(), strict=True)), _box(visible))


def _box(visible: NDArray[np.bool_]) -> tuple[float, float, float, float]:
    rows = np.flatnonzero(visible.any(axis=1))
    columns = np.flatnonzero(visible.any(axis=0))
    unit = VIEW / _MEASURED
    left = columns[0] * unit
    top = rows[0] * unit
    return (
        float(left),
        float(top),
        float((columns[-1] + 1) * unit - left),
        float((rows[-1] + 1) * unit - top),
    )


def render(elements: str, size: int, view: float = VIEW, background: str | None = None) -> bytes:
    """A PNG of SVG elements in a square view, `size` pixels per side; transparent without a
    `background`."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise missing_extra("Drawing pictures", "pictures", error) from error
    box = f'viewBox="0 0 {view} {view}" width="{size}" height="{size}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {box}>{elements}</svg>'
    return bytes(svg_to_bytes(svg_string=svg, background=background, skip_system_fonts=True))


def decode(png: bytes) -> Pixels:
    """The pixels (rows, columns, RGBA) of a rendered PNG."""
    from PIL import Image

    with Image.open(BytesIO(png)) as image:
        return np.asarray(image.convert("RGBA"))


def palette_lab(icon: Icon) -> tuple[list[str], FloatArray, FloatArray]:
    """The icon's visible colours, their shares of its area, and their places in OKLab."""
    colors = [color for color, share in icon.areas.items() if share > 0]
    lab = from_rgb(np.stack([parse_hex(color) for color in colors]))
    return colors, np.array([icon.areas[color] for color in colors]), lab
