"""What a model's folder may not say: files outside of it, pickles where none were allowed, code of others, and
networks that no machine holds. It is checked before torch or transformers read anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from seesay.errors import UserError

INDEXES = {"model.safetensors.index.json": ".safetensors", "pytorch_model.bin.index.json": ".bin"}
CONFIGS = ("config.json", "generation_config.json", "preprocessor_config.json", "processor_config.json")
LARGEST_JSON = 1 << 26
DEEPEST = 50
MOST_LAYERS = 2000
LARGEST_SIZE = 1 << 24


def check_folder(name: str, folder: Path) -> None:
    """Refuse a model's folder with one sentence, or say nothing."""
    for file in CONFIGS:
        for key, value in _entries(_read(name, folder / file), name, file):
            if "attn_implementation" in key and isinstance(value, str) and ("/" in value or ":" in value):
                raise UserError(
                    f"'{name}' asks for the attention kernel '{value[:80]}' of the hub, which is code of others: "
                    f"delete {key} from its {file}."
                )
            if type(value) is int and value > _limit(key):
                raise UserError(f"'{name}' describes a network with {key} above {_limit(key):,} in its {file}.")
    for file, ending in INDEXES.items():
        index = _read(name, folder / file)
        weights = index.get("weight_map", {}) if isinstance(index, dict) else None
        if not isinstance(weights, dict):
            raise UserError(f"The model in '{name}' could not be read: {file} is not an index of weights.")
        for shard in set(map(str, weights.values())):
            if PurePosixPath(shard).name != shard or "\\" in shard or not shard.endswith(ending):
                raise UserError(
                    f"'{name}' keeps weights in '{shard[:80]}' ({file}): only {ending} files beside the index are read."
                )


def _limit(key: str) -> float:
    if "layers" in key or key in ("n_layer", "depth"):
        return MOST_LAYERS
    return LARGEST_SIZE if key.endswith(("_size", "_dim", "n_embd")) else float("inf")


def _read(name: str, path: Path) -> Any:
    """A JSON file of the folder; {} where there is none. Nan and infinity may stand in it."""
    if not path.is_file():
        return {}
    if path.stat().st_size > LARGEST_JSON:
        raise UserError(f"The model in '{name}' could not be read: {path.name} is larger than {LARGEST_JSON >> 20} MB.")
    try:
        return json.loads(path.read_bytes())
    except RecursionError:
        raise UserError(f"The model in '{name}' could not be read: {path.name} is nested too deep.") from None
    except ValueError as error:
        reason = f"a file may be damaged or half-downloaded): {path.name} is not JSON ({error}"
        raise UserError(f"The model in '{name}' could not be read ({reason}).") from error


def _entries(document: Any, name: str, file: str) -> Iterator[tuple[str, Any]]:
    """Every key of a document and of what is nested in it, with its value."""
    level, depth = [document], 0
    while level:
        if (depth := depth + 1) > DEEPEST:
            raise UserError(f"The model in '{name}' could not be read: {file} is nested too deep.")
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                yield from value.items()
                below += value.values()
            elif isinstance(value, list):
                below += [each for each in value if isinstance(each, dict | list)]
        level = below
