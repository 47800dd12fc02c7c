"""Which of the eleven colour names a colour has, by its lightness, chroma and hue in CIELAB."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seesay.data.knowledge import COLORS
from seesay.metrics.base import FloatArray

BLACK = 22.0
WHITE = 80.0
"""The lightness below which a colour is black, and above which a faint one is white."""
FAINT = 14.0
"""The chroma below which a colour has no hue."""
_SRGB_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def lab(rgb: FloatArray) -> FloatArray:
    """Return CIELAB (D65) of sRGB values from 0 to 1."""
    # sRGB's transfer function (IEC 61966-2-1), then its primaries as XYZ over the white point.
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = linear @ _SRGB_TO_XYZ.T / np.array([0.95047, 1.0, 1.08883])
    # CIE 1976: a cube root, with a straight line near black, where its slope would be endless.
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def color_names(rgb: FloatArray) -> NDArray[np.int8]:
    """Return the index in COLORS of the name of each sRGB colour (0 to 1)."""
    lightness, a, b = np.moveaxis(lab(rgb), -1, 0)
    chroma = np.hypot(a, b)
    hue = np.degrees(np.arctan2(b, a)) % 360
    red = (hue < 42) | (hue >= 355)
    orange = (hue >= 42) & (hue < 74)
    yellow = (hue >= 74) & (hue < 112)
    green = (hue >= 112) & (hue < 200)
    # A screen's pure blue leans to purple.
    blue = (hue >= 200) & (hue < np.where(chroma > 2 * lightness, 309, 304))
    purple = ~blue & (hue >= 304) & (hue < 340)
    # The first rule that matches gives the name: a dark, a faint or a pale colour is named by its
    # lightness before its hue counts.
    rules = [
        ("black", ((lightness < BLACK) & (chroma < 30)) | (lightness < 10)),
        ("white", (lightness > WHITE) & (chroma < FAINT)),
        ("gray", chroma < FAINT),
        ("pink", ((hue >= 340) & (lightness > 54)) | (red & (lightness > 62))),
        ("brown", red & (hue > 15) & (hue < 355) & (chroma < 45)),
        ("red", red),
        # Brown is dark orange, or dark or dull yellow.
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
    indices = np.select(
        [condition for _, condition in rules],
        [COLORS.index(name) for name, _ in rules],
    )
    return indices.astype(np.int8)
