"""Feature extractors: pixels as they are, objects found in them, or a pretrained network's maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seesay.data.pictures import open_rgb
from seesay.errors import UserError
from seesay.scenes.reasoners.features import objects

Pictures = NDArray[np.uint8]


class FeatureExtractor(Protocol):
    """Turns pictures of `image_size` pixels per side into the input of a network.

    `name` is how a user asks for it.
    """

    @property
    def name(self) -> str: ...

    @property
    def image_size(self) -> int: ...

    @property
    def fingerprint(self) -> str:
        """Return a digest that changes when the features would."""

    def extract(self, pictures: Pictures) -> NDArray[Any]:
        """Return the features (items, …) of pictures (items, image_size, image_size, 3).

        Maps have their channels first.
        """


class PixelExtractor:
    """The picture itself, as bytes; the networks scale them to numbers from 0 to 1."""

    name = "pixels"

    def __init__(self, image_size: int) -> None:
        self.image_size = image_size
        self.fingerprint = f"pixels-{image_size}"

    def extract(self, pictures: Pictures) -> NDArray[np.uint8]:
        """Return the pixels with their channels first, as networks take them."""
        return np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))


class ObjectExtractor:
    """Slots of objects, found without labels (see `objects`)."""

    name = "objects"
    image_size = objects.IMAGE_SIZE
    fingerprint = f"objects-{objects.IMAGE_SIZE}-{objects.OUTLINE}-3"

    def extract(self, pictures: Pictures) -> NDArray[np.float32]:
        """Return one row of slots per picture."""
        return objects.find_objects(pictures)


def has_objects(name: str) -> bool:
    """Return whether features of this name are slots of objects."""
    return name == "objects" or name.startswith("objects:")


def open_extractor(name: str, image_size: int) -> FeatureExtractor:
    """Open the extractor of this name.

    It is `pixels`, `objects`, `objects:FOLDER` (see `learnt_objects`), `h5:FOLDER` (see `stored`),
    or a pretrained network (see `seesay.models.backbones`).
    """
    if name == "pixels":
        return PixelExtractor(image_size)
    if name == "objects":
        return ObjectExtractor()
    if has_objects(name):
        from seesay.scenes.reasoners.features.learnt_objects import LearntObjectExtractor

        return LearntObjectExtractor(Path(name.removeprefix("objects:")))
    if name.startswith("h5:"):
        from seesay.scenes.reasoners.features.stored import StoredFeatures

        return StoredFeatures(Path(name.removeprefix("h5:")), image_size)
    # PyTorch is loaded only where a network computes the features
    from seesay.models.backbones import open_pretrained

    return open_pretrained(name, image_size)


def read_picture(path: str, image_size: int) -> Pictures:
    """Read a picture file as RGB, `image_size` pixels per side.

    Every pixel is the mean of the area it covers, as in generated scenes.
    """
    from PIL import Image

    size = (image_size, image_size)
    try:
        return np.asarray(open_rgb(path).resize(size, Image.Resampling.BOX))
    except (OSError, ValueError) as error:
        raise UserError(f"The picture {path} cannot be read: {error}") from error
