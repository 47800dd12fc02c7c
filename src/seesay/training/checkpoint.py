"""What a training keeps in its folder: settings, history, weights. Each file is written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock

from seesay.errors import UserError

if TYPE_CHECKING:
    import torch

SETTINGS = "settings.json"
HISTORY = "history.jsonl"
CHECKPOINT = "checkpoint.safetensors"
BEST = "best.safetensors"
RESULT = "result.json"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder against other processes; within this one it may be held twice."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / ".lock", is_singleton=True)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise UserError(f"Another process is training in {folder}: wait for it, or take another folder.") from None
    try:
        yield
    finally:
        lock.release()


def not_anothers(folder: Path) -> None:
    """Refuse a folder with a model in it that no training of ours made: it would be overwritten."""
    if (folder / "training" / SETTINGS).is_file():
        return
    for name in ("config.json", "tokenizer.json"):
        if (folder / name).exists():
            raise UserError(f"{folder} holds another model ({name}) that would be overwritten: give a new folder.")


def same_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write down what shapes a training before it begins; one that was begun with other settings is refused."""
    path = folder / SETTINGS
    wanted = json.loads(json.dumps(settings))
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(wanted, indent=2).encode())
        return
    begun: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    changed = [name for name in {**begun, **wanted} if begun.get(name) != wanted.get(name)]
    if changed:
        first = changed[0]
        raise UserError(
            f"The training in {folder} was begun with {first} {begun.get(first)}, not {wanted.get(first)}"
            f"{f' (and {len(changed) - 1} more changes)' if len(changed) > 1 else ''}: "
            "give it the same settings, or another folder."
        )


def read_history(folder: Path) -> list[dict[str, float]]:
    """The lines of a training's history; one that is being written, or was when the machine stopped, is none yet."""
    return _history(folder / HISTORY)


def cut_history(path: Path, step: int) -> None:
    """Drop what was written after the checkpoint: those steps are taken again."""
    if not path.is_file():
        return
    kept = [line for line in _history(path) if line["step"] <= step and step > 0]
    write_whole(path, "".join(f"{json.dumps(line)}\n" for line in kept).encode())


def save(path: Path, network: torch.nn.Module, optimizer: Any, position: str) -> None:
    """Keep the network (and the optimiser's state) with a word on the position."""
    from safetensors.torch import save as serialised

    tensors = _tensors(network)
    for number, kept in (optimizer.state_dict()["state"] if optimizer is not None else {}).items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in kept.items()}
    write_whole(path, serialised({name: t.contiguous().cpu() for name, t in tensors.items()}, {"position": position}))


def load(network: torch.nn.Module, optimizer: torch.optim.Optimizer | None, path: Path) -> str:
    """Fill the network (and the optimiser) from a file; what it says of the position."""
    import torch
    from safetensors import safe_open

    try:
        with safe_open(path, framework="pt") as file, torch.no_grad():
            for name, tensor in _tensors(network).items():
                tensor.copy_(file.get_tensor(name))
            if optimizer is not None:
                state: dict[int, dict[str, torch.Tensor]] = {}
                for key in file.keys():  # noqa: SIM118 - not a dict
                    kind, _, rest = key.partition(".")
                    if kind == "optimizer":
                        number, _, name = rest.partition(".")
                        state.setdefault(int(number), {})[name] = file.get_tensor(key)
                optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
            return str(file.metadata()["position"])
    except FileNotFoundError:
        raise
    except Exception as error:  # safetensors has errors of its own
        raise UserError(f"{path} is damaged ({error}): delete {path.parent} and begin again.") from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old one or the new one."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _history(path: Path) -> list[dict[str, float]]:
    whole, _, _ = path.read_text(encoding="utf-8").rpartition("\n")
    try:
        return [json.loads(line) for line in whole.splitlines()]
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}): delete {path.parent} and begin again.") from error


def _tensors(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Weights and buffers, tied ones once."""
    named = [*network.named_parameters(), *network.named_buffers()]
    return {f"network.{name}": tensor.detach() for name, tensor in named}
