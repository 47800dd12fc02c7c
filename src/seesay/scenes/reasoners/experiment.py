"""A training from its items to its test accuracies.

It is what `seesay reasoner train` does once and a sweep many times.
"""

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
from seesay.scenes.reasoners.features.extractor import FeatureExtractor, has_objects, open_extractor
from seesay.scenes.reasoners.networks.registry import network_class
from seesay.scenes.reasoners.sources import ItemSource, scene_source
from seesay.scenes.reasoners.train import train, validate
from seesay.training import loop

log = logging.getLogger(__name__)

TEST_RESULTS = "test.json"


def with_features(
    config: ReasonerConfig, features: str | None = None, image_size: int | None = None
) -> tuple[ReasonerConfig, FeatureExtractor]:
    """Return the config with other features or pictures of another size, and the extractor."""
    name = features or config.features
    takes_objects = network_class(config.network).takes_objects
    if takes_objects != has_objects(name):
        inputs = "objects only" if takes_objects else "pixels or feature maps, not objects"
        raise UserError(
            f"The network {config.network} takes {inputs}: omit --features, or choose another "
            "network."
        )
    if name != config.features and "pixels" in (name, config.features):
        sizes = {**config.sizes, "first_width": 0}
        # either way 14 x 14 cells: four halvings of 224 pixels, or conv4's own
        if name == "pixels":
            sizes |= {"strided_layers": 4, "plain_layers": 0}
        else:
            published = preset_config(config.network, "paper").sizes.get("plain_layers", 0)
            sizes |= {"strided_layers": 0, "plain_layers": published}
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
    """Return the trainings of a curriculum; the last is the task's.

    Each starts from the weights of the one before. A first task has as many items as the last, and
    its training a folder of its own within.
    """
    plain = replace(config, curriculum=())
    items = source.splits["train"]
    trainings = []
    for task in config.curriculum:
        trainings.append((scene_source(task, items), folder / "curriculum" / task, plain))
    return [*trainings, (source, folder, config)]


def extract_splits(
    source: ItemSource, extractor: FeatureExtractor, progress: StageProgress | None = None
) -> dict[str, ReasonerDataset]:
    """Return every split of the source, with its features."""
    splits = {}
    for split in ("train", "val", *source.tests):
        show = partial(progress, split) if progress else None
        splits[split] = source.load(split, extractor, show)
    return splits


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
    """Train in the folder, or resume there, and test.

    Returns how the training ended, and the accuracy on every test of the source.
    """
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
    tests = {name: splits[name] for name in source.tests}
    return result, accuracies(folder, tests, device)


def accuracies(
    folder: Path, splits: Mapping[str, ReasonerDataset], device: str = "auto"
) -> dict[str, float]:
    """Return the accuracy of a trained reasoner on each split.

    Accuracies are cached beside the reasoner, with the digest of its weights.
    """
    import torch
    from accelerate import Accelerator

    key = {
        "model": file_digest(folder / file for file in checkpoints.FILES),
        "items": {name: len(items) for name, items in splits.items()},
    }
    # a resumed sweep reads them instead of testing again
    path = folder / TEST_RESULTS
    if path.is_file():
        try:
            cached: dict[str, Any] = read_json(path)
            if {name: cached.get(name) for name in key} == key:
                return _check_accuracies(cached["accuracy"], splits)
        except (ValueError, AttributeError, KeyError, TypeError):
            log.warning("%s is damaged: the accuracies are computed again.", path)
    network, config, _ = checkpoints.load(folder)
    network.to(Accelerator(cpu=device == "cpu").device)
    accuracy: dict[str, float] = {}
    for name, items in splits.items():
        with torch.no_grad():
            words = config.vocabulary.encode(items.sentences)
            numbered = items.renumber(config.answers)
            share = validate(network, numbered, words)["accuracy"]
        # a mean of single precision: back to a whole number of right answers
        accuracy[name] = round(share * len(items)) / len(items)
    write_json(path, {**key, "accuracy": accuracy})
    return accuracy


def _check_accuracies(accuracy: Any, splits: Mapping[str, ReasonerDataset]) -> dict[str, float]:
    """Return cached accuracies; those of other splits, or of another type, raise an error."""
    for name in splits:
        is_number = type(accuracy[name]) in (int, float)
        if not is_number or not 0 <= accuracy[name] <= 1:
            raise ValueError(f"{name} is no accuracy")
    return {name: float(accuracy[name]) for name in splits}
