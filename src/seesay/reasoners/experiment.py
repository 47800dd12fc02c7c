"""A training from its items to its test figures: what `seesay reasoner train` does, and a sweep many times."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.models.hf.loading import file_digest
from seesay.reasoners import checkpoints
from seesay.reasoners.dataset import Items
from seesay.reasoners.features.extractor import Eye, open_eye
from seesay.reasoners.networks.registry import Recipe
from seesay.reasoners.sources import Source, tests
from seesay.reasoners.train import measured, train
from seesay.training import loop
from seesay.training.checkpoint import write_whole

TESTED = "test.json"

Looking = Callable[[str, int, int], None]
"""Told, while pictures are made and looked at: the split, how many are done, of how many."""


def look_with(recipe: Recipe, eye: str | None = None, side: int | None = None) -> tuple[Recipe, Eye]:
    """The recipe with another eye, or pictures of another size, and the eye itself opened."""
    name = eye or recipe.eye
    if (recipe.network == "object-centred") != (name == "objects"):
        looks = "objects alone" if recipe.network == "object-centred" else "pixels or features, not objects"
        raise UserError(f"The network {recipe.network} looks with {looks}: leave --eye out, or choose another network.")
    sizes, preset_side, turns = recipe.sizes, recipe.side, recipe.turns
    if name != recipe.eye and "pixels" in (name, recipe.eye):  # from the one to the other: still 14 x 14 cells
        sizes = {**sizes, **({"halvings": 4, "levels": 0} if name == "pixels" else {"halvings": 0, "levels": 1})}
        preset_side, turns = 224, False
    opened = open_eye(name, side or preset_side)
    if side is not None and opened.side != side:
        raise UserError(f"--side is {side}: the eye '{name}' takes pictures of {opened.side} pixels a side.")
    return replace(recipe, eye=name, side=opened.side, sizes=sizes, turns=turns), opened


def changed(recipe: Recipe, *, batch: int | None = None, sizes: dict[str, Any], **schedule: Any) -> Recipe:
    """The recipe with what is given and not None: its batch, sizes of its layers, its schedule."""
    return replace(
        recipe,
        batch=batch or recipe.batch,
        sizes={**recipe.sizes, **{name: value for name, value in sizes.items() if value is not None}},
        schedule=recipe.schedule.changed(**schedule),
    )


def look(source: Source, eye: Eye, looking: Looking | None = None) -> dict[str, Items]:
    """Every split of the source."""
    return {
        split: source.items(split, eye, partial(looking, split) if looking else None)
        for split in ("train", "val", *tests(source))
    }


def learn(
    source: Source,
    sets: Mapping[str, Items],
    folder: Path,
    recipe: Recipe,
    *,
    start: Path | None = None,
    device: str = "auto",
    progress: Callable[[loop.Progress], None] | None = None,
) -> tuple[loop.Result, dict[str, float]]:
    """Train in the folder, or go on there, and test: how it ended, and the accuracy on every test of the source."""
    result = train(
        sets["train"], sets["val"], folder, recipe,
        settings=source.settings, start=start, device=device, progress=progress,
    )  # fmt: skip
    return result, accuracies(folder, {name: sets[name] for name in tests(source)}, device)


def accuracies(folder: Path, sets: Mapping[str, Items], device: str = "auto") -> dict[str, float]:
    """The accuracy of a trained reasoner on each of these, kept beside it with the weights' digest."""
    import torch
    from accelerate import Accelerator

    asked = {
        "model": file_digest(folder / file for file in checkpoints.FILES),
        "items": {n: len(i) for n, i in sets.items()},
    }
    path = folder / TESTED
    if path.is_file():
        known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if {name: known.get(name) for name in asked} == asked:
            return dict(known["accuracy"])
    network, shape, _ = checkpoints.load(folder)
    network.to(Accelerator(cpu=device == "cpu").device)
    found: dict[str, float] = {}
    for name, items in sets.items():
        with torch.no_grad():
            share = measured(network, items, shape.words.encode(items.sentences))["accuracy"]
        found[name] = round(share * len(items)) / len(items)  # a mean of single precision
    write_whole(path, (json.dumps({**asked, "accuracy": found}, indent=2) + "\n").encode())
    return found
