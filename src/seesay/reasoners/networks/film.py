"""FiLM (Perez et al. 2018): the sentence scales and shifts what the convolutions see, block by block."""

from __future__ import annotations

import torch
from torch import nn

from seesay.reasoners.config import Shape
from seesay.reasoners.networks.layers import Stem, places
from seesay.reasoners.networks.text_encoder import Reader


class Film(nn.Module):
    """GRU, residual blocks modulated by its last state, a maximum over the picture, two layers."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, self.blocks_of = shape.width, shape.blocks
        self.reader = Reader(len(shape.words), shape.embedding, shape.hidden, nn.GRU)
        self.modulate = nn.Linear(shape.hidden, shape.blocks * 2 * width)
        self.stem = Stem(shape.look[0], width, shape.halvings, shape.levels, batch_norm=shape.batch_norm)
        self.blocks = nn.ModuleList(Block(width) for _ in range(shape.blocks))
        self.last = nn.Conv2d(width + 2, shape.classifier, 1)
        self.classifier = nn.Sequential(
            nn.Linear(shape.classifier, shape.classifier), nn.ReLU(), nn.Dropout(shape.dropout),
            nn.Linear(shape.classifier, len(shape.answers)),
        )  # fmt: skip

    def forward(self, pictures: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        said: torch.Tensor = self.classifier(self.maps(pictures, words).amax((2, 3)))
        return said

    def maps(self, pictures: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """What is seen before the maximum is taken (Figure 7)."""
        scales, shifts = self.modulate(self.reader(words)).view(len(words), self.blocks_of, 2, -1, 1, 1).unbind(2)
        seen = self.stem(pictures)
        for i, block in enumerate(self.blocks):
            seen = block(seen, scales[:, i], shifts[:, i])
        return torch.relu(self.last(places(seen)))


class Block(nn.Module):
    """A residual block (Figure 3 of the paper); the norm before the modulation has no scale and shift of its own."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.narrow = nn.Conv2d(width + 2, width, 1)
        self.look = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width, affine=False)

    def forward(self, seen: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        seen = torch.relu(self.narrow(places(seen)))
        return seen + torch.relu((1 + scale) * self.norm(self.look(seen)) + shift)
