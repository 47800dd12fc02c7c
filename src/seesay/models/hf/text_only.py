"""Vision-language networks that are given a text and no picture."""

from __future__ import annotations

from typing import Any

import torch


def vilt_blank(network: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """ViLT requires an image: one patch of zeros, and the mask by which no token attends to it, as
    in the published probe."""
    blank = torch.zeros(
        1, 1, network.config.hidden_size, device=network.device, dtype=network.dtype
    )
    return blank, torch.zeros(1, 1, device=network.device)


def vilt_states(
    vilt: Any, ids: torch.Tensor, picture: tuple[torch.Tensor, torch.Tensor]
) -> torch.Tensor:
    """The states of ViLT's last layer for texts beside one picture, which is given as its patches
    and their mask."""
    patches, mask = picture
    rows = len(ids)
    states: torch.Tensor = vilt(
        input_ids=ids, image_embeds=patches.expand(rows, -1, -1), pixel_mask=mask.expand(rows, -1)
    )[0]
    return states


def lxmert_language(network: Any, ids: torch.Tensor) -> torch.Tensor:
    """The states of LXMERT's language stream: language layers, then the language half of the
    cross-modality layers.

    Where a cross-modality layer would attend to objects there are none: the attention's result is
    zero, and only its output block (dense, residual, layer norm) runs on it, as Hagström &
    Johansson 2022 ask LXMERT with text alone.
    """
    states: torch.Tensor = network.embeddings(ids, torch.zeros_like(ids))
    for layer in network.encoder.layer:
        states = layer(states, None)[0]
    for layer in network.encoder.x_layers:
        # the same block serves both directions of attention, and is called after the visual one
        states = layer.visual_attention.output(torch.zeros_like(states), states)
        states = layer.lang_self_att(states, None)[0]
        states = layer.lang_output(layer.lang_inter(states), states)
    return states
