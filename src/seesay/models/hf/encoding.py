"""How networks turn token ids into vectors: by the state at the first token of each text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from seesay.models.hf.layers import layer_states

Reader = Callable[..., torch.Tensor]
"""What a network makes of token ids (texts × tokens), and of the texts' features if it is shown
some: one row for each text."""


def first_token(network: Any) -> Reader:
    """The last layer's state at the first token, as in the published probe (Singh et al. 2023,
    section 4)."""
    return lambda ids: network(input_ids=ids)[0][:, 0]


def first_token_layers(network: Any) -> Reader:
    """The state at the first token, layer by layer."""

    def read(ids: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(len(ids), device=ids.device)
        return torch.stack(
            layer_states(network, {"input_ids": ids}, rows, torch.zeros_like(rows)), dim=1
        )

    return read
