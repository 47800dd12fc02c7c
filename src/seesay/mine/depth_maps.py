"""Depth maps: reading given ones, and a region's depth from a picture's map.

A map holds distances, larger is farther, in metres or relative, as `seesay.models.depth` makes them. Given maps are
told by their kind: 16-bit PNGs hold millimetres, `.npy` arrays and 32-bit TIFFs metres, and 8-bit pictures nearness
(255 is nearest), as ViPhy's. Pixels of no number, or 0 metres away, are holes and count for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seesay.mine.masks import corners, outline
from seesay.mine.records import Region
from seesay.models.depth import distances

Map = NDArray[np.float32]
LARGEST = 1 << 27
"""Pixels a map may have: files are other people's."""


class BadMapError(ValueError):
    """Why a depth map cannot be used."""


@dataclass(frozen=True, slots=True)
class Depths:
    """What `regions.DEPTHS` holds for a picture."""

    distances: list[float]
    nearness: list[float]
    nearest: float
    farthest: float


def read_map(path: Path) -> tuple[Map, bool]:
    """The distances in a file, and whether they are relative."""
    from PIL import Image

    if not path.is_file():
        raise BadMapError("the depth map is missing")
    try:
        if path.suffix == ".npy":
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            with Image.open(path) as image:
                if image.width * image.height > LARGEST:
                    raise BadMapError("the depth map is too large")
                array = np.asarray(image.convert("L") if image.mode in ("RGB", "RGBA", "P") else image)
    except BadMapError:
        raise
    except Exception as error:  # image libraries raise nearly anything on rubbish
        raise BadMapError(f"the depth map is broken ({type(error).__name__})") from error
    if array.ndim != 2 or not array.size or array.size > LARGEST or array.dtype.kind not in "uif":
        raise BadMapError("the depth map is not a plane of numbers")
    if array.dtype == np.uint8:
        return distances(np.asarray(array, dtype=np.float32)), True
    metres = np.asarray(array, dtype=np.float32)
    return (np.asarray(metres / 1000, dtype=np.float32) if array.dtype.kind in "ui" else metres), False


def region_depths(found: Map, width: int, height: int, regions: Sequence[Region], *, relative: bool = False) -> Depths:
    """The mean depth of every region: over its polygon where it has one, else over its box.

    Metres become nearness by their inverse; of relative distances nearness is what is missing to 1.
    """
    usable = np.isfinite(found) if relative else np.isfinite(found) & (found > 0)
    if not usable.any():
        raise BadMapError("the depth map holds no distance")
    near, far = float(found[usable].min()), float(found[usable].max())
    nearness: NDArray[np.floating[Any]] = 1 - found
    if not relative:
        with np.errstate(divide="ignore", invalid="ignore"):
            nearness = (1 / found - 1 / far) / (1 / near - 1 / far) if far > near else np.zeros_like(found)
    across, down = found.shape[1] / width, found.shape[0] / height
    means: tuple[list[float], list[float]] = ([], [])
    for region in regions:
        rows, columns, inside = _pixels(region, across, down, found.shape)
        inside = inside & usable[rows, columns]
        some = bool(inside.any())
        for mean, plane in zip(means, (found, nearness), strict=True):
            mean.append(float(plane[rows, columns][inside].mean(dtype=np.float64)) if some else float("nan"))
    return Depths(*means, near, far)


def _pixels(
    region: Region, across: float, down: float, shape: tuple[int, ...]
) -> tuple[slice, slice, NDArray[np.bool_]]:
    """The part of a map that a region's box covers, at least a pixel, and which of its pixels are the region's."""
    left, top, width, height = region.box
    within = corners((left * across, top * down, width * across, height * down), shape[1], shape[0])
    x0, y0, x1, y1 = within
    inside = np.ones((y1 - y0, x1 - x0), dtype=bool)
    if region.polygon:
        inside = outline(np.asarray(region.polygon).reshape(-1, 2) * (across, down), within)
    return slice(y0, y1), slice(x0, x1), inside
