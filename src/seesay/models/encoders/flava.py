"""FLAVA's text encoder, at its first token: neither picture nor fusion."""

from __future__ import annotations

from pathlib import Path

from seesay.models.base import Model
from seesay.models.encoders.base import BatchEncoder, complete, first_token
from seesay.models.hf.loading import load_checkpoint
from seesay.models.options import ModelOptions


def load_flava(name: str, source: str | Path, options: ModelOptions) -> Model:
    """The text half of the whole model; weights that only pictures need may be absent."""
    from transformers import FlavaModel

    checkpoint = complete(
        name, load_checkpoint(name, source, options, lambda _: FlavaModel), part="text_model", spare=("pooler",)
    )
    return BatchEncoder(name, checkpoint, first_token(checkpoint.model.text_model), options, pooling="first")
