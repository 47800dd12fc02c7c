"""The colours of a region by its pixels, named in CIELAB: the default, since it needs no model.

Every colour of a coarse RGB cube has one of the eleven names, by its lightness, chroma and hue; the pixels of a region
are looked up and vote. Shadows, highlights and background lose the vote: pixels weigh more the nearer they are to the
middle, and a colour needs a minimum share of the votes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from seesay.data.knowledge import COLORS
from seesay.metrics.base import FloatArray
from seesay.mining.masks import corners, outline
from seesay.mining.records import Region

STEP = 8
"""Levels of a channel per cell of the table."""
MIN_SHARE = 0.3
"""Share of the votes that a colour needs besides the most frequent one."""
MIN_LIT = 0.1
"""Shade makes white look gray, but light never makes gray white: from this share of white on, all gray is white."""
BLACK, WHITE = 22.0, 80.0  # lightness below, above
FAINT = 14.0  # chroma below which a colour is none


def lab(rgb: FloatArray) -> FloatArray:
    """CIELAB (D65) of sRGB values from 0 to 1."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    matrix = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    )
    xyz = linear @ matrix.T / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def color_names(rgb: FloatArray) -> NDArray[np.int8]:
    """The index in COLORS of the name of each sRGB colour (0 to 1)."""
    lightness, a, b = np.moveaxis(lab(rgb), -1, 0)
    chroma, hue = np.hypot(a, b), np.degrees(np.arctan2(b, a)) % 360
    red = (hue < 42) | (hue >= 355)
    orange = (hue >= 42) & (hue < 74)
    yellow = (hue >= 74) & (hue < 112)
    green = (hue >= 112) & (hue < 200)
    blue = (hue >= 200) & (hue < np.where(chroma > 2 * lightness, 309, 304))  # a screen's pure blue leans to purple
    purple = ~blue & (hue >= 304) & (hue < 340)
    rules = [  # the first that matches
        ("black", ((lightness < BLACK) & (chroma < 30)) | (lightness < 10)),
        ("white", (lightness > WHITE) & (chroma < FAINT)),
        ("gray", chroma < FAINT),
        ("pink", ((hue >= 340) & (lightness > 54)) | (red & (lightness > 62))),
        ("brown", red & (hue > 15) & (hue < 355) & (chroma < 45)),
        ("red", red),
        ("brown", orange & ((lightness < 54) | (chroma < 45))),
        ("orange", orange),
        ("brown", yellow & ((lightness < 50) | ((chroma < 32) & (lightness < 80)))),
        ("yellow", yellow & (lightness >= 62)),
        ("green", yellow | green),
        ("blue", blue),
        ("purple", purple & (lightness < 66)),
        ("pink", purple),
        ("pink", lightness > 45),
        ("purple", np.ones_like(red)),
    ]
    chosen = np.select([rule for _, rule in rules], [COLORS.index(name) for name, _ in rules])
    return chosen.astype(np.int8)


@cache
def _table() -> NDArray[np.int8]:
    levels = (np.arange(0, 256, STEP) + STEP / 2) / 255
    return color_names(np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1))


def votes(picture: NDArray[np.uint8], region: Region) -> FloatArray:
    """Shares of the eleven colours in a region of an RGB picture; all zeros if it has no pixel."""
    left, top, width, height = region.box
    rows, columns = picture.shape[:2]
    if min(width, height) <= 0 or left >= columns or top >= rows or left + width <= 0 or top + height <= 0:
        return np.zeros(len(COLORS))
    within = corners(region.box, columns, rows)
    x0, y0, x1, y1 = within
    cells = picture[y0:y1, x0:x1, :3] // STEP
    named = _table()[cells[..., 0], cells[..., 1], cells[..., 2]]
    weights = np.outer(_middle(y1 - y0), _middle(x1 - x0))
    if region.polygon:
        weights = weights * outline(np.asarray(region.polygon).reshape(-1, 2), within)
    counted = np.bincount(named.ravel(), weights=weights.ravel(), minlength=len(COLORS))
    white, gray = COLORS.index("white"), COLORS.index("gray")
    if counted[white] >= MIN_LIT * (counted[white] + counted[gray]):
        counted[white], counted[gray] = counted[white] + counted[gray], 0
    return np.asarray(counted / counted.sum())


def region_colors(picture: NDArray[np.uint8], region: Region) -> tuple[str, ...]:
    """A region's colours: the most frequent one, and any other with a large enough share."""
    shares = votes(picture, region)
    if not shares.any():
        return ()
    best = int(shares.argmax())
    return tuple(color for i, color in enumerate(COLORS) if i == best or shares[i] >= MIN_SHARE)


def _middle(length: int) -> FloatArray:
    """Weights that fall from 1 in the middle to a quarter at the edge."""
    place = np.abs((np.arange(length) + 0.5) / length - 0.5) * 2
    return np.asarray(1 - 0.75 * place**2)
