"""ViLT with a blank image, which its architecture requires: one patch of zeros that no token attends to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seesay.models.base import Model
from seesay.models.encoders.base import BatchEncoder, complete
from seesay.models.hf.loading import load_checkpoint
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    import torch


def load_vilt(name: str, source: str | Path, options: ModelOptions) -> Model:
    """The first token; the blank patch is masked, as in the published probe, so that only the text counts."""
    import torch
    from transformers import ViltModel

    checkpoint = complete(name, load_checkpoint(name, source, options, lambda _: ViltModel), spare=("pooler",))
    model = checkpoint.model

    def vectors(ids: torch.Tensor) -> torch.Tensor:
        blank = torch.zeros(len(ids), 1, model.config.hidden_size, device=ids.device, dtype=model.dtype)
        unseen = torch.zeros(len(ids), 1, device=ids.device)
        states: torch.Tensor = model(input_ids=ids, image_embeds=blank, pixel_mask=unseen)[0]
        return states[:, 0]

    return BatchEncoder(name, checkpoint, vectors, options, pooling="first-blank")
