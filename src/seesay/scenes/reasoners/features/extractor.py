"""Feature extractors: the pixels as they are, objects found among them, or a pretrained network's
feature maps."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seesay.data.pictures import open_rgb
from seesay.errors import UserError
from seesay.scenes.reasoners.features import objects

Pictures = NDArray[np.uint8]


class FeatureExtractor(Protocol):
    """Turns pictures of `image_size` pixels per side into the input of a network; `name` is how a
    user asks for it."""

    name: str
    image_size: int

    @property
    def fingerprint(self) -> str:
        """A digest that changes when the features would."""

    def extract(self, pictures: Pictures) -> NDArray[Any]:
        """The features (items, …) of pictures (items, image_size, image_size, 3); of a map,
        channels first."""


class PixelExtractor:
    """The picture itself, as bytes; the networks scale them to numbers from 0 to 1."""

    name = "pixels"

    def __init__(self, image_size: int) -> None:
        self.image_size = image_size
        self.fingerprint = f"pixels-{image_size}"

    def extract(self, pictures: Pictures) -> NDArray[np.uint8]:
        """Channels first, as networks take them."""
        return np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))


class ObjectExtractor:
    """Slots of objects, found without labels (see `objects`)."""

    name = "objects"
    image_size = objects.IMAGE_SIZE
    fingerprint = f"objects-{objects.IMAGE_SIZE}-{objects.OUTLINE}-3"

    def extract(self, pictures: Pictures) -> NDArray[np.float32]:
        """One row of slots per picture."""
        return objects.find_objects(pictures)


def open_extractor(name: str, image_size: int) -> FeatureExtractor:
    """The extractor of this name: `pixels`, `objects`, or a pretrained network (see
    `pretrained`)."""
    if name == "pixels":
        return PixelExtractor(image_size)
    if name == "objects":
        return ObjectExtractor()
    from seesay.scenes.reasoners.features.pretrained import open_pretrained

    return open_pretrained(name, image_size)


def read_picture(path: str, image_size: int) -> Pictures:
    """A picture file as RGB, `image_size` pixels per side, every pixel the mean of the area it
    covers."""
    from PIL import Image

    try:
        return np.asarray(open_rgb(path).resize((image_size, image_size), Image.Resampling.BOX))
    except (OSError, ValueError) as error:
        raise UserError(f"The picture {path} cannot be read: {error}") from error
