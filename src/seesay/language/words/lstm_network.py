"""The network of Ghanimifard & Dobnik 2019: word embedding, one LSTM, softmax over the words."""

from __future__ import annotations

import torch
from torch import nn

State = tuple[torch.Tensor, torch.Tensor]


class LstmNetwork(nn.Module):
    """Reads word ids (batch × time) and predicts each next one."""

    def __init__(self, vocabulary: int, embedding: int, hidden: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden, vocabulary)

    def states(self, ids: torch.Tensor, state: State | None = None) -> tuple[torch.Tensor, State]:
        """The hidden state after every word, and the state from which a text is continued."""
        hidden, state = self.lstm(self.dropout(self.embedding(ids)), state)
        return self.dropout(hidden), state


class LstmCell:
    """One step of a network's LSTM, for states of the same sentence with many words after it.

    What a word adds to the gates is looked up, computed once for all words. A state that several words follow
    (gaps × 1 × hidden, where gaps × words are read) goes through the recurrent weights once.
    """

    def __init__(self, network: LstmNetwork) -> None:
        weights = dict(network.lstm.named_parameters())
        bias = weights["bias_ih_l0"] + weights["bias_hh_l0"]
        self._inputs = network.embedding.weight @ weights["weight_ih_l0"].T + bias
        self._recurrent = weights["weight_hh_l0"].T
        self.device = bias.device

    def __call__(self, read: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The states after these words."""
        gates = self._inputs[read]
        gates += h @ self._recurrent
        take, keep, new, show = gates.chunk(4, dim=-1)
        c = keep.sigmoid() * c + take.sigmoid() * new.tanh()
        return show.sigmoid() * c.tanh(), c
