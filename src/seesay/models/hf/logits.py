"""Logits at the positions that are needed, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MANY = 32
"""From this many tokens on, one sort of the vocabulary is faster than comparing it with each."""


def logits_at(
    model: PreTrainedModel, inputs: dict[str, Any], rows: torch.Tensor, columns: torch.Tensor
) -> torch.Tensor:
    """The vocabulary's logits at (row, column) of the batch, one row per position.

    The output layer is most of a small model's work, so the hidden states are cut to these
    positions before they reach it. Where an architecture does not call that layer as a module, the
    cut is made afterwards.
    """

    def cut(_module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        if args[0].dim() == 3:
            return (args[0][rows, columns], *args[1:])
        return args

    head = model.get_output_embeddings()
    handle = head.register_forward_pre_hook(cut) if head is not None else None
    try:
        logits: torch.Tensor = model(**inputs).logits
    finally:
        if handle is not None:
            handle.remove()
    return (logits[rows, columns] if logits.dim() == 3 else logits).float()


def ranks(logits: torch.Tensor, chosen: torch.Tensor) -> list[int]:
    """How many entries of the vocabulary score at least as high as each chosen one (1 is the
    top)."""
    if len(chosen) < MANY:
        return [int((logits >= logits[token]).sum()) for token in chosen]
    rising = logits.sort().values
    below: list[int] = torch.searchsorted(rising, logits[chosen].contiguous()).tolist()
    entries = len(logits)
    return [entries - count for count in below]
