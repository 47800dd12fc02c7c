"""Reasoners as small as they can be, trained for one epoch through the real code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from seesay.models import load_model
from seesay.models.options import ModelOptions
from seesay.reasoners.dataset import from_scenes
from seesay.reasoners.features.extractor import open_eye
from seesay.reasoners.model import Reasoner
from seesay.reasoners.networks.registry import PRESETS
from seesay.reasoners.train import train
from seesay.scenes.plan import make_plan

SIZES = {"width": 8, "blocks": 2, "embedding": 8, "hidden": 16, "classifier": 16}


def train_one(network: str, task: str, folder: Path) -> Path:
    """Its folder; some eighty items and, but for the objects', pictures of 32 pixels a side."""
    torch.set_num_threads(1)
    preset = PRESETS["cpu"][network]
    recipe = replace(preset, side=32, sizes=SIZES, batch=32, schedule=replace(preset.schedule, epochs=1))
    eye, plan = open_eye(recipe.eye, recipe.side), make_plan(task, 110)
    items, validation = from_scenes(plan, "train", eye), from_scenes(plan, "val", eye)
    train(items, validation, folder, recipe, settings={"task": task}, device="cpu")
    return folder


def load_one(folder: Path) -> Reasoner:
    """The reasoner in it."""
    found = load_model(str(folder), ModelOptions(device="cpu"))
    assert isinstance(found, Reasoner)
    return found
