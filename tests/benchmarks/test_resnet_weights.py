"""ResNet-50 as Keras computes it: blue first, biases, its own epsilon, strides in a block's first
convolution.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.resnet_weights import Arrays, build, convert, layers
from torch.nn.functional import batch_norm, conv2d

EPSILON = 1e-3  # of Keras' batch norm


@pytest.fixture(scope="module")
def arrays() -> Arrays:
    """Random weights by their Keras names."""
    rng = np.random.default_rng(0)
    expected = build_shapes()
    arrays: dict[str, Any] = {}
    for convolution, norm, place in layers():
        outputs, inputs, *kernel = expected[f"{place}.convolution.weight"]
        scale = (2 / (inputs * np.prod(kernel))) ** 0.5
        arrays[f"{convolution}/kernel"] = scale * rng.standard_normal((*kernel, inputs, outputs))
        arrays[f"{convolution}/bias"] = rng.standard_normal(outputs)
        for part in ("gamma", "beta", "moving_mean"):
            arrays[f"{norm}/{part}"] = rng.standard_normal(outputs)
        # small variances, where an epsilon of 1e-3 and one of 1e-5 differ by a half
        arrays[f"{norm}/moving_variance"] = rng.uniform(0.001, 0.01, outputs)
    arrays["fc1000/kernel"] = rng.standard_normal((2048, 1000))
    arrays["fc1000/bias"] = rng.standard_normal(1000)
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def build_shapes() -> dict[str, torch.Size]:
    from transformers import ResNetConfig, ResNetModel

    with torch.device("meta"):
        network = ResNetModel(ResNetConfig(downsample_in_bottleneck=True))
    return {f"resnet.{name}": tensor.shape for name, tensor in network.state_dict().items()}


def keras(
    arrays: Arrays, convolution: str, norm: str, maps: torch.Tensor, stride: int = 1
) -> torch.Tensor:
    """Convolve and normalise as Keras does."""
    weight = {name: torch.from_numpy(array) for name, array in arrays.items() if "fc" not in name}
    kernel = weight[f"{convolution}/kernel"].permute(3, 2, 0, 1)
    padding = kernel.shape[2] // 2
    maps = conv2d(maps, kernel, weight[f"{convolution}/bias"], stride, padding)
    mean, variance, scale, shift = (
        weight[f"{norm}/{part}"] for part in ("moving_mean", "moving_variance", "gamma", "beta")
    )
    return batch_norm(maps, mean, variance, scale, shift, eps=EPSILON)


def test_layers_compute_what_keras_computes(arrays: Arrays) -> None:
    network = build(convert(arrays)).resnet
    pictures = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        stem = network.embedder.embedder(pictures)
        theirs = keras(arrays, "conv1", "bn_conv1", pictures.flip(1), stride=2).relu()
        assert torch.allclose(stem, theirs, rtol=1e-4, atol=1e-3)

        maps = torch.randn(2, 256, 8, 8, generator=torch.Generator().manual_seed(1))
        block = network.encoder.stages[1].layers[0](maps)
        inner = keras(arrays, "res3a_branch2a", "bn3a_branch2a", maps, stride=2).relu()
        inner = keras(arrays, "res3a_branch2b", "bn3a_branch2b", inner).relu()
        inner = keras(arrays, "res3a_branch2c", "bn3a_branch2c", inner)
        shortcut = keras(arrays, "res3a_branch1", "bn3a_branch1", maps, stride=2)
        theirs = (inner + shortcut).relu()
        assert torch.allclose(block, theirs, rtol=1e-3, atol=1e-3 * float(theirs.max()))


def test_a_missing_layer_is_an_error(arrays: Arrays) -> None:
    incomplete = {name: array for name, array in arrays.items() if name != "res4c_branch2b/bias"}
    with pytest.raises(KeyError, match="res4c_branch2b/bias"):
        convert(incomplete)
