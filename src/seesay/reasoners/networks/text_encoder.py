"""The sentence encoder: word embeddings and a recurrent network, whose state after the last word is taken."""

from __future__ import annotations

import torch
from torch import nn

from seesay.reasoners.config import NetworkConfig
from seesay.reasoners.vocabulary import NULL


class TextEncoder(nn.Module):
    """Word ids (items, words) to one vector per item."""

    def __init__(self, config: NetworkConfig, kind: type[nn.GRU] | type[nn.LSTM]) -> None:
        super().__init__()
        hidden = config.hidden
        self.embedding = nn.Embedding(len(config.vocabulary), config.embedding, padding_idx=NULL)
        self.recurrent = kind(config.embedding, hidden, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        # The gate that keeps the state (LSTM: forget, GRU: update) starts open, or word two is forgotten by word nine.
        with torch.no_grad():
            self.recurrent.get_parameter("bias_hh_l0")[hidden : 2 * hidden] = 2.0

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.recurrent(self.embedding(words))[0]
        last = (words != NULL).sum(1) - 1
        vectors: torch.Tensor = self.norm(states[torch.arange(len(words), device=words.device), last])
        return vectors
