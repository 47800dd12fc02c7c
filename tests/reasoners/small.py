"""Small networks, items and trainings for the tests of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from seesay.reasoners.checkpoints import save
from seesay.reasoners.config import Shape
from seesay.reasoners.dataset import Items, from_scenes
from seesay.reasoners.features.extractor import Eye, open_eye
from seesay.reasoners.networks.registry import PRESETS, Recipe, build
from seesay.reasoners.vocabulary import Words
from seesay.scenes.plan import make_plan
from seesay.training.loop import Schedule

SENTENCES = (
    "The red square is a big square",
    "The blue circle is the smallest",
    "The white triangle is a small object",
)
SIZES: dict[str, Any] = {"width": 8, "blocks": 2, "embedding": 8, "hidden": 16, "classifier": 16}
SIDE = 32
PICTURED = ("cnn-lstm", "stacked-attention", "film")
ALL = (*PICTURED, "object-centred")


def eye_of(network: str, side: int = SIDE) -> Eye:
    return open_eye(PRESETS["cpu"][network].eye, side)


def recipe(
    network: str, *, batch: int = 16, turns: bool = False, sizes: dict[str, Any] | None = None, **schedule: Any
) -> Recipe:
    """A recipe as small as its test can bear."""
    given = {"epochs": 2, "learning_rate": 3e-3, "best_by": "accuracy", "highest": True, **schedule}
    eye = eye_of(network)
    return Recipe(network, eye.name, eye.side, Schedule(**given), batch, turns, SIZES if sizes is None else sizes)


def random_network(network: str, look: tuple[int, ...] | None = None, **changed: Any) -> tuple[torch.nn.Module, Shape]:
    """Seeded, in evaluation mode; batch norms as if something had been seen."""
    shape = Shape(Words.of(SENTENCES), ("no", "yes"), look or eye_of(network).look_of, **{**SIZES, **changed})
    torch.manual_seed(0)
    made = build(network, shape)
    for part in made.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            assert part.running_mean is not None
            assert part.running_var is not None
            torch.nn.init.normal_(part.running_mean)
            torch.nn.init.uniform_(part.running_var, 0.5, 2.0)
    return made.eval(), shape


def scenes(network: str, task: str = "pos", total: int = 80, split: str = "train") -> Items:
    """Items that a network of this kind looks at."""
    return from_scenes(make_plan(task, total), split, eye_of(network))


def looks(network: str, count: int = 6) -> torch.Tensor:
    """What the network would see of some real scenes."""
    return torch.from_numpy(np.array(scenes(network).looks[:count]))


def saved(network: str, folder: Path) -> tuple[torch.nn.Module, Shape]:
    """A random network in a folder."""
    made, shape = random_network(network)
    folder.mkdir(exist_ok=True)
    save(folder, made, recipe(network), shape, eye_of(network).fingerprint)
    return made, shape
