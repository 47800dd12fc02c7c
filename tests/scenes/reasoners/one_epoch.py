"""Reasoners as small as they can be, trained for one epoch through the real code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from seesay.models import load_model
from seesay.models.options import ModelOptions
from seesay.scenes.plan import make_plan
from seesay.scenes.reasoners.config import PRESETS
from seesay.scenes.reasoners.dataset import from_scenes
from seesay.scenes.reasoners.features.extractor import open_extractor
from seesay.scenes.reasoners.model import Reasoner
from seesay.scenes.reasoners.train import train

SIZES = {"width": 8, "blocks": 2, "embedding": 8, "hidden": 16, "projection": 16, "classifier": 16}


def train_one(network: str, task: str, folder: Path) -> Path:
    """Its folder; about eighty items and, but for the objects', pictures of 32 pixels a side."""
    torch.set_num_threads(1)
    preset = PRESETS["cpu"][network]
    config = replace(
        preset,
        image_size=32,
        sizes=SIZES,
        batch_size=32,
        schedule=replace(preset.schedule, epochs=1),
    )
    extractor, plan = open_extractor(config.features, config.image_size), make_plan(task, 110)
    items, validation = from_scenes(plan, "train", extractor), from_scenes(plan, "val", extractor)
    train(items, validation, folder, config, settings={"task": task}, device="cpu")
    return folder


def load_one(folder: Path) -> Reasoner:
    """The reasoner in it."""
    reasoner = load_model(str(folder), ModelOptions(device="cpu"))
    assert isinstance(reasoner, Reasoner)
    return reasoner
