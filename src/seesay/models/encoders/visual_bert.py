"""VisualBERT without visual input: its first token."""

from __future__ import annotations

from pathlib import Path

from seesay.models.base import Model
from seesay.models.encoders.base import BatchEncoder, complete, first_token
from seesay.models.hf.loading import load_checkpoint
from seesay.models.options import ModelOptions


def load_visual_bert(name: str, source: str | Path, options: ModelOptions) -> Model:
    """The model, whose visual embeddings are then simply absent."""
    from transformers import VisualBertModel

    checkpoint = complete(name, load_checkpoint(name, source, options, lambda _: VisualBertModel), spare=("pooler",))
    return BatchEncoder(name, checkpoint, first_token(checkpoint.model), options, pooling="first")
