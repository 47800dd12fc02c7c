"""The files of a training: settings, history, weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError
from seesay.files import atomic_write, damage_as_user_error, refuse_other_settings, write_json_lines

if TYPE_CHECKING:
    import torch

SETTINGS = "settings.json"
HISTORY = "history.jsonl"
CHECKPOINT = "checkpoint.safetensors"
BEST = "best.safetensors"
RESULT = "result.json"
OTHER_FOLDER = "give another folder"


def refuse_foreign_model(folder: Path) -> None:
    """Refuse a folder that holds a model not trained by seesay: it would be overwritten."""
    if (folder / "training" / SETTINGS).is_file():
        return
    for name in ("config.json", "tokenizer.json"):
        if (folder / name).exists():
            raise UserError(
                f"{folder} holds another model ({name}) that would be overwritten: give a new "
                "folder."
            )


def check_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write the settings of a new training, or compare them with those of one that was begun.

    A folder whose training was begun with others is refused.
    """
    hint = "give it the same settings, or another folder"
    refuse_other_settings(
        folder / SETTINGS,
        settings,
        what=f"The training in {folder}",
        hint=hint,
    )


def read_history(folder: Path) -> list[dict[str, float]]:
    """Read the lines of a training's history; an incomplete last line is left out."""
    path = folder / HISTORY
    with damaged_training(path):
        complete, _, _ = path.read_text(encoding="utf-8").rpartition("\n")
        lines = [json.loads(line) for line in complete.splitlines()]
        for line in lines:
            numbers = all(isinstance(value, int | float) for value in line.values())
            if not isinstance(line["step"], int) or not numbers:
                raise ValueError("a line holds something other than numbers")
        return lines


def best_line(folder: Path, best_step: int) -> dict[str, float]:
    """Return the line of the history that belongs to the best weights."""
    with damaged_training(folder / HISTORY):
        by_step = {line["step"]: line for line in reversed(read_history(folder))}
        return by_step[best_step]


def cut_history(folder: Path, step: int) -> None:
    """Drop the lines written after the checkpoint: those steps are repeated."""
    if (folder / HISTORY).is_file():
        # without a checkpoint (step 0) the training begins anew, and validates once more
        lines = [line for line in read_history(folder) if line["step"] <= step and step > 0]
        write_json_lines(folder / HISTORY, lines)


def save(path: Path, network: torch.nn.Module, optimizer: Any, position: str) -> None:
    """Save the network (and the optimiser's state) with the position in the training."""
    from safetensors.torch import save as serialise

    tensors = _tensors(network)
    if optimizer is not None:
        for number, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    on_cpu = {name: tensor.contiguous().cpu() for name, tensor in tensors.items()}
    content = serialise(on_cpu, {"position": position})
    with atomic_write(path) as unfinished:
        unfinished.write_bytes(content)


def load(network: torch.nn.Module, optimizer: torch.optim.Optimizer | None, path: Path) -> str:
    """Fill the network (and the optimiser) from a file, and return the position."""
    import torch
    from safetensors import safe_open

    with damaged_training(path), safe_open(path, framework="pt") as file, torch.no_grad():
        for name, tensor in _tensors(network).items():
            stored = file.get_tensor(name)
            # copy_ would broadcast it
            if stored.shape != tensor.shape:
                raise ValueError(f"{name} has another shape")
            tensor.copy_(stored)
        if optimizer is not None:
            state = _optimizer_state(file)
            optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
        return str(file.metadata()["position"])


def _optimizer_state(file: Any) -> dict[int, dict[str, torch.Tensor]]:
    """Return the optimiser's tensors by the number of their weight, and by name.

    Their keys are `optimizer.NUMBER.NAME`.
    """
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key in file.keys():  # noqa: SIM118 - not a dict
        kind, _, address = key.partition(".")
        if kind == "optimizer":
            number, _, name = address.partition(".")
            state.setdefault(int(number), {})[name] = file.get_tensor(key)
    return state


def damaged_training(path: Path) -> AbstractContextManager[None]:
    """Turn whatever keeps a training's file from being read into one sentence."""
    return damage_as_user_error(path, start_again(path))


def start_again(path: Path) -> str:
    """Return what to do about a damaged file of a training."""
    return f"delete {path.parent} and start again"


def _tensors(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return weights and buffers by name, tied ones once."""
    tensors = [*network.named_parameters(), *network.named_buffers()]
    return {f"network.{name}": tensor.detach() for name, tensor in tensors}
