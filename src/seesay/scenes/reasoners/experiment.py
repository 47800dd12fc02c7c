"""A training from its items to its test accuracies: what `seesay reasoner train` does once and a
sweep many times."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.files import read_json, write_json
from seesay.models.files import file_digest
from seesay.progress import StageProgress
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.config import ReasonerConfig, preset_config
from seesay.scenes.reasoners.dataset import ReasonerDataset
from seesay.scenes.reasoners.features.extractor import FeatureExtractor, open_extractor
from seesay.scenes.reasoners.networks.registry import network_class
from seesay.scenes.reasoners.sources import ItemSource, scene_source
from seesay.scenes.reasoners.train import train, validate
from seesay.training import loop

log = logging.getLogger(__name__)

TEST_RESULTS = "test.json"


def with_features(
    config: ReasonerConfig, features: str | None = None, image_size: int | None = None
) -> tuple[ReasonerConfig, FeatureExtractor]:
    """The config with other features or pictures of another size, and the feature extractor."""
    name = features or config.features
    takes_objects = network_class(config.network).takes_objects
    if takes_objects != (name == "objects"):
        if takes_objects:
            inputs = "objects only"
        else:
            inputs = "pixels or feature maps, not objects"
        raise UserError(
            f"The network {config.network} takes {inputs}: omit --features, or choose another "
            "network."
        )
    if name != config.features and "pixels" in (name, config.features):  # either way, 14 x 14 cells
        published = preset_config(config.network, "paper").sizes.get("plain_layers", 0)
        layers = (4, 0) if name == "pixels" else (0, published)
        sizes = {
            **config.sizes,
            "first_width": 0,
            "strided_layers": layers[0],
            "plain_layers": layers[1],
        }
        config = replace(config, image_size=224, augment=False, sizes=sizes)
    extractor = open_extractor(name, image_size or config.image_size)
    if image_size is not None and extractor.image_size != image_size:
        raise UserError(
            f"--image-size is {image_size}: the features '{name}' need pictures of "
            f"{extractor.image_size} pixels."
        )
    return replace(config, features=name, image_size=extractor.image_size), extractor


def stages(
    source: ItemSource, folder: Path, config: ReasonerConfig
) -> list[tuple[ItemSource, Path, ReasonerConfig]]:
    """The trainings of a curriculum, each of which starts from the weights of the one before; the
    last is the task's.

    A first task has as many items as the last, and its training a folder of its own within.
    """
    alone = replace(config, curriculum=())
    items = source.splits["train"]
    first = [
        (scene_source(task, items), folder / "curriculum" / task, alone)
        for task in config.curriculum
    ]
    return [*first, (source, folder, config)]


def extract_splits(
    source: ItemSource, extractor: FeatureExtractor, progress: StageProgress | None = None
) -> dict[str, ReasonerDataset]:
    """Every split of the source, with its features."""
    return {
        split: source.load(split, extractor, partial(progress, split) if progress else None)
        for split in ("train", "val", *source.tests)
    }


def train_and_test(
    source: ItemSource,
    splits: Mapping[str, ReasonerDataset],
    folder: Path,
    config: ReasonerConfig,
    *,
    start: Path | None = None,
    device: str = "auto",
    progress: Callable[[loop.TrainingProgress], None] | None = None,
) -> tuple[loop.Result, dict[str, float]]:
    """Train in the folder, or resume there, and test: how it ended, and the accuracy on every test
    of the source."""
    result = train(
        splits["train"],
        splits["val"],
        folder,
        config,
        settings=source.settings,
        start=start,
        device=device,
        progress=progress,
    )
    return result, accuracies(folder, {name: splits[name] for name in source.tests}, device)


def accuracies(
    folder: Path, splits: Mapping[str, ReasonerDataset], device: str = "auto"
) -> dict[str, float]:
    """The accuracy of a trained reasoner on each split, cached beside it with the digest of its
    weights."""
    import torch
    from accelerate import Accelerator

    key = {
        "model": file_digest(folder / file for file in checkpoints.FILES),
        "items": {name: len(items) for name, items in splits.items()},
    }
    path = folder / TEST_RESULTS
    if path.is_file():
        try:
            cached: dict[str, Any] = read_json(path)
            if {name: cached.get(name) for name in key} == key:
                return dict(cached["accuracy"])
        except (ValueError, AttributeError, KeyError, TypeError):
            log.warning("%s is damaged: the accuracies are computed again.", path)
    network, config, _ = checkpoints.load(folder)
    network.to(Accelerator(cpu=device == "cpu").device)
    accuracy: dict[str, float] = {}
    for name, items in splits.items():
        with torch.no_grad():
            share = validate(network, items, config.vocabulary.encode(items.sentences))["accuracy"]
        accuracy[name] = round(share * len(items)) / len(items)  # a mean of single precision
    write_json(path, {**key, "accuracy": accuracy})
    return accuracy
