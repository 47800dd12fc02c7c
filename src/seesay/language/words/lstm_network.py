"""The network of Ghanimifard & Dobnik 2019: word embedding, one LSTM, softmax over the words."""

from __future__ import annotations

import torch
from torch import nn

State = tuple[torch.Tensor, torch.Tensor]


class LstmNetwork(nn.Module):
    """Reads word ids (batch × time) and predicts each next one."""

    def __init__(
        self,
        vocabulary: int,
        embedding: int,
        hidden: int,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden, vocabulary)

    def states(
        self,
        ids: torch.Tensor,
        state: State | None = None,
    ) -> tuple[torch.Tensor, State]:
        """Return the hidden state after every word, and the state that continues a text."""
        hidden, state = self.lstm(self.dropout(self.embedding(ids)), state)
        return self.dropout(hidden), state
