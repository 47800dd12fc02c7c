"""Encoders of pictures by name: numbers worked by hand, and what does not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.models.encoders.tiny_encoders import save_tiny_encoder

from seesay.errors import UserError
from seesay.models.picture_encoder import (
    encode_folder,
    open_fitting_encoder,
    open_known_encoder,
    open_picture_encoder,
)


def test_a_histogram_counts_colors() -> None:
    """Half white, which is the last bin; half a dark gray, which lies between black and the first
    level of each channel and counts for the eight bins around it by its distances."""
    picture = Image.new("RGB", (64, 64), (255, 255, 255))
    dark = Image.new("RGB", (64, 32), (42, 42, 42))
    picture.paste(dark, (0, 0))
    (vector,) = open_picture_encoder("color-histogram").encode([picture])
    assert vector.shape == (64,)
    assert vector[63] == pytest.approx(np.sqrt(0.5))
    near = 42 / 85
    assert vector[0] ** 2 == pytest.approx(0.5 * (1 - near) ** 3, rel=1e-5)
    assert vector[21] ** 2 == pytest.approx(0.5 * near**3, rel=1e-5)
    assert (vector**2).sum() == pytest.approx(1)


def test_joined_encoders_have_one_scale() -> None:
    picture = Image.new("RGB", (8, 8), (200, 10, 10))
    one = open_picture_encoder("color-histogram").encode([picture])
    joined = open_picture_encoder("color-histogram+color-histogram")
    (vector,) = joined.encode([picture])
    assert vector.shape == (128,)
    assert vector[:64].std() == pytest.approx(1, abs=1e-5)
    assert np.corrcoef(vector[:64], one[0])[0, 1] == pytest.approx(1)
    assert joined.name == "color-histogram+color-histogram"


def test_the_folder_of_a_clip_is_an_encoder(tmp_path: Path) -> None:
    clip = save_tiny_encoder("clip", tmp_path / "clip")
    encoder = open_picture_encoder(str(clip))
    (vector,) = encoder.encode([Image.new("RGB", (40, 40), (10, 200, 10))])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    fitting = open_fitting_encoder(str(clip), len(vector))
    assert fitting is not None
    assert fitting.fingerprint == encoder.fingerprint


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Name an encoder of pictures: color-histogram"):
        open_picture_encoder("")
    with pytest.raises(UserError, match=r"have 9 numbers each, and 'color-histogram'.* gives 64"):
        open_fitting_encoder("color-histogram", 9)
    with pytest.raises(UserError, match="is not the one that the model was trained with"):
        open_known_encoder("color-histogram", "another")
    with pytest.raises(UserError, match="holds no picture"):
        encode_folder(tmp_path, "color-histogram")
    assert open_fitting_encoder("", 9) is None
