"""The region of an icon that carries a thing's typical colour, and the region in another colour.

The region grows around one fill of the icon: the one that is large and near a typical colour. Fills
of about its hue belong to it, whatever their lightness; stems, faces and wheels do not. Repainting
moves the region's mean to the new colour and keeps how its fills differ from that mean, turned to
the new hue, so that shading stays shading.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from seesay.data.color_names import color_names
from seesay.data.colors import COLORS
from seesay.data.knowledge import COLORS as NAMED
from seesay.metrics.base import FloatArray
from seesay.pictures.icons import Icon, icon, palette_lab
from seesay.pictures.oklab import from_rgb, parse_hex, to_hex, to_rgb

PROTOTYPES = {
    "black": "#1d1d1f",
    "blue": "#2463d8",
    "brown": "#7b4a20",
    "gray": "#848484",
    "green": "#2f9a3d",
    "orange": "#f5871f",
    "pink": "#f78fc2",
    "purple": "#8336b3",
    "red": "#d3202b",
    "white": "#f8f8f8",
    "yellow": "#f6d22f",
}
"""A clear example of each colour."""
_NEAR = 0.25  # distance in OKLab at which a fill's claim to be the seed has fallen to 1/e
# distance from the seed within which a fill belongs to the region; lightness counts half
_SAME = 0.115
# how much of the shading stays: the most under which names stay
_SHADING = (1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.0)
# the share of the region that must have the new colour's name
_NAMED_SHARE = 0.92
_JITTER = {"lightness": 0.015, "chroma": 0.06, "hue": 0.06}  # standard deviations of drawn colours


@dataclass(frozen=True)
class ColoredRegion:
    """The colours of an icon that carry the typical colour, and their share of its visible area."""

    colors: tuple[str, ...]
    share: float


@cache
def find_region(name: str, typical: tuple[str, ...]) -> ColoredRegion:
    """Return the region of an icon that is nearest, by area, to one of the typical colours."""
    colors, areas, lab = palette_lab(icon(name))
    targets = np.stack([prototype(color) for color in typical])
    distances = np.linalg.norm(lab[:, None] - targets, axis=2).min(axis=1)
    claims = areas * np.exp(-((distances / _NEAR) ** 2))
    seed = lab[np.argmax(claims)]
    # lightness counts half: shadows and highlights are of the same hue
    belongs = np.linalg.norm((lab - seed) * (0.5, 1, 1), axis=1) < _SAME
    members = tuple(colors[place] for place in np.flatnonzero(belongs))
    return ColoredRegion(members, float(areas[belongs].sum()))


def prototype(color: str) -> FloatArray:
    """Return the clear example of a colour in OKLab."""
    return from_rgb(parse_hex(PROTOTYPES[color]))


def draw_color(color: str, generator: np.random.Generator) -> FloatArray:
    """Draw a colour near the clear example of this name, in OKLab; it always has this name."""
    lightness, a, b = prototype(color)
    while True:
        # at most two standard deviations: a clear example stays clear
        steps = generator.normal(size=3).clip(-2, 2)
        light = lightness + _JITTER["lightness"] * steps[0]
        chroma = np.hypot(a, b) * (1 + _JITTER["chroma"] * steps[1])
        hue = np.arctan2(b, a) + _JITTER["hue"] * steps[2]
        shade = np.array([light, chroma * np.cos(hue), chroma * np.sin(hue)])
        if NAMED[color_names(to_rgb(shade)[None])[0]] == color:
            return shade


def repaint(
    picture: Icon,
    region: ColoredRegion,
    color: str,
    target: FloatArray,
) -> str:
    """Return the icon's elements with the region moved to `target` (OKLab), which is a `color`."""
    areas = np.array([picture.areas[part] for part in region.colors])
    lab = from_rgb(np.stack([parse_hex(part) for part in region.colors]))
    mean = areas @ lab / areas.sum()
    differences = _rotate_hue(lab - mean, mean, target)
    # strong shading may take fills of the region out of the colour's name: as much as it allows
    for shading in _SHADING:
        rgb = to_rgb(target + shading * differences)
        has_name = color_names(rgb) == NAMED.index(color)
        if areas[has_name].sum() >= _NAMED_SHARE * areas.sum():
            break
    return picture.repaint(dict(zip(region.colors, map(to_hex, rgb), strict=True)))


def _rotate_hue(differences: FloatArray, mean: FloatArray, target: FloatArray) -> FloatArray:
    """Return differences from the mean, with their hue and chroma relative to the target's."""
    # a and b as one complex number: multiplying by a quotient turns and scales the hue
    before = complex(*mean[1:])
    after = complex(*target[1:])
    turn = after / before if abs(before) > 0.02 else 0j
    turn = turn / max(1.0, abs(turn))
    ab = (differences[:, 1] + 1j * differences[:, 2]) * turn
    return np.stack([differences[:, 0], ab.real, ab.imag], axis=1)


def other_colors(familiar: tuple[str, ...]) -> tuple[str, ...]:
    """Return the colours that are neither familiar nor gray, which is a condition by itself."""
    return tuple(color for color in COLORS if color not in familiar and color != "gray")
