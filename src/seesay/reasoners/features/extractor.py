"""What a reasoner looks with: the pixels as they are, objects found among them, or another network's features."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.reasoners.features import objects

Pictures = NDArray[np.uint8]


class Eye(Protocol):
    """Turns pictures of `side` pixels a side into what a network takes; `name` is how a user asks for it."""

    name: str
    side: int

    @property
    def fingerprint(self) -> str:
        """A digest that changes when it would see otherwise."""

    @property
    def look_of(self) -> tuple[int, ...]:
        """The form of what one picture becomes; channels first where it is a map."""

    def look(self, pictures: Pictures) -> NDArray[Any]:
        """Pictures (items, side, side, 3) as a network takes them: (items, …)."""


class Pixels:
    """The picture itself, bytes as they are: a network makes numbers from 0 to 1 of them when it takes them."""

    name = "pixels"

    def __init__(self, side: int) -> None:
        self.side = side
        self.fingerprint = f"pixels-{side}"
        self.look_of = (3, side, side)

    def look(self, pictures: Pictures) -> NDArray[np.uint8]:
        """Channels first, as networks take them."""
        return np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))


class Objects:
    """Slots of objects, found without labels (see `objects`)."""

    name = "objects"
    side = objects.SIDE
    fingerprint = f"objects-{objects.SIDE}-{objects.OUTLINE}-2"
    look_of = (objects.SLOTS, objects.WIDTH)

    def look(self, pictures: Pictures) -> NDArray[np.float32]:
        """A row of slots a picture."""
        return objects.find(pictures)


def open_eye(name: str, side: int) -> Eye:
    """The eye of this name: `pixels`, `objects`, or a network whose features are taken (see `features`)."""
    if name == "pixels":
        return Pixels(side)
    if name == "objects":
        return Objects()
    from seesay.reasoners.features.pretrained import open_features

    return open_features(name, side)


def picture(path: str, side: int) -> Pictures:
    """A picture file as RGB, `side` pixels a side, every pixel the mean of what it covers."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB").resize((side, side), Image.Resampling.BOX))
    except OSError as error:
        raise UserError(f"The picture {path} cannot be read: {error}") from error
