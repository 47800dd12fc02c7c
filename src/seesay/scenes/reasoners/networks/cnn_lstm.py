"""CNN+LSTM: the whole picture as one vector beside the sentence's, and two layers over both.

The published sizes are a 1 x 1 convolution to 512 maps, pooled to 7 x 7 and flattened, beside the
last state of a two-layer LSTM (Pezzelle & Fernández 2019, section 5; code of Johnson et al. 2017).
"""

from __future__ import annotations

import torch
from torch import nn

from seesay.scenes.reasoners.config import NetworkConfig
from seesay.scenes.reasoners.networks.base import ReasonerNetwork
from seesay.scenes.reasoners.networks.layers import Stem, mlp
from seesay.scenes.reasoners.networks.text_encoder import TextEncoder


class CnnLstm(ReasonerNetwork):
    """The plain baseline of visual question answering.

    It attends to no part of the picture in particular.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        self.reader = TextEncoder(config, nn.LSTM)
        self.stem = Stem(config)
        self.project = nn.Conv2d(self.stem.channels, config.projection, 1)
        self.pool = nn.MaxPool2d(2, ceil_mode=True)
        cells = 1
        for length in config.input_shape[1:]:
            # halved by every strided layer, and once more, rounded up, by the pooling
            cells *= -(-(length >> config.strided_layers) // 2)
        self.classifier = mlp(config.projection * cells + config.hidden, config)

    def forward(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        maps = self.pool(torch.relu_(self.project(self.stem(features))))
        joined = torch.cat((maps.flatten(1), self.reader(words)), 1)
        logits: torch.Tensor = self.classifier(joined)
        return logits
