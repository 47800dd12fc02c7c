"""LXMERT with its visual stream removed: language layers, then the language half of the cross-modality layers.

Where a cross-modality layer would attend to objects there are none: the attention's result is zero, and only its output
block (dense, residual, layer norm) runs on it, as Hagström & Johansson 2022 ask LXMERT with text alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.models.base import Model
from seesay.models.encoders.base import BatchEncoder, complete
from seesay.models.hf.loading import load_checkpoint
from seesay.models.options import ModelOptions

if TYPE_CHECKING:
    import torch


def load_lxmert(name: str, source: str | Path, options: ModelOptions) -> Model:
    """The first token after the last cross-modality layer."""
    from transformers import LxmertModel

    unused = ("pooler", "visn", "r_layers")
    checkpoint = complete(name, load_checkpoint(name, source, options, lambda _: LxmertModel), spare=unused)
    return BatchEncoder(
        name, checkpoint, lambda ids: language(checkpoint.model, ids)[:, 0], options, pooling="first-language"
    )


def language(model: Any, ids: torch.Tensor) -> torch.Tensor:
    """The states of the language stream. Nothing visual is an argument, so nothing visual can change them."""
    import torch

    states: torch.Tensor = model.embeddings(ids, torch.zeros_like(ids))
    for layer in model.encoder.layer:
        states = layer(states, None)[0]
    for layer in model.encoder.x_layers:
        states = layer.visual_attention.output(torch.zeros_like(states), states)
        states = layer.lang_self_att(states, None)[0]
        states = layer.lang_output(layer.lang_inter(states), states)
    return states
