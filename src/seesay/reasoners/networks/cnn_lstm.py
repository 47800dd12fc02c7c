"""CNN+LSTM: the whole picture as one vector beside the sentence's, and two layers over both."""

from __future__ import annotations

import torch
from torch import nn

from seesay.reasoners.config import Shape
from seesay.reasoners.networks.layers import Stem
from seesay.reasoners.networks.text_encoder import Reader


class CnnLstm(nn.Module):
    """The plain baseline of visual question answering: no part of it knows which part of the picture is meant."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.reader = Reader(len(shape.words), shape.embedding, shape.hidden, nn.LSTM)
        self.stem = Stem(shape.look[0], shape.width, shape.halvings, shape.levels, batch_norm=shape.batch_norm)
        rows, columns = (-(-length // 2**shape.halvings) for length in shape.look[1:])
        self.classifier = nn.Sequential(
            nn.Linear(shape.width * rows * columns + shape.hidden, shape.classifier),
            nn.ReLU(),
            nn.Dropout(shape.dropout),
            nn.Linear(shape.classifier, len(shape.answers)),
        )

    def forward(self, pictures: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        both = torch.cat((self.stem(pictures).flatten(1), self.reader(words)), 1)
        said: torch.Tensor = self.classifier(both)
        return said
