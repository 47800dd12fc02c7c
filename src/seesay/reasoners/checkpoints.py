"""A trained reasoner in a folder: `config.json` and `model.safetensors`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError
from seesay.models.hf.loading import require_models
from seesay.reasoners.config import Shape
from seesay.reasoners.networks.registry import NAMES, Recipe, build
from seesay.reasoners.vocabulary import SPECIAL, Words
from seesay.training.checkpoint import write_whole

if TYPE_CHECKING:
    from torch import nn

MODEL_TYPE = "seesay-reasoner"
FILES = ("config.json", "model.safetensors")


def save(folder: Path, network: nn.Module, recipe: Recipe, shape: Shape, looked_with: str) -> None:
    """Write the folder that `load` reads; the configuration last, so that half a model is none.

    `looked_with` is the fingerprint of the eye: with other weights in it, the network would see what it never learnt.
    """
    from safetensors.torch import save

    weights = {name: value.cpu().contiguous() for name, value in network.state_dict().items()}
    write_whole(folder / "model.safetensors", save(weights))
    said = {**asdict(shape), "words": shape.words.words}
    config = {
        "model_type": MODEL_TYPE, "network": recipe.network, "eye": recipe.eye, "side": recipe.side,
        "looked_with": looked_with, "shape": said,
    }  # fmt: skip
    write_whole(folder / "config.json", (json.dumps(config, indent=2) + "\n").encode())


def load(folder: Path) -> tuple[nn.Module, Shape, dict[str, Any]]:
    """The network, its shape, and the rest of the configuration."""
    require_models()
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        missing = {"network", "eye", "side", "looked_with", "shape"} - set(config)
        if missing:
            raise ValueError(f"config.json has no {min(missing)}")
        if config["network"] not in NAMES:
            raise ValueError(f"there is no network '{config['network']}'")
        said: dict[str, Any] = config["shape"]
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in said.items()
        }
        shape = Shape(**{**plain, "words": Words(plain["words"])})
        network = build(config["network"], shape)
        network.load_state_dict(load_file(folder / "model.safetensors"))
    except (OSError, AttributeError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(
            f"The reasoner in '{folder}' could not be read (a file may be missing or damaged): {reason}"
        ) from error
    return network.eval(), shape, config


def take_over(network: nn.Module, shape: Shape, folder: Path) -> None:
    """Begin with the weights of a trained reasoner. Words that it lacks keep the vectors they have."""
    import torch

    other, known, config = load(folder)
    shared = [word for word in shape.words.words if word in known.words.numbers]
    here = [*range(len(SPECIAL)), *(shape.words.numbers[word] for word in shared)]
    there = [*range(len(SPECIAL)), *(known.words.numbers[word] for word in shared)]
    weights, mine = other.state_dict(), network.state_dict()
    try:
        for name, part in network.named_modules():
            if isinstance(part, torch.nn.Embedding):
                vectors = mine[f"{name}.weight"].clone()
                vectors[here] = weights[f"{name}.weight"][there]
                weights[f"{name}.weight"] = vectors
        network.load_state_dict(weights)
    except (KeyError, RuntimeError) as error:
        raise UserError(
            f"The reasoner in '{folder}' ({config['network']}) has other layers: begin with one of the same network, "
            "preset and eye."
        ) from error
