"""The picture that stands for none, as a model sees it: pixels, or regions that an object detector
would have found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seesay.condition import PictureKind, StandIn
from seesay.errors import UserError
from seesay.models.pictures import open_picture

if TYPE_CHECKING:
    from PIL import Image

REGIONS = 36
"""Regions of a picture, as many as in the published features of LXMERT."""
WHOLE = (0.0, 0.0, 1.0, 1.0)
"""The box of a region that is the whole picture."""

Floats = NDArray[np.float32]
View = str | StandIn
"""What a network looks at: a picture file, or the picture that stands for none."""


class Regions(NamedTuple):
    """What a detector found in a picture: a feature vector and a box for each region; boxes are
    left, top, right and bottom, between 0 and 1."""

    features: Floats
    boxes: Floats


def prepare_view(view: View, processor: Any, name: str) -> Mapping[str, Any]:
    """Return a picture as a model's image processor prepares it; `name` is the model's, for an
    error."""
    if isinstance(view, StandIn):
        image = stand_in_image(view, processor)
    else:
        image = open_picture(view, name)
    inputs: Mapping[str, Any] = processor(images=image, return_tensors="pt")
    return inputs


def stand_in_image(stand_in: StandIn, processor: Any) -> Image.Image:
    """Return the picture for a model with this image processor, as large as the model reads it."""
    from PIL import Image

    side = _side(processor)
    if stand_in.kind is PictureKind.RANDOM:
        draw = np.random.default_rng(stand_in.seed)
        noise = draw.integers(0, 256, (side, side, 3), dtype=np.uint8)
        return Image.fromarray(noise)
    if stand_in.kind is PictureKind.MEAN:
        # the processor takes this color away from every pixel, so that 0 remains
        color = tuple(round(255 * mean) for mean in processor.image_mean)
    else:
        color = (0, 0, 0)
    return Image.new("RGB", (side, side), color)


def _side(processor: Any) -> int:
    """Return the shorter side of pictures after the processor has resized them."""
    size = processor.size
    return int(size.get("shortest_edge") or size["height"])


def stand_in_regions(stand_in: StandIn, width: int, name: str) -> Regions:
    """Return the regions for a model whose features are of this width; `name` is the model's, for
    an error."""
    if stand_in.kind is PictureKind.BLANK:
        return Regions(np.zeros((REGIONS, width), np.float32), _whole(REGIONS))
    draw = np.random.default_rng(stand_in.seed)
    if stand_in.regions is not None:
        pictures = read_regions(stand_in.regions, width)
        if stand_in.kind is PictureKind.MEAN:
            return Regions(*(part.mean(axis=0) for part in pictures))
        number = draw.integers(len(pictures.features))
        return Regions(*(part[number] for part in pictures))
    if stand_in.kind is PictureKind.MEAN:
        raise UserError(
            f"'{name}' sees regions that an object detector found, whose mean it does not know: "
            "give a file of them with --regions."
        )
    # a detector's features are not negative; where a box ends is not before where it begins
    features = np.abs(draw.standard_normal((REGIONS, width)))
    corners = np.sort(draw.random((REGIONS, 2, 2)), axis=1)
    return Regions(
        features.astype(np.float32), corners.reshape(REGIONS, len(WHOLE)).astype(np.float32)
    )


def read_regions(path: Path, width: int) -> Regions:
    """Read the regions of many pictures: arrays `features` (pictures × regions × width) and, if
    there are any, `boxes` (pictures × regions × 4)."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            features = np.asarray(arrays["features"], np.float32)
            if "boxes" in arrays:
                boxes = np.asarray(arrays["boxes"], np.float32)
            else:
                boxes = np.broadcast_to(_whole(features.shape[1]), (*features.shape[:2], 4))
    except FileNotFoundError as error:
        raise UserError(f"There is no file '{path}': --regions is an .npz file.") from error
    except Exception as error:  # other people's files fail in more ways than can be listed
        raise UserError(
            f"'{path}' is no .npz file with an array `features` (pictures × regions × width)."
        ) from error
    is_whole = features.ndim == 3 and features.size and np.isfinite(features).all()
    if not is_whole or features.shape[2] != width:
        raise UserError(
            f"The features in '{path}' are of the shape {features.shape}: pictures × regions × "
            f"{width} finite numbers are needed."
        )
    fits = boxes.shape == (*features.shape[:2], 4) and boxes.min() >= 0 and boxes.max() <= 1
    if not fits:
        raise UserError(
            f"The boxes in '{path}' are not pictures × regions × 4 numbers between 0 and 1."
        )
    return Regions(features, boxes)


def _whole(count: int) -> Floats:
    """Return so many boxes of the whole picture."""
    return np.tile(np.array(WHOLE, np.float32), (count, 1))
