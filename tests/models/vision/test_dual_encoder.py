"""Dual encoders through the real loading code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
import transformers as tr
from PIL import Image
from tests.models.vision.tiny_vision import TEXT_MODEL, VISION_MODEL, word_tokenizer

from seesay.errors import UserError
from seesay.models.options import ModelOptions
from seesay.models.vision.dual_encoder import DualEncoder


def save_dual(kind: str, folder: Path) -> Path:
    torch.manual_seed(0)
    tokenizer = word_tokenizer(folder)
    text = {k: v for k, v in TEXT_MODEL.items() if k != "num_key_value_heads"}
    text |= {
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 20,
        "bos_token_id": 2,
        "eos_token_id": 3,
    }
    text |= {"pad_token_id": 0, "projection_dim": 16}
    vision = {**VISION_MODEL, "image_size": 32, "patch_size": 8, "projection_dim": 16}
    names = {
        "clip": ("CLIPConfig", "CLIPModel", "CLIPImageProcessor"),
        "siglip": ("SiglipConfig", "SiglipModel", "SiglipImageProcessor"),
    }[kind]
    config, model, processor = (cast(Any, getattr(tr, name)) for name in names)
    more = {"projection_dim": 16} if kind == "clip" else {}
    model(config(text_config=text, vision_config=vision, **more)).save_pretrained(folder)
    size: dict[str, Any] = {"size": {"height": 32, "width": 32}}
    if kind == "clip":
        size = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}
    processor(**size).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def picture(seed: int) -> Image.Image:
    return Image.fromarray(
        np.random.default_rng(seed).integers(0, 255, (40, 50, 3), dtype=np.uint8)
    )


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_one_space_for_both(kind: str, tmp_path: Path) -> None:
    encoder = DualEncoder(str(save_dual(kind, tmp_path)), ModelOptions())
    texts, pictures = (
        encoder.texts(["a red circle", "the big square is blue"]),
        encoder.pictures([picture(1)]),
    )
    assert texts.shape[1] == pictures.shape[1]
    assert np.linalg.norm(texts, axis=1) == pytest.approx(np.ones(2), abs=1e-5)
    # padding changes nothing
    assert encoder.texts(["a red circle"])[0] == pytest.approx(texts[0], abs=1e-5)


def test_what_is_no_dual_encoder(tiny_folder: Callable[[str], Path]) -> None:
    with pytest.raises(UserError, match="not a dual encoder"):
        DualEncoder(str(tiny_folder("bert")), ModelOptions())
