"""Depth maps: reading given ones, and the depth of regions from a picture's map.

A map holds distances, larger is farther, in metres or relative, as in `seesay.mining.depth`. The
type of a given file decides: 16-bit PNGs hold millimetres, `.npy` arrays and 32-bit TIFFs metres,
and 8-bit pictures nearness (255 is nearest), like ViPhy's. Pixels that are not finite, or 0 metres
away, are holes and are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seesay.mining.depth import distances
from seesay.mining.masks import corners, outline
from seesay.mining.records import Region

DepthMap = NDArray[np.float32]
MAX_PIXELS = 1 << 27
"""Limit of pixels in a map: files are untrusted."""


class BadDepthMapError(ValueError):
    """Why a depth map cannot be used."""


@dataclass(frozen=True, slots=True)
class RegionDepths:
    """The values of `regions.DEPTHS` for one picture."""

    distances: list[float]
    nearness: list[float]
    nearest: float
    farthest: float


def read_map(path: Path) -> tuple[DepthMap, bool]:
    """The distances in a file, and whether they are relative."""
    from PIL import Image

    if not path.is_file():
        raise BadDepthMapError("the depth map is missing")
    try:
        if path.suffix == ".npy":
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            with Image.open(path) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise BadDepthMapError("the depth map is too large")
                array = np.asarray(
                    image.convert("L") if image.mode in ("RGB", "RGBA", "P") else image
                )
    except BadDepthMapError:
        raise
    except Exception as error:  # image libraries raise nearly anything on broken files
        raise BadDepthMapError(f"the depth map is broken ({type(error).__name__})") from error
    if (
        array.ndim != 2
        or not array.size
        or array.size > MAX_PIXELS
        or array.dtype.kind not in "uif"
    ):
        raise BadDepthMapError("the depth map is not a two-dimensional array of numbers")
    if array.dtype == np.uint8:
        return distances(np.asarray(array, dtype=np.float32)), True
    metres = np.asarray(array, dtype=np.float32)
    return (
        np.asarray(metres / 1000, dtype=np.float32) if array.dtype.kind in "ui" else metres
    ), False


def region_depths(
    depth_map: DepthMap,
    width: int,
    height: int,
    regions: Sequence[Region],
    *,
    relative: bool = False,
) -> RegionDepths:
    """The mean depth of every region: over its polygon if it has one, else over its box.

    The nearness of metres is their inverse, scaled to 0 to 1; that of relative distances is 1 −
    distance.
    """
    if relative:
        usable = np.isfinite(depth_map)
    else:
        usable = np.isfinite(depth_map) & (depth_map > 0)
    if not usable.any():
        raise BadDepthMapError("the depth map holds no distance")
    near = float(depth_map[usable].min())
    far = float(depth_map[usable].max())
    nearness: NDArray[np.floating[Any]] = 1 - depth_map
    if not relative:
        with np.errstate(divide="ignore", invalid="ignore"):
            if far > near:
                nearness = (1 / depth_map - 1 / far) / (1 / near - 1 / far)
            else:
                nearness = np.zeros_like(depth_map)
    across = depth_map.shape[1] / width
    down = depth_map.shape[0] / height
    means: tuple[list[float], list[float]] = ([], [])
    for region in regions:
        rows, columns, inside = _pixels(region, across, down, depth_map.shape)
        inside = inside & usable[rows, columns]
        is_covered = bool(inside.any())
        for mean, plane in zip(means, (depth_map, nearness), strict=True):
            mean.append(
                float(plane[rows, columns][inside].mean(dtype=np.float64))
                if is_covered
                else float("nan")
            )
    return RegionDepths(*means, near, far)


def _pixels(
    region: Region, across: float, down: float, shape: tuple[int, ...]
) -> tuple[slice, slice, NDArray[np.bool_]]:
    """The part of a map that a region's box covers, at least one pixel, and which of its pixels are
    in the region."""
    left, top, width, height = region.box
    within = corners((left * across, top * down, width * across, height * down), shape[1], shape[0])
    x0, y0, x1, y1 = within
    inside = np.ones((y1 - y0, x1 - x0), dtype=bool)
    if region.polygon:
        inside = outline(np.asarray(region.polygon).reshape(-1, 2) * (across, down), within)
    return slice(y0, y1), slice(x0, x1), inside
