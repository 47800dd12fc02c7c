"""Stacked attention (Yang et al. 2016): the sentence looks at the picture twice, the second time knowing more."""

from __future__ import annotations

import torch
from torch import nn

from seesay.reasoners.config import Shape
from seesay.reasoners.networks.layers import Stem, places
from seesay.reasoners.networks.text_encoder import Reader


class StackedAttention(nn.Module):
    """CNN, LSTM, two rounds of soft attention over the picture's cells, two layers."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.reader = Reader(len(shape.words), shape.embedding, shape.hidden, nn.LSTM)
        self.stem = Stem(shape.look[0], shape.width, shape.halvings, shape.levels, batch_norm=shape.batch_norm)
        self.project = nn.Conv2d(shape.width + 2, shape.hidden, 1)
        self.rounds = nn.ModuleList(Round(shape.hidden) for _ in range(2))
        self.classifier = nn.Sequential(
            nn.Linear(shape.hidden, shape.classifier), nn.ReLU(), nn.Dropout(shape.dropout),
            nn.Linear(shape.classifier, len(shape.answers)),
        )  # fmt: skip

    def forward(self, pictures: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        said: torch.Tensor = self.classifier(self.look(pictures, words)[0])
        return said

    def maps(self, pictures: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Where each round looks (Figure 7): items, rounds, rows, columns."""
        return self.look(pictures, words)[1]

    def look(self, pictures: torch.Tensor, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What is known after the rounds, and where they looked."""
        seen = torch.tanh(self.project(places(self.stem(pictures))))
        cells, known, looked = seen.flatten(2).transpose(1, 2), self.reader(words), []
        for attend in self.rounds:
            weights = attend(cells, known)
            known = known + (weights[:, :, None] * cells).sum(1)
            looked.append(weights.view(len(weights), *seen.shape[2:]))
        return known, torch.stack(looked, 1)


class Round(nn.Module):
    """One round: how much to look at every cell, by what is known so far (equations 15 to 18)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.of_cells = nn.Linear(hidden, hidden, bias=False)
        self.of_known = nn.Linear(hidden, hidden)
        self.weigh = nn.Linear(hidden, 1)

    def forward(self, cells: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
        mixed = torch.tanh(self.of_cells(cells) + self.of_known(known)[:, None])
        return torch.softmax(self.weigh(mixed)[:, :, 0], 1)
