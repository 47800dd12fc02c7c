"""Stacked attention (Yang et al. 2016): two rounds of soft attention over a picture's cells.

The second round is guided by what the first attended to.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import conv2d

from seesay.scenes.reasoners.attention_maps import AttentionMap
from seesay.scenes.reasoners.config import NetworkConfig
from seesay.scenes.reasoners.networks.base import ReasonerNetwork
from seesay.scenes.reasoners.networks.layers import Stem, initialise, mlp
from seesay.scenes.reasoners.networks.text_encoder import TextEncoder


class StackedAttention(ReasonerNetwork):
    """CNN, LSTM, two rounds of soft attention over the picture's cells, two layers."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        self.reader = TextEncoder(config, nn.LSTM)
        self.stem = Stem(config)
        self.project = nn.Conv2d(self.stem.channels, config.hidden, 1)
        self.rounds = nn.ModuleList(
            AttentionRound(config.hidden, config.projection) for _ in range(2)
        )
        self.classifier = mlp(config.hidden, config)
        initialise(self, nn.init.kaiming_normal_)

    def forward(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.classifier(self.attend(features, words)[0])
        return logits

    def attend(
        self, features: torch.Tensor, words: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the query after the last round, and the weights of every round.

        The weights are (items, rounds, rows, columns).
        """
        maps = self.project(self.stem(features))
        cells = maps.flatten(2).transpose(1, 2)
        query = self.reader(words)
        rounds = []
        for attend in self.rounds:
            weights = attend(maps, query)
            # u <- u + sum of weighted cells: the query refined by what was attended to
            query = query + (weights[:, None] @ cells)[:, 0]
            rounds.append(weights.view(len(weights), *maps.shape[2:]))
        return query, torch.stack(rounds, 1)

    def attention_maps(
        self, features: torch.Tensor, words: torch.Tensor
    ) -> list[tuple[AttentionMap, ...]]:
        """Return the attention weights of each round."""
        items = []
        for rounds in self.attend(features, words)[1].double().cpu().numpy():
            numbered = enumerate(rounds, 1)
            maps = [AttentionMap(f"attention, round {i}", weights) for i, weights in numbered]
            items.append(tuple(maps))
        return items


class AttentionRound(nn.Module):
    """One round: the weight of every cell for the query so far (Yang et al. 2016, equations 15 to
    18).
    """

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.of_cells = nn.Linear(size, hidden)
        self.of_known = nn.Linear(size, hidden)
        self.weigh = nn.Linear(hidden, 1)

    def forward(self, maps: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
        # h = tanh(Wv v + Wu u), p = softmax(w h) over the places of the picture
        of_cells = linear_by_cell(maps, self.of_cells)
        of_query = self.of_known(query)[:, :, None, None]
        mixed = torch.tanh_(of_cells + of_query)
        weights = self.weigh(mixed.flatten(2).transpose(1, 2))[:, :, 0]
        return torch.softmax(weights, 1)


def linear_by_cell(maps: torch.Tensor, layer: nn.Linear) -> torch.Tensor:
    """Apply a linear layer to every cell of a map, as a convolution of one cell.

    On processors where PyTorch multiplies matrices by another library than it convolves with, that
    is up to twice as fast.
    """
    return conv2d(maps, layer.weight[:, :, None, None], layer.bias)
