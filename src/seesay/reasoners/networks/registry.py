"""The networks by name, and how each is made and trained: `paper` as published, `cpu` for two cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError
from seesay.training.loop import Schedule

if TYPE_CHECKING:
    from torch import nn

    from seesay.reasoners.config import Shape

NAMES = {
    "cnn-lstm": "CNN+LSTM",
    "stacked-attention": "CNN+LSTM+SA",
    "film": "FiLM",
    "object-centred": "object-centred",
}
"""Networks as users call them and as the paper does."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A network, what it looks with, its sizes, and its training. `turns`: pictures are turned and mirrored at random,
    which changes no size and so no answer; features cannot be."""

    network: str
    eye: str
    side: int
    schedule: Schedule
    batch: int = 64
    turns: bool = False
    sizes: dict[str, Any] = field(default_factory=dict)


_PAPER = Schedule(epochs=40, learning_rate=3e-4, best_by="accuracy", highest=True)
_CPU = Schedule(epochs=12, learning_rate=4e-4, warmup=0.05, decay="cosine", best_by="accuracy", highest=True)
_OBJECTS = Recipe(
    "object-centred",
    "objects",
    192,
    replace(_CPU, learning_rate=6e-3, epochs=20),
    sizes={"width": 16, "hidden": 64, "embedding": 8},
)

PRESETS: dict[str, dict[str, Recipe]] = {
    "paper": {
        "cnn-lstm": Recipe(
            "cnn-lstm", "resnet101", 224, _PAPER,
            sizes={"width": 128, "halvings": 1, "embedding": 300, "hidden": 256, "classifier": 1024},
        ),
        "stacked-attention": Recipe(
            "stacked-attention", "resnet101", 224, _PAPER,
            sizes={"width": 512, "halvings": 0, "levels": 1, "embedding": 300, "hidden": 512, "classifier": 1024},
        ),
        "film": Recipe(
            "film", "resnet101", 224, _PAPER,
            sizes={"width": 128, "halvings": 0, "levels": 1, "embedding": 200, "hidden": 4096, "classifier": 1024},
        ),
        "object-centred": _OBJECTS,
    },
    "cpu": {
        "cnn-lstm": Recipe("cnn-lstm", "pixels", 64, _CPU, batch=32, turns=True, sizes={"levels": 1}),
        "stacked-attention": Recipe("stacked-attention", "pixels", 64, _CPU, batch=32, turns=True, sizes={"levels": 1}),
        "film": Recipe("film", "pixels", 64, _CPU, batch=32, turns=True),
        "object-centred": _OBJECTS,
    },
}  # fmt: skip


def recipe(network: str, preset: str = "auto") -> Recipe:
    """The preset of a network; `auto` is the published one where there is a GPU to run it on."""
    if network not in NAMES:
        raise UserError(f"No network '{network}': choose {', '.join(NAMES)}.")
    if preset == "auto":
        import torch

        preset = "paper" if torch.accelerator.is_available() else "cpu"
    if preset not in PRESETS:
        raise UserError(f"--preset is '{preset}': choose {', '.join(PRESETS)} or auto.")
    return PRESETS[preset][network]


def build(network: str, shape: Shape) -> nn.Module:
    """The network with random weights."""
    from seesay.reasoners.networks.cnn_lstm import CnnLstm
    from seesay.reasoners.networks.film import Film
    from seesay.reasoners.networks.object_centred import ObjectCentred
    from seesay.reasoners.networks.stacked_attention import StackedAttention

    kinds: dict[str, Callable[[Shape], nn.Module]] = {
        "cnn-lstm": CnnLstm, "stacked-attention": StackedAttention, "film": Film, "object-centred": ObjectCentred,
    }  # fmt: skip
    return kinds[network](shape)
