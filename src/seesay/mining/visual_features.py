"""What is read from a picture's files: depth maps or estimates of them, colours, and subtypes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from seesay.data.pictures import open_rgb
from seesay.errors import UserError
from seesay.mining.depth_maps import BadDepthMapError, RegionDepths, read_map, region_depths
from seesay.mining.records import Colors, Picture, from_batch, to_batch
from seesay.mining.regions import DEPTHS
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    from PIL.Image import Image

FEW = 64
"""Pictures that are in memory as objects."""
GIVEN = "given"
"""The depth that the annotation's own files hold."""
PIXELS = "pixels"
"""The colours that pixels have, without a model."""
_NO_COLOR = (
    "a region's colour is not known: its answer names none, or no pixel of it is in the picture"
)


ColorLists = list[list[Colors]]
"""The colours of every region of every picture."""
VisualFeatures = tuple[pa.Table, ColorLists | None, Counter[str]]
"""A batch with depths as further columns, the colours of every region, and what could not be used,
by reason."""


class VisualFeatureExtractor:
    """Extracts the features of a batch of pictures.

    Models are loaded once, when it is created. `depth`, `colors`, `select`: as in `CountingConfig`.
    """

    def __init__(
        self,
        depth: str = "",
        colors: str = "",
        select: str = "",
        subtypes: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.opens_files = bool(depth or colors or select)
        self._given = depth == GIVEN
        self._opens_pictures = bool(colors or select or (depth and not self._given))
        self._depth: Any = None
        self._colors: Any = None
        self._select: Any = None
        if depth and not self._given:
            from seesay.mining.depth import load_depth

            self._depth = load_depth(depth, ModelOptions())
        if colors:
            self._colors = _load_colors(colors)
        if select:
            from seesay.mining.selection import SubtypeSelector
            from seesay.models.vision.dual_encoder import DualEncoder

            self._select = SubtypeSelector(DualEncoder(select, ModelOptions()), subtypes or {})

    def __call__(self, table: pa.Table) -> VisualFeatures:
        bad: Counter[str] = Counter()
        if not self.opens_files:
            return table, None, bad
        colors: ColorLists = []
        # Arrow tables are compact, but pictures as Python objects are not.
        tables = [
            self._extract(table.slice(start, FEW), colors, bad)
            for start in range(0, table.num_rows, FEW)
        ]
        for answers in colors:
            bad[_NO_COLOR] += sum(not answer for answer in answers)
        # Without the reasons that were counted 0 times.
        return pa.concat_tables(tables), colors if self._colors else None, +bad

    def _extract(self, table: pa.Table, colors: ColorLists, bad: Counter[str]) -> pa.Table:
        """Return a few pictures with their features, and add their colours and what is wrong."""
        pictures: list[Picture] = []
        depths: list[RegionDepths] = []
        # One at a time: a batch of photographs takes gigabytes.
        for picture in from_batch(table):
            image = self._open(picture, bad)
            if self._select is not None:
                picture = self._select_names(picture, image)
            pictures.append(picture)
            depths.append(self._depths(picture, image, bad))
            if self._colors is not None and image is not None and picture.regions:
                colors.append(self._colors(np.asarray(image), picture.regions))
            else:
                colors.append([])
        if self._select is not None:
            regions = to_batch(pictures).column("regions")
            table = table.set_column(table.column_names.index("regions"), "regions", regions)
        if self._given or self._depth is not None:
            return _set_depths(table, depths)
        return table

    def _select_names(self, picture: Picture, image: Image | None) -> Picture:
        """Return the picture with each region's name replaced by the subtype that it shows."""
        if image is None:
            return picture
        names = self._select.choose(image, picture.regions)
        regions = [
            replace(region, name=name) for region, name in zip(picture.regions, names, strict=True)
        ]
        return replace(picture, regions=tuple(regions))

    def _open(self, picture: Picture, bad: Counter[str]) -> Image | None:
        """Return the picture's pixels; None if they are not needed, or cannot be had."""
        if not self._opens_pictures:
            return None
        if not picture.path:
            bad["no picture file is named"] += 1
            return None
        try:
            return open_rgb(picture.path)
        # Image libraries raise nearly anything on broken files.
        except Exception as error:
            bad[f"the picture file cannot be opened ({type(error).__name__})"] += 1
            return None

    def _depths(
        self,
        picture: Picture,
        image: Image | None,
        bad: Counter[str],
    ) -> RegionDepths:
        """Return the depths of a picture's regions, NaN with the reason in `bad` if there are
        none."""
        nowhere = [math.nan] * len(picture.regions)
        unknown = RegionDepths(nowhere, nowhere, math.nan, math.nan)
        try:
            if self._given:
                if not picture.depth:
                    raise BadDepthMapError("no depth map is named")
                depth_map, relative = read_map(Path(picture.depth))
            elif image is not None and self._depth is not None:
                depth_map = self._depth.estimate(image)
                relative = self._depth.relative
            else:
                return unknown
            return region_depths(
                depth_map,
                picture.width,
                picture.height,
                picture.regions,
                relative=relative,
            )
        except BadDepthMapError as error:
            bad[str(error)] += 1
            return unknown


def _load_colors(name: str) -> Any:
    """Return what names the colours of regions: by pixels, or by a model's free answers."""
    from seesay.mining.colors import VqaColors, colors_by_pixels

    if name == PIXELS:
        return colors_by_pixels
    from seesay.models.vision import VisionModel, load_vision

    model = load_vision(name, ModelOptions())
    if not isinstance(model, VisionModel):
        raise UserError(
            f"'{name}' compares pictures with texts: --colors needs a model that writes answers."
        )
    return VqaColors(model)


def _set_depths(table: pa.Table, depths: Sequence[RegionDepths]) -> pa.Table:
    """Return the table with the columns of `DEPTHS`, in place of any that it has."""
    columns = pa.Table.from_pylist(list(map(asdict, depths)), schema=DEPTHS)
    table = table.drop_columns([name for name in DEPTHS.names if name in table.column_names])
    for field in DEPTHS:
        table = table.append_column(field, columns[field.name])
    return table
