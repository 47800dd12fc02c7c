"""The `paper` preset is the published networks and training: shapes and counts worked out by hand
from the scripts.

Sizes and settings: the training scripts of Pezzelle & Fernández (2019), which run the code of Perez
et al. (2018).
"""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from tests.scenes.reasoners.small import SENTENCES
from torch import nn

from seesay.scenes.reasoners.config import NetworkConfig, preset_config
from seesay.scenes.reasoners.experiment import with_features
from seesay.scenes.reasoners.networks.base import ReasonerNetwork
from seesay.scenes.reasoners.networks.film import Film
from seesay.scenes.reasoners.networks.registry import build
from seesay.scenes.reasoners.sweep import PAPER_GRID
from seesay.scenes.reasoners.vocabulary import SentenceVocabulary

CONV4 = (1024, 14, 14)
WORDS = SentenceVocabulary.of(SENTENCES)
LSTM = 4 * 256 * (300 + 256 + 2) + 4 * 256 * (256 + 256 + 2)  # two layers, two biases each
GRU = 3 * 4096 * (200 + 4096 + 2)
MLP_NORM = {
    "cnn-lstm": 2 * (25_088 + 256) + 2 * 1024,
    "stacked-attention": 2 * 256 + 2 * 1024,
    "film": 2 * (512 + 1024),
}
"""Scale and shift of the classifier's batch norms, which the grid switches."""
ANSWERS = ("<NULL>", "<START>", "<END>", "<UNK>", "no", "yes")
"""The published vocabularies number the special tokens among the answers."""
COUNTS = {
    "cnn-lstm": 300 * len(WORDS) + LSTM + 512 * 1025 + 1024 * (25_088 + 256 + 1) + 6 * 1025,
    "stacked-attention": (
        300 * len(WORDS)
        + LSTM
        + 256 * 1025
        + 2 * (2 * 512 * (256 + 1) + 512 + 1)  # a round: Wv, Wu, and 1 x 1 to one map
        + 1024 * 257
        + 6 * 1025
    ),
    "film": (
        200 * len(WORDS)
        + GRU
        + 4 * 2 * 128 * 4097
        + 128 * (1026 * 9 + 1)
        + 2 * 128  # the stem and its batch norm
        + 4 * (128 * (130 + 1) + 128 * (128 * 9 + 1))
        + 512 * 131
        + 1024 * 513
        + 6 * 1025
    ),
}


def published(network: str, input_shape: tuple[int, ...] = CONV4, **sizes: Any) -> ReasonerNetwork:
    """The network as published, without memory for its weights."""
    with torch.device("meta"):
        config = NetworkConfig(
            WORDS, ANSWERS, input_shape, **{**preset_config(network, "paper").sizes, **sizes}
        )
        return build(network, config)


def parameters(network: nn.Module) -> int:
    return sum(weights.numel() for weights in network.parameters())


@pytest.mark.parametrize("name", COUNTS)
def test_as_many_weights_as_published(name: str) -> None:
    assert parameters(published(name, batch_norm=False)) == COUNTS[name]
    assert parameters(published(name, batch_norm=True)) == COUNTS[name] + MLP_NORM[name]
    assert (
        parameters(published(name, batch_norm=True, dropout=0.5)) == COUNTS[name] + MLP_NORM[name]
    )


SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "cnn-lstm": {
        "reader.embedding": (len(WORDS), 300),
        "project": (512, 1024, 1, 1),
        "classifier.1": (1024, 25_344),
        "classifier.4": (6, 1024),
    },
    "stacked-attention": {
        "reader.embedding": (len(WORDS), 300),
        "project": (256, 1024, 1, 1),
        "rounds.0.of_cells": (512, 256),
        "rounds.0.of_known": (512, 256),
        "rounds.0.weigh": (1, 512),
        "rounds.1.of_cells": (512, 256),
        "rounds.1.of_known": (512, 256),
        "rounds.1.weigh": (1, 512),
        "classifier.1": (1024, 256),
        "classifier.4": (6, 1024),
    },
    "film": {
        "reader.embedding": (len(WORDS), 200),
        "modulate": (1024, 4096),
        "stem.layers.0": (128, 1026, 3, 3),
        **{f"blocks.{i}.narrow": (128, 130, 1, 1) for i in range(4)},
        **{f"blocks.{i}.look": (128, 128, 3, 3) for i in range(4)},
        "last": (512, 130, 1, 1),
        "classifier.0": (1024, 512),
        "classifier.3": (6, 1024),
    },
}


@pytest.mark.parametrize("name", SHAPES)
def test_layers_as_published(name: str) -> None:
    network = published(name, batch_norm=False)
    layers = {
        layer: tuple(module.weight.shape)
        for layer, module in network.named_modules()
        if isinstance(module, (nn.Conv2d, nn.Linear, nn.Embedding))
    }
    assert layers == SHAPES[name]
    (recurrent,) = (module for module in network.modules() if isinstance(module, nn.RNNBase))
    sizes = (type(recurrent), recurrent.input_size, recurrent.hidden_size, recurrent.num_layers)
    assert sizes == ((nn.GRU, 200, 4096, 1) if name == "film" else (nn.LSTM, 300, 256, 2))


def test_order_of_the_classifiers_layers() -> None:
    def kinds(layers: nn.Module) -> list[str]:
        return [type(layer).__name__ for layer in layers.children()]

    mlp = ["Dropout", "BatchNorm1d", "Linear", "BatchNorm1d", "Dropout", "ReLU", "Linear"]
    assert kinds(published("cnn-lstm").get_submodule("classifier")) == mlp
    assert kinds(published("stacked-attention").get_submodule("classifier")) == mlp
    film = published("film")
    assert kinds(film.get_submodule("classifier")) == [
        "Linear",
        "BatchNorm1d",
        "ReLU",
        "Dropout",
        "Linear",
    ]
    assert isinstance(film.get_submodule("last_norm"), nn.BatchNorm2d)


def test_grid_switches_only_the_batch_norm_of_the_classifier() -> None:
    """FiLM's stem and blocks keep theirs; those of the blocks have no scale and shift."""
    norms = [
        module
        for module in published("film", batch_norm=False).modules()
        if isinstance(module, nn.BatchNorm2d)
    ]
    assert [norm.affine for norm in norms] == [True, False, False, False, False]
    assert PAPER_GRID == ((5e-5, 3e-4, 5e-4, 5e-3), (0.0, 0.5), (True, False))


@torch.inference_mode()
def test_maps_of_14_by_14_from_conv4_and_from_pixels() -> None:
    config, _ = with_features(preset_config("film", "paper"), "pixels")
    small = {"hidden": 16, "embedding": 8}
    words = torch.from_numpy(WORDS.encode(SENTENCES[:1]))
    torch.manual_seed(0)
    for shape, sizes in ((CONV4, {}), ((3, 224, 224), config.sizes)):
        all_sizes = {**preset_config("film", "paper").sizes, **sizes, **small}
        film = Film(NetworkConfig(WORDS, ("no", "yes"), shape, **all_sizes)).eval()
        assert film.feature_maps(torch.randn(1, *shape), words).shape == (1, 512, 14, 14)
    strided = [layer for layer in film.stem.modules() if isinstance(layer, nn.Conv2d)]
    assert [
        (layer.in_channels, layer.kernel_size, layer.stride, layer.padding) for layer in strided
    ] == [(channels, (4, 4), (2, 2), (1, 1)) for channels in (3, 128, 128, 128)]


def test_starts_as_published() -> None:
    """Kaiming, with a gain of √2: uniform within √(6 / inputs) for FiLM, normal with sd √(2 /
    inputs) for stacked attention; CNN+LSTM keeps PyTorch's uniform within √(1 / inputs)."""
    torch.manual_seed(0)
    for name, bound in (("film", math.sqrt(6)), ("cnn-lstm", 1.0), ("stacked-attention", None)):
        sizes = {
            **preset_config(name, "paper").sizes,
            "hidden": 256,
            "embedding": 8,
            "projection": 64,
        }
        network = build(name, NetworkConfig(WORDS, ("no", "yes"), (256, 8, 8), **sizes))
        for module in network.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)) and module.weight.numel() > 10_000:
                weights, inputs = module.weight.detach(), module.weight[0].numel()
                if bound is not None:
                    assert weights.abs().max() == pytest.approx(bound / math.sqrt(inputs), rel=1e-2)
                else:
                    assert weights.std() == pytest.approx(math.sqrt(2 / inputs), rel=0.02)
                    assert weights.abs().max() > 3 * math.sqrt(2 / inputs)


@pytest.mark.parametrize("name", COUNTS)
def test_training_as_published(name: str) -> None:
    """Adam, batches of 64, 10,000 steps, validated every 250; compositional has half the items, so
    twice the epochs."""
    config = preset_config(name, "paper")
    schedule = config.schedule
    assert (config.features, config.image_size, config.batch_size, config.augment) == (
        "resnet101",
        224,
        64,
        False,
    )
    assert (schedule.optimizer, schedule.clip, schedule.warmup, schedule.decay) == (
        "adam",
        math.inf,
        0,
        "none",
    )
    assert (schedule.cooldown, schedule.patience, schedule.validate_every) == (0, None, 250)
    # untrained weights are never a candidate, and an epoch's end brings no validation of its own
    assert not schedule.validate_untrained
    assert not schedule.validate_epochs
    assert config.published_tokens
    assert schedule.weight_decay == (1e-5 if name == "film" else 0)
    assert (schedule.best_by, schedule.highest) == ("accuracy", True)
    assert schedule.epochs * 16_000 == 10_000 * config.batch_size
    for task in ("compositional", "mixture-64"):
        assert (
            preset_config(name, "paper", task).schedule.epochs * 8_000 == 10_000 * config.batch_size
        )
