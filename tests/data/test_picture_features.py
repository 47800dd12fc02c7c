"""Features of pictures in a file: read as written, and refused in one sentence where they do not
fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from seesay.data.picture_features import PictureFeatures, read_features, write_features
from seesay.errors import UserError

VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_features_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "features.npz"
    write_features(path, PictureFeatures(["a.jpg", "b.jpg", "7"], VECTORS, "color-histogram"))
    features = read_features(path)
    np.testing.assert_array_equal(features.vectors, VECTORS)
    assert features.encoder == "color-histogram"
    # a corpus puts the name of its collection before a picture's
    rows = [features.row(name) for name in ("b.jpg", "captions.json:7", "c.jpg", "b.jpg:a.jpg")]
    assert rows == [1, 2, -1, 0]


def test_hdf5_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "features.h5"
    with h5py.File(path, "w") as file:
        file["ids"] = ["a", "b", "c"]
        file["features"] = VECTORS
    features = read_features(path)
    assert list(features.ids) == ["a", "b", "c"]
    np.testing.assert_array_equal(features.vectors, VECTORS)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"ids": ["a", "b"], "features": VECTORS}, "have 2 ids and 3 rows"),
        ({"ids": ["a", "b", "a"], "features": VECTORS}, "have the picture 'a' 2 times"),
        ({"ids": ["a", "b", "c"], "features": VECTORS[0]}, r"shape \(2,\): a row of numbers"),
        ({"ids": ["a", "b", "c"], "features": VECTORS * np.nan}, "3 pictures, the first being 'a'"),
        ({"ids": ["a", "b", "c"], "vectors": VECTORS}, "holds no arrays `ids`"),
        ({"ids": ["a", "b", "c"], "features": np.array(["x", "y", "z"])}, "holds no arrays"),
    ],
)
def test_features_that_do_not_fit_are_refused(
    tmp_path: Path, arrays: dict[str, Any], sentence: str
) -> None:
    path = tmp_path / "features.npz"
    np.savez(path, **arrays)
    with pytest.raises(UserError, match=sentence):
        read_features(path)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.h5"
    damaged.write_bytes(b"no file of this kind")
    other = tmp_path / "features.csv"
    other.write_text("a,1")
    missing = tmp_path / "none.npz"
    sentences = {
        damaged: "holds no arrays",
        other: "is no .npz or .h5 file",
        missing: "There is no file",
    }
    for path, sentence in sentences.items():
        with pytest.raises(UserError, match=sentence):
            read_features(path)
