"""VisualBERT without visual input: its first token."""

from __future__ import annotations

from pathlib import Path

from seesay.models.encoders.base import BatchEncoder, Encoder, complete, first_token
from seesay.models.hf.loading import Options, open_model


def load_visual_bert(name: str, source: str | Path, options: Options) -> Encoder:
    """The model, whose visual embeddings are then simply absent."""
    from transformers import VisualBertModel

    opened = complete(name, open_model(name, source, options, lambda _: VisualBertModel), spare=("pooler",))
    return BatchEncoder(name, opened, first_token(opened.model), options, pooling="first")
