"""Depth models: FastDepth with its real weights, DPT, Depth-Anything and GLPN through the real loading code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
import transformers as tr
from PIL import Image
from sklearn.datasets import load_sample_image
from tests.needs import absent

from seesay.models.depth import distances, load_depth
from seesay.models.loading import Options
from seesay.questions import UserError


def picture(seed: int = 0, size: tuple[int, int] = (80, 60)) -> Image.Image:
    rows = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(rows)


def test_fastdepth_on_a_photograph() -> None:
    try:
        model = load_depth("fastdepth", Options())
    except UserError as error:
        absent(str(error))
    photograph = load_sample_image("china.jpg")  # a temple behind a paved yard
    (found,) = model.maps([Image.fromarray(photograph)])
    assert found.shape == photograph.shape[:2]
    assert found.dtype == np.float32
    assert (found > 0).mean() > 0.99  # metres
    height = len(found)
    assert found[-height // 6 :].mean() < 0.75 * found[: height // 2].mean()  # the yard is before us


def save_tiny(kind: str, folder: Path) -> Path:
    torch.manual_seed(0)
    small: dict[str, Any] = {
        "hidden_size": 32,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 37,
    }
    processor: tr.ImageProcessingMixin
    model: tr.PreTrainedModel
    if kind == "dpt":
        config = tr.DPTConfig(
            **small,
            image_size=32,
            patch_size=8,
            backbone_out_indices=[0, 1, 2, 3],
            neck_hidden_sizes=[16, 16, 32, 32],
            fusion_hidden_size=16,
            reassemble_factors=[4, 2, 1, 0.5],
            is_hybrid=False,
        )
        model, processor = tr.DPTForDepthEstimation(config), tr.DPTImageProcessor(size={"height": 32, "width": 32})
    elif kind == "depth_anything":
        backbone = cast(Any, tr.Dinov2Config)(
            hidden_size=32, num_hidden_layers=4, num_attention_heads=4, image_size=28, patch_size=14,
            out_features=["stage1", "stage2", "stage3", "stage4"], reshape_hidden_states=False,
        )  # fmt: skip
        config2 = tr.DepthAnythingConfig(
            backbone_config=backbone,
            patch_size=14,
            reassemble_hidden_size=32,
            neck_hidden_sizes=[16, 16, 32, 32],
            fusion_hidden_size=16,
            head_in_index=-1,
        )
        model = tr.DepthAnythingForDepthEstimation(config2)
        processor = tr.DPTImageProcessor(size={"height": 28, "width": 28})
    else:
        config3 = tr.GLPNConfig(
            depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=16
        )
        model, processor = tr.GLPNForDepthEstimation(config3), tr.GLPNImageProcessor()
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["dpt", "depth_anything", "glpn"])
def test_tiny_models(kind: str, tmp_path: Path) -> None:
    model = load_depth(str(save_tiny(kind, tmp_path)), Options())
    pictures = [picture(1), picture(2)]
    maps = model.maps(pictures)
    assert [one.shape for one in maps] == [(60, 80), (60, 80)]
    assert all(np.isfinite(one).all() for one in maps)
    alone = [model.maps([one])[0] for one in pictures]
    for one, other in zip(maps, alone, strict=True):
        assert one == pytest.approx(other, abs=1e-3)


def test_nearness_becomes_distance() -> None:
    assert distances(np.array([[0.0, 5.0, 10.0]], dtype=np.float32)) == pytest.approx(
        np.array([[20.0, 1 / 0.525, 1.0]])
    )
    assert distances(np.full((2, 2), 3.0, dtype=np.float32)) == pytest.approx(np.ones((2, 2)))


def test_what_is_no_depth_model(tiny_folder: Callable[[str], Path]) -> None:
    with pytest.raises(UserError, match="no depth model"):
        load_depth(str(tiny_folder("bert")), Options())
    with pytest.raises(UserError, match="no such folder"):
        load_depth("nobody/nothing", Options())
