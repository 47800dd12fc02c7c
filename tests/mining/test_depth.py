"""Depth models: FastDepth with its real weights, the others, tiny, through the real loading
code."""

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

from seesay.errors import UserError
from seesay.mining.depth import distances, load_depth
from seesay.models.options import ModelOptions


def picture(seed: int = 0, size: tuple[int, int] = (80, 60)) -> Image.Image:
    rows = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(rows)


def test_fastdepth_on_a_photograph() -> None:
    try:
        model = load_depth("fastdepth", ModelOptions())
    except UserError as error:
        absent(str(error))
    photograph = load_sample_image("china.jpg")  # a temple behind a paved yard
    depth_map = model.estimate(Image.fromarray(photograph))
    assert depth_map.shape == photograph.shape[:2]
    assert depth_map.dtype == np.float32
    assert (depth_map > 0).mean() > 0.99  # metres
    height = len(depth_map)
    # the yard is before us
    assert depth_map[-height // 6 :].mean() < 0.75 * depth_map[: height // 2].mean()


def save_tiny(kind: str, folder: Path) -> Path:
    torch.manual_seed(0)
    small: dict[str, Any] = {
        "hidden_size": 32,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 37,
    }
    neck: dict[str, Any] = {"neck_hidden_sizes": [16, 16, 32, 32], "fusion_hidden_size": 16}
    # as published: proportions are kept, so that pictures of several shapes make several batches
    options: dict[str, Any] = {
        "size": {"height": 28, "width": 28},
        "keep_aspect_ratio": True,
        "ensure_multiple_of": 14,
    }
    processor: tr.ImageProcessingMixin = tr.DPTImageProcessor(**options)
    model: tr.PreTrainedModel
    dinov2 = cast(Any, tr.Dinov2Config)(
        hidden_size=32,
        num_hidden_layers=4,
        num_attention_heads=4,
        image_size=28,
        patch_size=14,
        out_features=["stage1", "stage2", "stage3", "stage4"],
        reshape_hidden_states=False,
    )
    if kind == "dpt":
        more: dict[str, Any] = {
            "backbone_out_indices": [0, 1, 2, 3],
            "reassemble_factors": [4, 2, 1, 0.5],
        }
        model = tr.DPTForDepthEstimation(
            tr.DPTConfig(**small, **neck, **more, image_size=32, patch_size=8)
        )
        processor = tr.DPTImageProcessor(size={"height": 32, "width": 32})
    elif kind == "dpt on dinov2":
        wide = {**neck, "fusion_hidden_size": 256}  # the projection's fixed width
        model = tr.DPTForDepthEstimation(
            tr.DPTConfig(**wide, backbone_config=dinov2, add_projection=True)
        )
    elif kind.startswith("depth_anything"):
        more = {"reassemble_hidden_size": 32, "patch_size": 14, "head_in_index": -1}
        more |= (
            {"depth_estimation_type": "metric", "max_depth": 20} if kind.endswith("metric") else {}
        )
        model = tr.DepthAnythingForDepthEstimation(
            tr.DepthAnythingConfig(backbone_config=dinov2, **neck, **more)
        )
    elif kind == "prompt_depth_anything":
        more = {"reassemble_hidden_size": 32, "patch_size": 14, "head_in_index": -1}
        config = tr.PromptDepthAnythingConfig(backbone_config=dinov2, **neck, **more)
        model = tr.PromptDepthAnythingForDepthEstimation(config)
    else:
        small = {
            "depths": [1, 1, 1, 1],
            "hidden_sizes": [8, 16, 24, 32],
            "num_attention_heads": [1, 1, 2, 2],
        }
        model = tr.GLPNForDepthEstimation(tr.GLPNConfig(**small, decoder_hidden_size=16))
        processor = tr.GLPNImageProcessor()
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


METRIC = {
    "dpt": False,
    "dpt on dinov2": True,
    "depth_anything": False,
    "depth_anything metric": True,
    "glpn": True,
}


@pytest.mark.parametrize("kind", METRIC)
def test_tiny_models(kind: str, tmp_path: Path) -> None:
    """Pictures of several shapes, each as transformers' own pipeline sees it."""
    model = load_depth(str(save_tiny(kind, tmp_path)), ModelOptions())
    pictures = [
        picture(i, size) for i, size in enumerate([(80, 60), (60, 90), (80, 60), (100, 40)])
    ]
    maps = [model.estimate(image) for image in pictures]
    assert [depth_map.shape for depth_map in maps] == [(60, 80), (90, 60), (60, 80), (40, 100)]
    assert model.relative is not METRIC[kind]
    pipeline = cast(Any, tr.pipeline)("depth-estimation", model=str(tmp_path))
    for depth_map, other in zip(
        maps, (pipeline(image)["predicted_depth"].numpy() for image in pictures), strict=True
    ):
        if model.relative:  # larger is nearer there, farther here
            other = (other.max() - other) / (other.max() - other.min())
        assert depth_map == pytest.approx(other, abs=1e-3)


def test_network_of_unknown_output_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is a prompt_depth_anything.*disparity or metres"):
        load_depth(str(save_tiny("prompt_depth_anything", tmp_path)), ModelOptions())


def test_disparity_becomes_distance() -> None:
    assert distances(np.array([[2.0, 7.0, 12.0, 4.0]], dtype=np.float32)).tolist() == [
        pytest.approx([1.0, 0.5, 0.0, 0.8])
    ]
    assert distances(np.full((2, 2), 3.0, dtype=np.float32)) == pytest.approx(np.ones((2, 2)))


def test_other_models_are_refused(tiny_folder: Callable[[str], Path]) -> None:
    with pytest.raises(UserError, match="is not a depth model"):
        load_depth(str(tiny_folder("bert")), ModelOptions())
    with pytest.raises(UserError, match="no such folder"):
        load_depth("nobody/nothing", ModelOptions())
