"""Sentence encoders (Reimers & Gurevych 2019): the pooling that the folder's sentence-transformers files describe.

The last step of many of them, scaling to unit length, is left out: a cosine does not need it, and a linear layer
learns no less from the length.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.models.encoders.base import BatchEncoder, Encoder, complete
from seesay.models.encoders.text import encoder_class
from seesay.models.loading import Options, open_model
from seesay.questions import UserError

if TYPE_CHECKING:
    import torch

POOLING = {
    "pooling_mode_cls_token": "first",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}


def pooling_of(name: str, source: str | Path, options: Options) -> str | None:
    """How a sentence encoder's states become one vector; None where the model is no sentence encoder."""
    modules = _read(source, "modules.json", options)
    if modules is None:
        return None
    folder = next((m["path"] for m in modules if str(m.get("type", "")).endswith("Pooling")), None)
    settings = _read(source, f"{folder}/config.json", options) if folder else None
    if settings is None:
        return None
    if settings.get("pooling_mode_lasttoken"):
        return None  # a causal model's own way
    chosen = [pooling for key, pooling in POOLING.items() if settings.get(key)]
    others = [
        key for key, on in settings.items() if key.startswith("pooling_mode") and on is True and key not in POOLING
    ]
    if len(chosen) != 1 or others:
        raise UserError(f"'{name}' pools its states in a way seesay does not know ({', '.join(others) or 'several'}).")
    return chosen[0]


def load_sentence(name: str, source: str | Path, options: Options, pooling: str) -> Encoder:
    """The transformer with its pooling."""
    spare = ("pooler", "decoder", "lm_head")
    opened = complete(name, open_model(name, source, options, encoder_class), spare=spare)
    return BatchEncoder(name, opened, pooled(opened.model, pooling), options, pooling=pooling)


def pooled(model: Any, pooling: str) -> Callable[[torch.Tensor], torch.Tensor]:
    """States to one vector. No text is padded, so the mean is over all tokens, special ones too, as published."""

    def vectors(ids: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = model(input_ids=ids)[0]
        if pooling == "first":
            return states[:, 0]
        return states.mean(1) if pooling == "mean" else states.amax(1)

    return vectors


def _read(source: str | Path, file: str, options: Options) -> Any:
    """A JSON file beside the weights, in the folder or on the hub; None where there is none."""
    from transformers.utils.hub import cached_file

    path = Path(source) / file
    if not Path(source).is_dir():
        found = cached_file(
            str(source),
            file,
            revision=options.revision,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=False,
        )
        path = Path(found) if found else path
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, OSError) as error:
        raise UserError(f"'{path}' cannot be read as JSON ({error}).") from error
