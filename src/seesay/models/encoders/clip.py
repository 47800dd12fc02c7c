"""The text towers of CLIP and SigLIP: the pooled feature, before the projection into the space of pictures."""

from __future__ import annotations

from pathlib import Path

from seesay.models.base import Model
from seesay.models.encoders.base import BatchEncoder, complete
from seesay.models.hf.loading import load_checkpoint
from seesay.models.options import ModelOptions


def load_clip(name: str, source: str | Path, options: ModelOptions) -> Model:
    """CLIP: the state at the end-of-text token after the last layer norm (Radford et al. 2021, section 2.4)."""
    from transformers import CLIPTextModel

    checkpoint = complete(name, load_checkpoint(name, source, options, lambda _: CLIPTextModel))
    return BatchEncoder(
        name, checkpoint, lambda ids: checkpoint.model(input_ids=ids).pooler_output, options, pooling="end-of-text"
    )


def load_siglip(name: str, source: str | Path, options: ModelOptions) -> Model:
    """SigLIP: its head on the last position. Every text is padded to the full length, as in its training."""
    from transformers import SiglipTextModel

    checkpoint = complete(name, load_checkpoint(name, source, options, lambda _: SiglipTextModel))
    return BatchEncoder(
        name,
        checkpoint,
        lambda ids: checkpoint.model(input_ids=ids).pooler_output,
        options,
        pooling="last-position",
        padded_to=int(checkpoint.model.config.max_position_embeddings),
    )
