"""Batches hold what they say, and a contact sheet is a picture."""

from __future__ import annotations

import io

import numpy as np
import pytest
from tests.modules import needed

from seesay.errors import UserError
from seesay.scenes import SceneConfig, batches, make_plan, rgb
from seesay.scenes.contact_sheet import contact_sheet
from seesay.scenes.rules import RULES, holds


def test_batches() -> None:
    config, plan = SceneConfig("comparative"), make_plan("comparative", 100)
    all_batches = list(batches(config, plan, "train", size=48, count=30))
    assert [len(batch.sentences) for batch in all_batches] == [30, 30, 20]
    for batch in all_batches:
        assert batch.pictures.shape == (len(batch.items), 48, 48, 3)
        for picture, item, text, answer in zip(
            batch.pictures, batch.items, batch.sentences, batch.answers, strict=True
        ):
            assert np.array_equal(picture, rgb(item.scene, 48))
            assert holds(RULES["fixed-k"], item.scene, text) == answer


def test_contact_sheet() -> None:
    image = needed("PIL.Image")
    batch = next(batches(SceneConfig("pos"), make_plan("pos", 20), "train", size=32, count=7))
    shown = [
        (item.scene, text, bool(answer))
        for item, text, answer in zip(batch.items, batch.sentences, batch.answers, strict=True)
    ]
    sheet = image.open(io.BytesIO(contact_sheet(shown, columns=3, size=100)))
    assert sheet.size == (3 * 108 + 8, 3 * (100 + 45 + 8) + 8)
    with pytest.raises(UserError):
        contact_sheet([])
