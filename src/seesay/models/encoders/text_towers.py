"""The text halves of vision-language models, read without any picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers

from seesay.models.encoders.base import BatchEncoder, complete, first_token
from seesay.models.hf.loading import load_checkpoint
from seesay.models.options import ModelOptions


def load_clip(name: str, source: str | Path, options: ModelOptions) -> BatchEncoder:
    """CLIP's state at the end-of-text token after the last layer norm (Radford et al. 2021, section 2.4): before the
    projection into the space of pictures."""
    checkpoint = complete(name, load_checkpoint(name, source, options, lambda _: transformers.CLIPTextModel))
    return BatchEncoder(
        name, checkpoint, lambda ids: checkpoint.model(input_ids=ids).pooler_output, options, pooling="end-of-text"
    )


def load_siglip(name: str, source: str | Path, options: ModelOptions) -> BatchEncoder:
    """SigLIP's head on the last position. Every text is padded to the full length, as in its training."""
    checkpoint = complete(name, load_checkpoint(name, source, options, lambda _: transformers.SiglipTextModel))
    return BatchEncoder(
        name,
        checkpoint,
        lambda ids: checkpoint.model(input_ids=ids).pooler_output,
        options,
        pooling="last-position",
        padded_to=int(checkpoint.model.config.max_position_embeddings),
    )


def load_flava(name: str, source: str | Path, options: ModelOptions) -> BatchEncoder:
    """FLAVA's text encoder at its first token; weights that only pictures need may be missing."""
    checkpoint = load_checkpoint(name, source, options, lambda _: transformers.FlavaModel)
    complete(name, checkpoint, part="text_model", spare=("pooler",))
    return BatchEncoder(name, checkpoint, first_token(checkpoint.model.text_model), options, pooling="first")


def load_visual_bert(name: str, source: str | Path, options: ModelOptions) -> BatchEncoder:
    """VisualBERT's first token; visual embeddings are simply absent."""
    checkpoint = load_checkpoint(name, source, options, lambda _: transformers.VisualBertModel)
    complete(name, checkpoint, spare=("pooler",))
    return BatchEncoder(name, checkpoint, first_token(checkpoint.model), options, pooling="first")


def load_vilt(name: str, source: str | Path, options: ModelOptions) -> BatchEncoder:
    """ViLT's first token. Its architecture requires an image: one patch of zeros that no token attends to, as in the
    published probe."""
    checkpoint = load_checkpoint(name, source, options, lambda _: transformers.ViltModel)
    network = complete(name, checkpoint, spare=("pooler",)).model

    def vectors(ids: torch.Tensor) -> torch.Tensor:
        blank = torch.zeros(len(ids), 1, network.config.hidden_size, device=ids.device, dtype=network.dtype)
        masked = torch.zeros(len(ids), 1, device=ids.device)
        states: torch.Tensor = network(input_ids=ids, image_embeds=blank, pixel_mask=masked)[0]
        return states[:, 0]

    return BatchEncoder(name, checkpoint, vectors, options, pooling="first-blank")


def load_lxmert(name: str, source: str | Path, options: ModelOptions) -> BatchEncoder:
    """LXMERT's first token after the last cross-modality layer, with its visual stream removed."""
    checkpoint = load_checkpoint(name, source, options, lambda _: transformers.LxmertModel)
    complete(name, checkpoint, spare=("pooler", "visn", "r_layers"))
    return BatchEncoder(
        name, checkpoint, lambda ids: lxmert_language(checkpoint.model, ids)[:, 0], options, pooling="first-language"
    )


def lxmert_language(network: Any, ids: torch.Tensor) -> torch.Tensor:
    """The states of LXMERT's language stream: language layers, then the language half of the cross-modality layers.

    Where a cross-modality layer would attend to objects there are none: the attention's result is zero, and only its
    output block (dense, residual, layer norm) runs on it, as Hagström & Johansson 2022 ask LXMERT with text alone.
    """
    states: torch.Tensor = network.embeddings(ids, torch.zeros_like(ids))
    for layer in network.encoder.layer:
        states = layer(states, None)[0]
    for layer in network.encoder.x_layers:
        states = layer.visual_attention.output(torch.zeros_like(states), states)
        states = layer.lang_self_att(states, None)[0]
        states = layer.lang_output(layer.lang_inter(states), states)
    return states
