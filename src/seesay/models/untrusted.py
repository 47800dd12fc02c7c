"""What a model's folder may not say: files outside of it, pickles where none were allowed, code of
others, and networks that no machine holds. It is checked before torch or transformers read
anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError

if TYPE_CHECKING:
    import torch

INDEXES = {"model.safetensors.index.json": ".safetensors", "pytorch_model.bin.index.json": ".bin"}
CONFIGS = (
    "config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "processor_config.json",
)
LARGEST_JSON = 1 << 26
DEEPEST = 50
MOST_LAYERS = 2000
LARGEST_SIZE = 1 << 24


def check_folder(name: str, folder: Path) -> None:
    """Refuse a model's folder with one sentence, or say nothing."""
    for file in CONFIGS:
        check_config(name, _read(name, folder / file), file)
    for file, ending in INDEXES.items():
        index = _read(name, folder / file)
        weights = index.get("weight_map", {}) if isinstance(index, dict) else None
        # transformers opens whatever files the index names
        if not isinstance(weights, dict):
            raise UserError(
                f"The model in '{name}' could not be read: {file} is not an index of weights."
            )
        for shard in set(map(str, weights.values())):
            if PurePosixPath(shard).name != shard or "\\" in shard or not shard.endswith(ending):
                raise UserError(
                    f"'{name}' keeps weights in '{shard[:80]}' ({file}): only {ending} files "
                    "beside the index are read."
                )


def check_config(name: str, document: Any, file: str) -> None:
    """Refuse a configuration that names code of others, or a network that no machine holds."""
    for key, value in _entries(document, name, file):
        # transformers fetches a kernel that is named like a repository, and runs it
        is_kernel = "attn_implementation" in key and isinstance(value, str)
        if is_kernel and ("/" in value or ":" in value):
            raise UserError(
                f"'{name}' asks for the attention kernel '{value[:80]}' of the hub, which is code "
                f"of others: delete {key} from its {file}."
            )
        if type(value) is int and value > _limit(key):
            raise UserError(
                f"'{name}' describes a network with {key} above {_limit(key):,} in its {file}."
            )


def refuse_other_sizes(
    build: Callable[[], torch.nn.Module],
    weights: Mapping[str, torch.Tensor],
    sizes: Mapping[str, Any],
) -> None:
    """ValueError if a network of these sizes does not have the shapes of the weights; it takes no
    memory to know."""
    import torch

    for key, value in sizes.items():
        limit = MOST_LAYERS if key.endswith(("layers", "blocks")) else LARGEST_SIZE
        if type(value) is int and value > limit:
            raise ValueError(f"{key} is too large")
    # tensors on the device `meta` have a shape and no memory
    with torch.device("meta"):
        expected = {name: tensor.shape for name, tensor in build().state_dict().items()}
    if expected != {name: tensor.shape for name, tensor in weights.items()}:
        raise ValueError("the weights have other shapes than config.json says")


def _limit(key: str) -> float:
    if "layers" in key or key in ("n_layer", "depth"):
        return MOST_LAYERS
    if key.endswith(("_size", "_dim", "n_embd")):
        return LARGEST_SIZE
    return float("inf")


def _read(name: str, path: Path) -> Any:
    """A JSON file of the folder; {} where there is none. Nan and infinity may stand in it."""
    if not path.is_file():
        return {}
    if path.stat().st_size > LARGEST_JSON:
        raise UserError(
            f"The model in '{name}' could not be read: {path.name} is larger than "
            f"{LARGEST_JSON >> 20} MB."
        )
    try:
        return json.loads(path.read_bytes())
    except RecursionError:
        raise UserError(
            f"The model in '{name}' could not be read: {path.name} is nested too deep."
        ) from None
    except ValueError as error:
        reason = f"a file may be damaged or half-downloaded): {path.name} is not JSON ({error}"
        raise UserError(f"The model in '{name}' could not be read ({reason}).") from error


def _entries(document: Any, name: str, file: str) -> Iterator[tuple[str, Any]]:
    """Every key of a document and of what is nested in it, with its value."""
    # level by level, since recursion ends where Python's stack does
    level = [document]
    depth = 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise UserError(f"The model in '{name}' could not be read: {file} is nested too deep.")
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                yield from value.items()
                below += value.values()
            elif isinstance(value, list):
                below += [entry for entry in value if isinstance(entry, dict | list)]
        level = below
