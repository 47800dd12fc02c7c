"""Pictures as vectors, by an encoder that has a name: what models that are trained here see.

`color-histogram` needs nothing but pixels, and says which colours there are and how much of each.
`efficientnet-lite0` and the other networks of `models.backbones` give the mean of their map, and
say what it is a picture of. A folder or Hub id is that of a CLIP or SigLIP. Names that are joined
by `+` give one vector after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seesay.data.picture_features import PictureFeatures
from seesay.errors import UserError
from seesay.models.backbones import open_pretrained
from seesay.models.hf.loading import find_source, fingerprint
from seesay.models.options import ModelOptions
from seesay.models.pictures import blank_picture, open_picture
from seesay.registry import load_address

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

Vectors = NDArray[np.float32]

HISTOGRAM = "color-histogram"
BACKBONES = ("efficientnet-lite0", "resnet101", "backbone")
JOINT = "+"
ENDINGS = (".png", ".jpg", ".jpeg")
LEVELS = 4
"""Bins of a histogram per channel: 64 for red, green and blue together."""
_SIDE = 64  # pixels per side that a histogram counts
_BACKBONE_SIDE = 224
# `vision` lies above this module.
_DUAL_ENCODER = "seesay.models.vision.dual_encoder:DualEncoder"


class PictureEncoder(Protocol):
    """Gives each picture a vector, the same for the same picture."""

    name: str
    fingerprint: str

    def encode(self, pictures: Sequence[Picture]) -> Vectors:
        """Return one row per picture."""


def open_picture_encoder(name: str) -> PictureEncoder:
    """Open the encoder of this name, or say which there are."""
    parts = name.split(JOINT)
    if len(parts) > 1:
        return _JoinedEncoder([open_picture_encoder(part) for part in parts])
    if name == HISTOGRAM:
        return ColorHistogram()
    if name.partition(":")[0] in BACKBONES:
        return _BackboneEncoder(name)
    if not name:
        raise UserError(
            f"Name an encoder of pictures: {HISTOGRAM}, {BACKBONES[0]}, or the folder of a CLIP."
        )
    return _DualPictureEncoder(name)


def open_known_encoder(name: str, known: str) -> PictureEncoder:
    """Open the encoder that a model was trained with, by its name and fingerprint."""
    encoder = open_picture_encoder(name)
    if encoder.fingerprint != known:
        raise UserError(
            f"The encoder of pictures '{name}' is not the one that the model was trained with: its "
            "weights or its version are others."
        )
    return encoder


def open_fitting_encoder(name: str, width: int) -> PictureEncoder | None:
    """Open the encoder that features of this width are said to be of; None for an unknown one."""
    if not name:
        return None
    encoder = open_picture_encoder(name)
    # how many numbers a vector has is seen on any picture
    size = encoder.encode([blank_picture()]).shape[1]
    if size != width:
        raise UserError(
            f"The picture features have {width} numbers each, and '{name}', which is said to have "
            f"computed them, gives {size}."
        )
    return encoder


def encode_folder(folder: Path, name: str) -> PictureFeatures:
    """Return the vectors of a folder's pictures, each by its file's name."""
    paths = sorted(path for path in folder.glob("*") if path.suffix.lower() in ENDINGS)
    if not paths:
        raise UserError(f"'{folder}' holds no picture ({', '.join(ENDINGS)}).")
    encoder = open_picture_encoder(name)
    vectors = [encoder.encode([open_picture(str(path), name)]) for path in paths]
    ids = [path.name for path in paths]
    return PictureFeatures(ids, np.concatenate(vectors), encoder.name, f"'{folder}'")


class ColorHistogram:
    """The shares of red, green and blue together, in 4 x 4 x 4 bins.

    A pixel counts for the eight bins around it by its distance to each, so that a shade that
    changes a little changes little. The square root makes rare colours count, as in Hellinger's
    distance.
    """

    name = HISTOGRAM
    fingerprint = f"{HISTOGRAM}-{LEVELS}-{_SIDE}"

    def encode(self, pictures: Sequence[Picture]) -> Vectors:
        """Return one row per picture."""
        return np.stack([_histogram(picture) for picture in pictures])


def _histogram(picture: Picture) -> Vectors:
    """Return the square roots of the shares of all bins."""
    from PIL import Image

    # every pixel counts for as much as it covers
    small = picture.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BOX)
    pixels = np.asarray(small, np.float64).reshape(-1, 3)
    places = pixels / 255 * (LEVELS - 1)
    below = np.minimum(np.floor(places), LEVELS - 2)
    above_share = places - below
    shares = np.zeros(LEVELS**3)
    for corner in np.ndindex(2, 2, 2):
        is_above = np.array(corner, bool)
        weights = np.where(is_above, above_share, 1 - above_share).prod(axis=1)
        red, green, blue = (below + corner).astype(np.int64).T
        bins = (red * LEVELS + green) * LEVELS + blue
        shares += np.bincount(bins, weights, minlength=LEVELS**3)
    roots: Vectors = np.sqrt(shares / len(pixels)).astype(np.float32)
    return roots


class _BackboneEncoder:
    """The mean of a network's map over the picture."""

    def __init__(self, name: str) -> None:
        self._extractor = open_pretrained(name, _BACKBONE_SIDE)
        self.name = self._extractor.name
        self.fingerprint = self._extractor.fingerprint

    def encode(self, pictures: Sequence[Picture]) -> Vectors:
        size = (_BACKBONE_SIDE, _BACKBONE_SIDE)
        pixels = [np.asarray(picture.convert("RGB").resize(size)) for picture in pictures]
        maps = self._extractor.extract(np.stack(pixels))
        means: Vectors = maps.astype(np.float32).mean(axis=(2, 3))
        return means


class _DualPictureEncoder:
    """The half of a CLIP or SigLIP that sees, with its projection."""

    def __init__(self, name: str) -> None:
        options = ModelOptions(device="cpu")
        self._encoder: Any = load_address(_DUAL_ENCODER)(name, options)
        self.name = name
        self.fingerprint = fingerprint(find_source(name, None), options, self._encoder.dtype)

    def encode(self, pictures: Sequence[Picture]) -> Vectors:
        vectors: Vectors = self._encoder.pictures(pictures)
        return vectors


class _JoinedEncoder:
    """The vectors of several encoders, one after the other, each on the same scale."""

    def __init__(self, encoders: Sequence[PictureEncoder]) -> None:
        self._encoders = encoders
        self.name = JOINT.join(encoder.name for encoder in encoders)
        self.fingerprint = JOINT.join(encoder.fingerprint for encoder in encoders)

    def encode(self, pictures: Sequence[Picture]) -> Vectors:
        parts = [_standardize(encoder.encode(pictures)) for encoder in self._encoders]
        return np.concatenate(parts, axis=1)


def _standardize(vectors: Vectors) -> Vectors:
    """Return every vector with the mean 0 and the deviation 1 of its own numbers."""
    mean = vectors.mean(axis=1, keepdims=True)
    deviation = vectors.std(axis=1, keepdims=True)
    scaled: Vectors = ((vectors - mean) / np.maximum(deviation, 1e-6)).astype(np.float32)
    return scaled
