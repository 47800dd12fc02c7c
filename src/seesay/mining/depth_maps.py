"""Depth maps: reading their files, and the depth of regions from a picture's map.

A map holds distances, larger is farther, in metres or relative, as in `seesay.mining.depth`. The
type of a file decides: 16-bit PNGs hold millimetres, `.npy` arrays and 32-bit TIFFs metres,
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

from seesay.metrics.base import FloatArray
from seesay.mining.depth import DepthMap, distances
from seesay.mining.masks import region_pixels
from seesay.mining.records import Region

MAX_PIXELS = 1 << 27
"""Limit of pixels in a map: files are untrusted."""


class BadDepthMapError(ValueError):
    """Why a depth map cannot be used."""


@dataclass(frozen=True, slots=True)
class RegionDepths:
    """The values of `regions.DEPTHS` for one picture."""

    distances: list[float]
    """The mean distance of each region; NaN for one that has no depth."""
    nearness: list[float]
    """The mean nearness of each region."""
    nearest: float
    farthest: float
    """The range of distances in the whole picture."""


def read_map(path: Path) -> tuple[DepthMap, bool]:
    """Return the distances in a file, and whether they are relative."""
    if not path.is_file():
        raise BadDepthMapError("the depth map is missing")
    try:
        array = _load_array(path)
    except BadDepthMapError:
        raise
    # Image libraries raise nearly anything on broken files.
    except Exception as error:
        raise BadDepthMapError(f"the depth map is broken ({type(error).__name__})") from error
    is_plane = array.ndim == 2 and 0 < array.size <= MAX_PIXELS
    if not is_plane or array.dtype.kind not in "uif":
        raise BadDepthMapError("the depth map is not a two-dimensional array of numbers")
    values = np.asarray(array, dtype=np.float32)
    # 8 bits are nearness, more bits millimetres, fractions metres.
    if array.dtype == np.uint8:
        return distances(values), True
    if array.dtype.kind in "ui":
        return np.asarray(values / 1000, dtype=np.float32), False
    return values, False


def _load_array(path: Path) -> NDArray[Any]:
    """Return the numbers in a file, of whatever shape and type."""
    from PIL import Image

    if path.suffix == ".npy":
        # Mapped, not read: its header may claim any size.
        return np.asanyarray(np.load(path, mmap_mode="r", allow_pickle=False))
    with Image.open(path) as image:
        # Before a pixel is decoded.
        if image.width * image.height > MAX_PIXELS:
            raise BadDepthMapError("the depth map is too large")
        if image.mode in ("RGB", "RGBA", "P"):
            return np.asarray(image.convert("L"))
        return np.asarray(image)


def region_depths(
    depth_map: DepthMap,
    width: int,
    height: int,
    regions: Sequence[Region],
    *,
    relative: bool = False,
) -> RegionDepths:
    """Return the mean depth of every region: over its polygon if it has one, else over its box.

    The published code averages depth over the whole picture; the paper says "mean depth of the
    region" (section 2.2), which this follows. The nearness of metres is their inverse, scaled to 0
    to 1; that of relative distances is 1 − distance.

    `width`, `height`: the picture's size; the map may have another.
    `relative`: whether distances run from 0 to 1 in every picture, else they are metres.
    """
    usable = np.isfinite(depth_map)
    # 0 metres is a hole; a relative distance of 0 is the nearest point.
    if not relative:
        usable &= depth_map > 0
    if not usable.any():
        raise BadDepthMapError("the depth map holds no distance")
    near = float(depth_map[usable].min())
    far = float(depth_map[usable].max())
    nearness: FloatArray = 1 - depth_map
    if not relative:
        nearness = _inverse_depth(depth_map, near, far)
    scale = (depth_map.shape[1] / width, depth_map.shape[0] / height)
    mean_distances = []
    mean_nearness = []
    for region in regions:
        window, inside = region_pixels(region, depth_map.shape, scale)
        inside = inside & usable[window]
        mean_distances.append(_mean(depth_map[window][inside]))
        mean_nearness.append(_mean(nearness[window][inside]))
    return RegionDepths(mean_distances, mean_nearness, near, far)


def _inverse_depth(
    depth_map: DepthMap,
    near: float,
    far: float,
) -> FloatArray:
    """Return inverse depth from 0, the farthest point, to 1, the nearest, like DPT's."""
    if far <= near:
        return np.zeros_like(depth_map)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (1 / depth_map - 1 / far) / (1 / near - 1 / far)


def _mean(values: FloatArray) -> float:
    """Return the mean; NaN where there is no value, as in a region that is one hole."""
    return float(values.mean(dtype=np.float64)) if values.size else float("nan")
