"""The pictures that captions describe, as vectors: one for each caption, or none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seesay.data.picture_features import PictureFeatures, Vectors, validate_finite
from seesay.errors import UserError
from seesay.quantities import quantity

UNSEEN = -1
"""The row of a caption whose picture is not shown."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class CaptionFeatures:
    """Vectors of pictures, and which of them each caption describes."""

    vectors: Vectors
    train: Rows
    """The row of each training caption's picture, or UNSEEN."""
    held_out: Rows
    encoder: str = ""
    """The name of what computed the vectors (`seesay.models.picture_encoder`); empty where it is
    not known: the model can then not be shown a new picture."""
    shown: float = 0.5
    """Of the texts with a picture, the share that is read with it where the network also learns to
    predict the pictures that it does not see."""

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or not self.vectors.size:
            raise UserError(
                f"The picture features have the shape {self.vectors.shape}: a row of numbers for "
                "each picture is needed, all of one width."
            )
        validate_finite(self.vectors, range(len(self.vectors)), "The picture features")
        rows = np.concatenate([self.train, self.held_out])
        if not ((rows >= UNSEEN) & (rows < len(self.vectors))).all():
            raise UserError(
                f"A caption's picture has no row among the {len(self.vectors):,} picture features."
            )
        if (self.train == UNSEEN).all():
            raise UserError("No training caption has a picture: leave the features out.")

    @classmethod
    def aligned(cls, train: Vectors, held_out: Vectors, encoder: str = "") -> CaptionFeatures:
        """Return the features of captions that are given one vector each, in their order."""
        if train.ndim != 2 or held_out.ndim != 2 or train.shape[1] != held_out.shape[1]:
            raise UserError(
                f"The features of the training captions have the shape {train.shape}, those of the "
                f"captions held out {held_out.shape}: give rows of one width."
            )
        vectors = np.concatenate([train, held_out]).astype(np.float32)
        rows = np.arange(len(vectors))
        return cls(vectors, rows[: len(train)], rows[len(train) :], encoder)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self.vectors.shape[1])

    @property
    def fingerprint(self) -> str:
        """A digest of the vectors and their captions: others are another training."""
        digest = hashlib.blake2b(f"{self.encoder} {self.shown}".encode(), digest_size=8)
        for array in (self.vectors, self.train, self.held_out):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def validate(self, train: int, held_out: int) -> None:
        """Refuse features of other captions than so many to train on and so many held out."""
        if (len(self.train), len(self.held_out)) != (train, held_out):
            raise UserError(
                f"There are features for {quantity(len(self.train), 'training caption')} and "
                f"{len(self.held_out):,} held out, but {train:,} and {held_out:,} captions: give "
                "one vector for each."
            )


def find_rows(features: PictureFeatures, pictures: list[str]) -> Rows:
    """Return the row of each caption's picture; one without features is refused."""
    rows = np.array([features.row(picture) for picture in pictures], np.int64)
    missing = dict.fromkeys(pictures[place] for place in np.flatnonzero(rows == UNSEEN))
    if missing:
        raise UserError(
            f"{features.source} lack {quantity(len(missing), 'picture')} of the captions, the "
            f"first being '{next(iter(missing))}': give a vector for each."
        )
    return rows
