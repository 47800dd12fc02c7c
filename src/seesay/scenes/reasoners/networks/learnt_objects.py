"""The object-centred network over objects that it finds itself, instead of connected pixels.

A convolutional network looks at the picture; every cell of its map proposes an object: whether
there is one, how large it is, and what it looks like. Nothing tells it what an object is: what the
cells propose is learnt from the answers, and from which sentence goes with which picture. The rest
(grammar, reference set, threshold) is that of the object-centred network.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import softplus

from seesay.scenes.reasoners.attention_maps import AttentionMap
from seesay.scenes.reasoners.config import NetworkConfig
from seesay.scenes.reasoners.features.objects import APPEARANCE
from seesay.scenes.reasoners.networks.layers import Stem
from seesay.scenes.reasoners.networks.object_centred import ObjectCentred

_SURE = 10.0
"""What multiplies the logits of presence.

A cell of the background has to be left out of the smallest of a set, which weighs sizes by e^40.
"""


class LearntObjects(ObjectCentred):
    """From pixels or feature maps and word ids (items, words) to no and yes."""

    takes_objects = False

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        self.stem = Stem(config)
        self.propose = nn.Conv2d(self.stem.channels, 2 + APPEARANCE, 1)

    def forward(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        return super().forward(self.find(features), words)

    def auxiliary_loss(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        return super().auxiliary_loss(self.find(features), words)

    def attention_maps(
        self, features: torch.Tensor, words: torch.Tensor
    ) -> list[tuple[AttentionMap, ...]]:
        return super().attention_maps(self.find(features), words)

    def find(self, features: torch.Tensor) -> torch.Tensor:
        """Return a slot for every cell of the map, in the layout of `features.objects`."""
        maps = self.propose(self.stem(features))
        boxes = _cell_boxes(maps)[None].expand(len(maps), -1, -1)
        cells = maps.flatten(2).transpose(1, 2)
        presence = torch.sigmoid(_SURE * cells[:, :, :1])
        area = softplus(cells[:, :, 1:2])
        return torch.cat((presence, area, boxes, cells[:, :, 2:]), 2)


def _cell_boxes(maps: torch.Tensor) -> torch.Tensor:
    """Return top, left, bottom and right of every cell, as shares of the picture (cells, 4)."""
    rows, columns = maps.shape[2:]
    top = torch.arange(rows, device=maps.device).repeat_interleave(columns) / rows
    left = torch.arange(columns, device=maps.device).repeat(rows) / columns
    return torch.stack((top, left, top + 1 / rows, left + 1 / columns), 1)
