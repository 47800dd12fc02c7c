"""Which of the eleven colour names a colour has, by its lightness, chroma and hue in CIELAB."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seesay.data.knowledge import COLORS
from seesay.metrics.base import FloatArray

BLACK, WHITE = 22.0, 80.0  # lightness below, above
FAINT = 14.0  # chroma below which a colour is none


def lab(rgb: FloatArray) -> FloatArray:
    """CIELAB (D65) of sRGB values from 0 to 1."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    matrix = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    xyz = linear @ matrix.T / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack(
        [116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])],
        axis=-1,
    )


def color_names(rgb: FloatArray) -> NDArray[np.int8]:
    """The index in COLORS of the name of each sRGB colour (0 to 1)."""
    lightness, a, b = np.moveaxis(lab(rgb), -1, 0)
    chroma = np.hypot(a, b)
    hue = np.degrees(np.arctan2(b, a)) % 360
    red = (hue < 42) | (hue >= 355)
    orange = (hue >= 42) & (hue < 74)
    yellow = (hue >= 74) & (hue < 112)
    green = (hue >= 112) & (hue < 200)
    # a screen's pure blue leans to purple
    blue = (hue >= 200) & (hue < np.where(chroma > 2 * lightness, 309, 304))
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
