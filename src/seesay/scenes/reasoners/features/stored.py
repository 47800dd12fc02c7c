"""Features that somebody else extracted: the .h5 files that the published reasoners were trained
on.

The extractor of Johnson et al. (2017), which MALeViC's authors used, writes one file for each
split, `train_features.h5` and so on, with an array `features` (pictures, channels, rows, columns)
whose rows are in the order of the pictures' numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seesay.digests import text_digest
from seesay.errors import UserError
from seesay.scenes.published import require_h5py
from seesay.scenes.reasoners.features.extractor import Pictures

PREFIX = "h5:"
FILE = "{split}_features.h5"
ARRAY = "features"
_DIMENSIONS = 4


@dataclass(frozen=True)
class StoredFeatures:
    """A folder of feature files; there is nothing in it to extract features of other pictures."""

    folder: Path
    image_size: int

    @property
    def name(self) -> str:
        """Return how a user asks for it."""
        return f"{PREFIX}{self.folder}"

    @cached_property
    def fingerprint(self) -> str:
        """Return a digest of the first picture's features in every file, and of the files' shapes.

        Whole files have many gigabytes.
        """
        paths = sorted(self.folder.glob(FILE.format(split="*")))
        if not paths:
            raise UserError(
                f"'{self.folder}' has no {FILE.format(split='SPLIT')}: give the folder of the "
                "published features, as in --features h5:FOLDER."
            )
        parts = []
        for path in paths:
            rows = StoredRows(path)
            parts.append(f"{path.name} {rows.shape}".encode() + rows[np.array([0])].tobytes())
        return f"h5-{text_digest(b''.join(parts))}"

    def extract(self, pictures: Pictures) -> NDArray[Any]:
        """Refuse: only the pictures of the files have features."""
        raise UserError(
            f"The features in '{self.folder}' are of its own pictures: for others, give the "
            "network that made them, as in --features resnet101:FOLDER."
        )

    def rows(self, split: str, images: Sequence[int]) -> StoredRows:
        """Return the features of a split's pictures, by their numbers."""
        path = self.folder / FILE.format(split=split)
        if not path.is_file():
            raise UserError(f"There is no {path}: it has the features of the {split} pictures.")
        rows = StoredRows(path, np.asarray(images, dtype=np.intp))
        if len(images) and not 0 <= min(images) <= max(images) < rows.count:
            raise UserError(
                f"{path} has the features of {rows.count:,} pictures: the data set has number "
                f"{max(images):,}."
            )
        return rows


class StoredRows:
    """An array of an .h5 file, read picture by picture and never as a whole."""

    def __init__(self, path: Path, images: NDArray[np.intp] | None = None) -> None:
        h5 = require_h5py()
        try:
            self.array = h5.File(path, "r")[ARRAY]
            self.count = len(self.array)
            dimensions = self.array.ndim
        except (OSError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"'{path}' is no file of features: {error}.") from error
        if dimensions != _DIMENSIONS or not self.count:
            raise UserError(
                f"'{path}' is no file of features: expected an array '{ARRAY}' of pictures, "
                "channels, rows and columns."
            )
        self.images = np.arange(self.count) if images is None else images

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the features of all items."""
        return len(self.images), *self.array.shape[1:]

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, rows: NDArray[np.intp] | slice) -> NDArray[np.float32]:
        # h5py takes each row once and in order
        images, inverse = np.unique(self.images[rows], return_inverse=True)
        return np.asarray(self.array[images], dtype=np.float32)[inverse]
