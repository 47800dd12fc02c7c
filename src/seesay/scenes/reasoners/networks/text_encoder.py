"""The sentence encoder: word embeddings, and a recurrent network's state after the last word."""

from __future__ import annotations

import torch
from torch import nn

from seesay.scenes.reasoners.config import NetworkConfig
from seesay.scenes.reasoners.vocabulary import NULL


class TextEncoder(nn.Module):
    """Word ids (items, words) to one vector per item."""

    def __init__(self, config: NetworkConfig, kind: type[nn.GRU] | type[nn.LSTM]) -> None:
        super().__init__()
        hidden = config.hidden
        layers = config.recurrent_layers
        self.embedding = nn.Embedding(len(config.vocabulary), config.embedding, padding_idx=NULL)
        self.recurrent = kind(config.embedding, hidden, layers, batch_first=True)
        self.norm: nn.Module = nn.Identity()
        if config.text_norm:
            self.norm = nn.LayerNorm(hidden)
            # The gate that keeps the state (LSTM: forget, GRU: update) starts open, or word two is
            # forgotten by nine.
            with torch.no_grad():
                for layer in range(layers):
                    self.recurrent.get_parameter(f"bias_hh_l{layer}")[hidden : 2 * hidden] = 2.0

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.recurrent(self.embedding(words))[0]
        # shorter sentences of a batch are padded: their last real word comes earlier
        last = (words != NULL).sum(1) - 1
        items = torch.arange(len(words), device=words.device)
        vectors: torch.Tensor = self.norm(states[items, last])
        return vectors
