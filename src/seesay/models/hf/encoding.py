"""Texts as vectors: read in batches of one length, without padding, the state at one token of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.batches import batches_of_equal_length, refuse_too_long
from seesay.models.hf.layers import layer_states

Vectors = NDArray[np.float32]
Reader = Callable[[torch.Tensor], torch.Tensor]
"""What a network makes of token ids (texts × tokens): one row for each text."""


def encode_texts(
    name: str,
    network: Any,
    tokenizer: Any,
    vectors: Reader,
    texts: Sequence[str],
    budget: int,
    **padding: Any,
) -> Vectors:
    """One row per text; texts of one length are read together, at most `budget` tokens at a time, equal ones once."""
    if not texts:
        return np.zeros((0, 0), np.float32)
    sentences = [tuple(ids) for ids in tokenizer(list(texts), **padding)["input_ids"]]
    refuse_too_long(name, network, max(map(len, sentences)))
    if not all(sentences):
        raise UserError(f"'{name}' finds no token in an empty text.")
    unique = list(dict.fromkeys(sentences))
    row_of: dict[tuple[int, ...], Vectors] = {}
    with torch.inference_mode():
        for members in batches_of_equal_length(unique, budget):
            batch = [unique[i] for i in members]
            rows = vectors(torch.tensor(batch, device=network.device)).float().cpu().numpy()
            row_of.update(zip(batch, rows, strict=True))
    return np.stack([row_of[sentence] for sentence in sentences])


def first_token(network: Any) -> Reader:
    """The last layer's state at the first token, as in the published probe (Singh et al. 2023, section 4)."""
    return lambda ids: network(input_ids=ids)[0][:, 0]


def first_token_layers(network: Any) -> Reader:
    """The state at the first token, layer by layer."""

    def read(ids: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(len(ids), device=ids.device)
        return torch.stack(layer_states(network, {"input_ids": ids}, rows, torch.zeros_like(rows)), dim=1)

    return read
