"""Small networks, items and trainings for the tests of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from seesay.scenes.plan import make_plan
from seesay.scenes.reasoners.checkpoints import save
from seesay.scenes.reasoners.config import PRESETS, NetworkConfig, ReasonerConfig
from seesay.scenes.reasoners.dataset import ReasonerDataset, from_scenes
from seesay.scenes.reasoners.features.extractor import FeatureExtractor, open_extractor
from seesay.scenes.reasoners.networks.base import ReasonerNetwork
from seesay.scenes.reasoners.networks.registry import build
from seesay.scenes.reasoners.vocabulary import SentenceVocabulary
from seesay.training.schedule import Schedule

SENTENCES = (
    "The red square is a big square",
    "The blue circle is the smallest",
    "The white triangle is a small object",
)
SIZES: dict[str, Any] = {
    "width": 8,
    "blocks": 2,
    "embedding": 8,
    "hidden": 16,
    "projection": 16,
    "classifier": 16,
}
IMAGE_SIZE = 32
OVER_PIXELS = ("cnn-lstm", "stacked-attention", "film")
ALL = (*OVER_PIXELS, "object-centred")


def extractor_of(network: str, image_size: int = IMAGE_SIZE) -> FeatureExtractor:
    return open_extractor(PRESETS["cpu"][network].features, image_size)


def feature_shape(extractor: FeatureExtractor) -> tuple[int, ...]:
    """The shape of the features of a black picture."""
    size = extractor.image_size
    return extractor.extract(np.zeros((1, size, size, 3), dtype=np.uint8)).shape[1:]


def small_config(
    network: str,
    *,
    batch_size: int = 16,
    augment: bool = False,
    sizes: dict[str, Any] | None = None,
    **schedule: Any,
) -> ReasonerConfig:
    """A config as small as its test allows."""
    fields = {
        "epochs": 2,
        "learning_rate": 3e-3,
        "best_by": "accuracy",
        "highest": True,
        **schedule,
    }
    extractor = extractor_of(network)
    return ReasonerConfig(
        network,
        extractor.name,
        extractor.image_size,
        Schedule(**fields),
        batch_size,
        augment,
        SIZES if sizes is None else sizes,
    )


def random_network(
    network: str, input_shape: tuple[int, ...] | None = None, **sizes: Any
) -> tuple[ReasonerNetwork, NetworkConfig]:
    """Seeded, in evaluation mode; batch norms as if they had seen data."""
    vocabulary, shape = (
        SentenceVocabulary.of(SENTENCES),
        input_shape or feature_shape(extractor_of(network)),
    )
    config = NetworkConfig(vocabulary, ("no", "yes"), shape, **{**SIZES, **sizes})
    torch.manual_seed(0)
    built = build(network, config)
    for module in built.modules():
        if isinstance(module, torch.nn.BatchNorm1d | torch.nn.BatchNorm2d):
            assert module.running_mean is not None
            assert module.running_var is not None
            torch.nn.init.normal_(module.running_mean)
            torch.nn.init.uniform_(module.running_var, 0.5, 2.0)
    return built.eval(), config


def scene_items(
    network: str, task: str = "pos", total: int = 80, split: str = "train"
) -> ReasonerDataset:
    """Items with the features that a network of this kind takes."""
    return from_scenes(make_plan(task, total), split, extractor_of(network))


def scene_features(network: str, count: int = 6) -> torch.Tensor:
    """The features of some real scenes."""
    return torch.from_numpy(np.array(scene_items(network).features[:count]))


def save_random(network: str, folder: Path) -> tuple[ReasonerNetwork, NetworkConfig]:
    """A random network in a folder."""
    built, config = random_network(network)
    save(folder, built, small_config(network), config, extractor_of(network).fingerprint)
    return built, config
