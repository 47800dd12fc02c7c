"""CNN+LSTM: the whole picture as one vector, concatenated with the sentence's, and two layers over
both."""

from __future__ import annotations

import torch
from torch import nn

from seesay.scenes.reasoners.config import NetworkConfig
from seesay.scenes.reasoners.networks.base import ReasonerNetwork
from seesay.scenes.reasoners.networks.layers import Stem, mlp
from seesay.scenes.reasoners.networks.text_encoder import TextEncoder


class CnnLstm(ReasonerNetwork):
    """The plain baseline of visual question answering: it attends to no part of the picture in
    particular."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        self.reader = TextEncoder(config, nn.LSTM)
        self.stem = Stem(config)
        self.project = nn.Conv2d(self.stem.channels, config.projection, 1)
        self.pool = nn.MaxPool2d(2, ceil_mode=True)
        rows, columns = (
            -(-(length >> config.strided_layers) // 2) for length in config.input_shape[1:]
        )
        self.classifier = mlp(config.projection * rows * columns + config.hidden, config)

    def forward(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        maps = self.pool(torch.relu_(self.project(self.stem(features))))
        logits: torch.Tensor = self.classifier(torch.cat((maps.flatten(1), self.reader(words)), 1))
        return logits
