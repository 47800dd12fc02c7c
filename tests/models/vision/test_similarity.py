"""Dual encoders as models that answer: the option whose text fits the picture best."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as tr
from PIL import Image
from tests.models.vision.test_dual_encoder import save_dual

from seesay.errors import UserError
from seesay.models import load_model
from seesay.models.options import ModelOptions
from seesay.models.vision.similarity import SimilarityModel
from seesay.questions import Prompt, Shot


@pytest.fixture
def picture(tmp_path: Path) -> str:
    path = tmp_path / "picture.png"
    pixels = np.random.default_rng(0).integers(0, 255, (40, 40, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return str(path)


def new_folder(parent: Path) -> Path:
    folder = parent / "model"
    folder.mkdir()
    return folder


def prompts(picture: str | None) -> list[Prompt]:
    options = ("red", "blue", "yellow")
    return [
        Prompt("The circle is [MASK].", options, picture),
        Prompt("Is it a [MASK] square?", ("big", "small"), picture),
        Prompt("The circle is [MASK].", options, None),
    ]


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_scores_are_those_of_transformers(kind: str, tmp_path: Path, picture: str) -> None:
    folder = save_dual(kind, new_folder(tmp_path))
    model = load_model(f"vision:{folder}")
    assert isinstance(model, SimilarityModel)
    scores = model.answer(prompts(picture))
    network = tr.AutoModel.from_pretrained(folder)
    tokenizer, images = (
        tr.AutoTokenizer.from_pretrained(folder),
        tr.AutoImageProcessor.from_pretrained(folder),
    )
    padding = {"padding": "max_length", "max_length": 20} if kind == "siglip" else {"padding": True}
    texts = tokenizer(
        [f"The circle is {color}." for color in ("red", "blue", "yellow")],
        return_tensors="pt",
        **padding,
    )
    texts = {name: texts[name] for name in ("input_ids", "attention_mask") if name in texts}
    with torch.inference_mode(), Image.open(picture) as opened:
        pixels = images(opened.convert("RGB"), return_tensors="pt")
        logits = network(pixel_values=pixels["pixel_values"], **texts).logits_per_image[0]
    # the logits themselves, but for what is the same for every text and picture
    bias = getattr(network, "logit_bias", torch.zeros(1))
    shift = float((network.logit_scale.exp() + bias).detach())
    assert list(scores[0].logp) == pytest.approx((logits.double() - shift).tolist(), abs=1e-4)
    assert all(logp <= 0 for row in scores for logp in row.logp)
    assert list(scores[0].logp) != pytest.approx(list(scores[2].logp))  # the picture counts
    assert any("plain gray" in note for note in model.notes())
    assert list(model.answer(prompts(picture)[1:2])[0].logp) == pytest.approx(
        list(scores[1].logp), abs=1e-5
    )


def test_weights_of_another_type_are_another_model(tmp_path: Path) -> None:
    folder = save_dual("clip", new_folder(tmp_path))
    usual, precise = (
        load_model(f"vision:{folder}", ModelOptions(dtype=dtype)) for dtype in (None, "float64")
    )
    assert precise.fingerprint == f"{usual.fingerprint}-float64"


def test_no_examples(tmp_path: Path, picture: str) -> None:
    model = load_model(f"vision:{save_dual('clip', new_folder(tmp_path))}", ModelOptions())
    shot = Shot("It is [MASK].", ("red", "blue"), "red")
    with pytest.raises(UserError, match="without --shots"):
        model.answer([Prompt("It is red.\n\nIt is [MASK].", ("red", "blue"), picture, {}, (shot,))])
