"""OKLab (Ottosson 2020): a colour space in which equal steps look about equal.

Lightness, chroma and hue come apart in it.
"""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray

# the two matrices of Ottosson's definition: linear sRGB to cones, and their cube roots to Lab
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def from_rgb(rgb: FloatArray) -> FloatArray:
    """Return OKLab of sRGB values from 0 to 1."""
    # the transfer function of sRGB (IEC 61966-2-1), undone
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    cones = np.cbrt(linear @ _TO_LMS.T)
    return np.asarray(cones @ _TO_LAB.T)


def to_rgb(lab: FloatArray) -> FloatArray:
    """Return sRGB values from 0 to 1.

    A colour that no screen shows is moved to the nearest value of each channel.
    """
    # the inverse of each step of `from_rgb`, in reverse order
    cones = (lab @ np.linalg.inv(_TO_LAB).T) ** 3
    linear = np.clip(cones @ np.linalg.inv(_TO_LMS).T, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def parse_hex(color: str) -> FloatArray:
    """Return sRGB values from 0 to 1 of `#abc` or `#aabbcc`."""
    digits = color.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    return np.array(list(bytes.fromhex(digits))) / 255


def to_hex(rgb: FloatArray) -> str:
    """Return `#aabbcc` of sRGB values from 0 to 1."""
    return "#" + "".join(f"{round(255 * float(value)):02x}" for value in rgb)
