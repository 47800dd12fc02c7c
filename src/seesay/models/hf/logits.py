"""Logits at the positions that are needed, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MANY = 32
"""From this many tokens on, one sort of the vocabulary is faster than comparing it with each."""

CACHED_ROWS = 16
"""So many rows of a usual vocabulary are a few megabytes."""


def logits_at(
    model: PreTrainedModel,
    inputs: dict[str, Any],
    rows: torch.Tensor,
    columns: torch.Tensor,
) -> torch.Tensor:
    """The vocabulary's logits at (row, column) of the batch, one row per position.

    The output layer is most of a small model's work, so the hidden states are cut to these
    positions before they reach it. Where an architecture does not call that layer as a module, the
    cut is made afterwards.
    """

    def cut(_module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        states, *others = args
        if states.dim() != 3:
            return args
        return (states[rows, columns], *others)

    head = model.get_output_embeddings()
    handle = None if head is None else head.register_forward_pre_hook(cut)
    try:
        logits: torch.Tensor = model(**inputs).logits
    finally:
        if handle is not None:
            handle.remove()
    # three dimensions are left where the hook was not called
    if logits.dim() == 3:
        logits = logits[rows, columns]
    return logits.float()


def normalisers(logits: torch.Tensor) -> torch.Tensor:
    """The logarithm of what each row's softmax is divided by.

    Some rows at a time, which stay in the processor's cache: the exponentials of all would be
    written to memory and read again, which takes nearly three times as long.
    """
    return torch.cat([rows.logsumexp(-1) for rows in logits.split(CACHED_ROWS)])


def ranks(logits: torch.Tensor, tokens: torch.Tensor) -> list[int]:
    """How many entries of the vocabulary score at least as high as each of the tokens (1 is the
    top)."""
    if len(tokens) < MANY:
        return [int((logits >= logits[token]).sum()) for token in tokens]
    rising = logits.sort().values
    # the place of a token among the rising entries is the number of those below it
    below: list[int] = torch.searchsorted(rising, logits[tokens].contiguous()).tolist()
    return [len(logits) - count for count in below]
