"""Vectors of pictures in a file: `.npz` with the arrays `ids` and `features`, or `.h5` with data
sets of these names.

A third one, `encoder`, names what computed them (`seesay.models.picture_encoder`), so that a model
trained with them can be shown new pictures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError, first_line, needs_extra
from seesay.files import atomic_write
from seesay.quantities import quantity

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class PictureFeatures:
    """A vector for each picture, by the picture's name.

    Pictures that are there twice, or with anything but finite numbers, are refused.
    """

    ids: Sequence[str]
    vectors: Vectors
    encoder: str = ""
    """The name of what computed them; empty where it is not known."""
    source: str = "the features"
    """Where they come from, for an error."""

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or not self.vectors.size:
            raise UserError(
                f"{self.source} have the shape {self.vectors.shape}: a row of numbers for each "
                "picture is needed, all of one width."
            )
        if len(self.ids) != len(self.vectors):
            raise UserError(
                f"{self.source} have {quantity(len(self.ids), 'id')} and "
                f"{quantity(len(self.vectors), 'row')}: each picture needs one of both."
            )
        picture, times = Counter(self.ids).most_common(1)[0]
        if times > 1:
            raise UserError(
                f"{self.source} have the picture '{picture}' {times} times: leave one of each."
            )
        validate_finite(self.vectors, self.ids, self.source)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {picture: row for row, picture in enumerate(self.ids)}

    def row(self, picture: str) -> int:
        """Return the row of a picture, by its name or by what follows the name of its collection;
        -1 where there is none."""
        _, _, name = picture.partition(":")
        return self._rows.get(picture, self._rows.get(name, -1))


def validate_finite(vectors: Vectors, ids: Sequence[object], source: str) -> None:
    """Refuse vectors with a number that is none."""
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(broken):
        raise UserError(
            f"{source} have numbers that are not finite (NaN or infinite) for "
            f"{quantity(len(broken), 'picture')}, the first being '{ids[broken[0]]}': compute them "
            "anew."
        )


def read_features(path: Path) -> PictureFeatures:
    """Read a file of features, which is other people's: refused in one sentence where it does not
    fit."""
    if not path.is_file():
        raise UserError(f"There is no file '{path}': picture features are an .npz or .h5 file.")
    if path.suffix not in (".npz", ".h5", ".hdf5"):
        raise UserError(f"'{path}' is no .npz or .h5 file of picture features.")
    try:
        arrays = _read_npz(path) if path.suffix == ".npz" else _read_h5(path)
        vectors = np.asarray(arrays["features"], np.float32)
        ids = [_text(value) for value in np.asarray(arrays["ids"]).ravel().tolist()]
        encoder = _text(np.asarray(arrays.get("encoder", "")).item())
    except UserError:
        raise
    except Exception as error:  # other people's files fail in more ways than can be listed
        raise UserError(
            f"'{path}' holds no arrays `ids` (texts) and `features` (pictures x width): "
            f"{first_line(error)}"
        ) from error
    return PictureFeatures(ids, vectors, encoder, f"The features in '{path}'")


def _read_npz(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _read_h5(path: Path) -> dict[str, Any]:
    with needs_extra("Reading .h5 files", "scenes"):
        import h5py
    with h5py.File(path, "r") as file:
        return {name: file[name][()] for name in file}


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def write_features(path: Path, features: PictureFeatures) -> None:
    """Write an .npz file that `read_features` reads."""
    with atomic_write(path) as unfinished, unfinished.open("wb") as file:
        np.savez_compressed(
            file,
            ids=np.array(features.ids),
            features=features.vectors,
            encoder=np.array(features.encoder),
        )
