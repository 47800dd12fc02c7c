"""How the networks read a sentence: word vectors and a recurrent network, whose state after the last word is kept."""

from __future__ import annotations

import torch
from torch import nn

from seesay.reasoners.vocabulary import NULL


class Reader(nn.Module):
    """Numbers of words (items, words) to one vector an item."""

    def __init__(self, vocabulary: int, embedding: int, hidden: int, kind: type[nn.GRU] | type[nn.LSTM]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding, padding_idx=NULL)
        self.recurrent = kind(embedding, hidden, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        # what both kinds keep of their state: at first most of it, or word two is gone by word nine
        with torch.no_grad():
            self.recurrent.get_parameter("bias_hh_l0")[hidden : 2 * hidden] = 2.0

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.recurrent(self.embedding(words))[0]
        last = (words != NULL).sum(1) - 1
        said: torch.Tensor = self.norm(states[torch.arange(len(words), device=words.device), last])
        return said
