"""ViLT with a blank image, which its architecture demands: one patch of zeros that no token may look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seesay.models.base import Model
from seesay.models.encoders.base import BatchEncoder, complete
from seesay.models.hf.loading import open_model
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    import torch


def load_vilt(name: str, source: str | Path, options: ModelOptions) -> Model:
    """The first token; the blank patch is masked, as in the published probe, so the text stands alone."""
    import torch
    from transformers import ViltModel

    opened = complete(name, open_model(name, source, options, lambda _: ViltModel), spare=("pooler",))
    model = opened.model

    def vectors(ids: torch.Tensor) -> torch.Tensor:
        blank = torch.zeros(len(ids), 1, model.config.hidden_size, device=ids.device, dtype=model.dtype)
        unseen = torch.zeros(len(ids), 1, device=ids.device)
        states: torch.Tensor = model(input_ids=ids, image_embeds=blank, pixel_mask=unseen)[0]
        return states[:, 0]

    return BatchEncoder(name, opened, vectors, options, pooling="first-blank")
