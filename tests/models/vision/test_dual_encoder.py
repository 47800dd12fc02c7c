"""Dual encoders through the real loading code, and the choice of subtypes they make."""

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
from seesay.mining.selection import TEMPLATE, SubtypeSelector, select
from seesay.models.options import ModelOptions
from seesay.models.vision.dual_encoder import DualEncoder


def save_dual(kind: str, folder: Path) -> Path:
    torch.manual_seed(0)
    tokenizer = word_tokenizer(folder)
    text = {k: v for k, v in TEXT_MODEL.items() if k != "num_key_value_heads"}
    text |= {"vocab_size": len(tokenizer), "max_position_embeddings": 20, "bos_token_id": 2, "eos_token_id": 3}
    text |= {"pad_token_id": 0, "projection_dim": 16}
    vision = {**VISION_MODEL, "image_size": 32, "patch_size": 8, "projection_dim": 16}
    names = {"clip": ("CLIPConfig", "CLIPModel", "CLIPImageProcessor"),
             "siglip": ("SiglipConfig", "SiglipModel", "SiglipImageProcessor")}[kind]  # fmt: skip
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
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (40, 50, 3), dtype=np.uint8))


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_one_space_for_both(kind: str, tmp_path: Path) -> None:
    encoder = DualEncoder(str(save_dual(kind, tmp_path)), ModelOptions())
    texts, pictures = encoder.texts(["a red circle", "the big square is blue"]), encoder.pictures([picture(1)])
    assert texts.shape[1] == pictures.shape[1]
    assert np.linalg.norm(texts, axis=1) == pytest.approx(np.ones(2), abs=1e-5)
    assert encoder.texts(["a red circle"])[0] == pytest.approx(texts[0], abs=1e-5)  # padding changes nothing


def test_the_two_stages() -> None:
    names = ["chair", "kitchen chair", "office chair", "wheel chair"]
    # office chair fits the region best but the picture less than the bare name does
    assert select(names, [0.5, 0.6, 0.4, 0.7], [0.3, 0.5, 0.9, 0.4]) == "kitchen chair"
    # no subtype fits the picture better than the name
    assert select(names, [0.5, 0.1, 0.5, 0.2], [0.3, 0.5, 0.9, 0.4]) == "chair"
    # the name itself stays a candidate
    assert select(names, [0.5, 0.6, 0.6, 0.6], [0.9, 0.5, 0.8, 0.4]) == "chair"


def test_a_region_gets_its_subtype(tmp_path: Path) -> None:
    encoder = DualEncoder(str(save_dual("clip", tmp_path)), ModelOptions())
    selector = SubtypeSelector(encoder, {"circle": ["circle", "red circle", "big circle"]})
    shown = picture(3)
    box = (5.0, 5.0, 30.0, 30.0)
    chosen = selector.choose(shown, [("circle", box), ("square", box)])
    names = ["circle", "red circle", "big circle"]
    vectors = encoder.texts([TEMPLATE.format(name) for name in names])
    whole, crop = encoder.pictures([shown])[0], encoder.pictures([shown.crop((5, 5, 35, 35))])[0]
    assert chosen == [select(names, vectors @ whole, vectors @ crop), "square"]


def test_what_is_no_dual_encoder(tiny_folder: Callable[[str], Path]) -> None:
    with pytest.raises(UserError, match="not a dual encoder"):
        DualEncoder(str(tiny_folder("bert")), ModelOptions())
