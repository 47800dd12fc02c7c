"""Depth maps: reading given ones, and a region's depth from a picture's map.

A map holds distances, larger is farther, as `seesay.models.depth` makes them. Given maps are told by their kind: 16-bit
PNGs hold millimetres, `.npy` arrays and 32-bit TIFFs metres, and 8-bit pictures nearness (255 is nearest), as ViPhy's.
Pixels of 0 or no number are holes and count for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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


def read_map(path: Path) -> Map:
    """The distances in a file."""
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
        return distances(np.asarray(array, dtype=np.float32))
    metres = np.asarray(array, dtype=np.float32)
    return np.asarray(metres / 1000, dtype=np.float32) if array.dtype.kind in "ui" else metres


def region_depths(found: Map, width: int, height: int, regions: Sequence[Region]) -> Depths:
    """The mean depth of every region: over its polygon where it has one, else over its box."""
    usable = np.isfinite(found) & (found > 0)
    if not usable.any():
        raise BadMapError("the depth map holds no distance")
    near, far = float(found[usable].min()), float(found[usable].max())
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = (1 / found - 1 / far) / (1 / near - 1 / far) if far > near else np.zeros_like(found)
    across, down = found.shape[1] / width, found.shape[0] / height
    means: tuple[list[float], list[float]] = ([], [])
    for region in regions:
        rows, columns, inside = _pixels(region, across, down, found.shape)
        inside = inside & usable[rows, columns]
        some = bool(inside.any())
        for mean, plane in zip(means, (found, inverse), strict=True):
            mean.append(float(plane[rows, columns][inside].mean(dtype=np.float64)) if some else float("nan"))
    return Depths(*means, near, far)


def _pixels(
    region: Region, across: float, down: float, shape: tuple[int, ...]
) -> tuple[slice, slice, NDArray[np.bool_]]:
    """The part of a map that a region's box covers, at least a pixel, and which of its pixels are the region's."""
    left, top, width, height = region.box
    first, last = _span(left * across, (left + width) * across, shape[1])
    upper, lower = _span(top * down, (top + height) * down, shape[0])
    inside = np.ones((lower - upper, last - first), dtype=bool)
    if len(region.polygon) >= 6:
        from PIL import Image, ImageDraw

        corners = np.asarray(region.polygon).reshape(-1, 2) * (across, down) - (first, upper) - 0.5
        mask = Image.new("1", (last - first, lower - upper))
        ImageDraw.Draw(mask).polygon([tuple(corner) for corner in corners.tolist()], fill=1)
        drawn = np.asarray(mask)
        inside = drawn if drawn.any() else inside
    return slice(upper, lower), slice(first, last), inside


def _span(start: float, end: float, size: int) -> tuple[int, int]:
    first = min(max(round(start), 0), size - 1)
    return first, max(min(round(end), size), first + 1)
