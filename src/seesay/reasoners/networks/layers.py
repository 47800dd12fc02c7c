"""Layers that the networks over pixels and feature maps share."""

from __future__ import annotations

import torch
from torch import nn

from seesay.reasoners.config import NetworkConfig


class Stem(nn.Module):
    """Convolutions from pixels or feature maps (items, channels, rows, columns) to maps of `width` channels."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        channels, width = config.input_shape[0], config.width
        layers: list[nn.Module] = []
        for i in range(config.strided_layers + config.plain_layers):
            stride = 2 if i < config.strided_layers else 1
            layers.append(nn.Conv2d(channels if i == 0 else width, width, 3, stride, 1, bias=not config.batch_norm))
            layers += [nn.BatchNorm2d(width)] if config.batch_norm else []
            layers.append(nn.ReLU())
        self.layers = nn.Sequential(*layers)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        maps: torch.Tensor = self.layers(_as_floats(features).contiguous(memory_format=torch.channels_last))
        return maps


def _as_floats(features: torch.Tensor) -> torch.Tensor:
    """Bytes of pixels as numbers from 0 to 1; feature maps, which may be stored in half precision, as they are."""
    return features.float() / 255 if features.dtype == torch.uint8 else features.float()


def mlp(inputs: int, config: NetworkConfig) -> nn.Sequential:
    """The two-layer classifier at the end of a network."""
    return nn.Sequential(
        nn.Linear(inputs, config.classifier), nn.ReLU(), nn.Dropout(config.dropout),
        nn.Linear(config.classifier, len(config.answers)),
    )  # fmt: skip


def add_coordinate_channels(maps: torch.Tensor) -> torch.Tensor:
    """Two more channels with each cell's row and column, from −1 to 1 (Perez et al. 2018, section 3.2)."""
    rows, columns = maps.shape[-2:]
    down = torch.linspace(-1, 1, rows, device=maps.device)[:, None].expand(rows, columns)
    across = torch.linspace(-1, 1, columns, device=maps.device).expand(rows, columns)
    coordinates = torch.stack((down, across)).expand(len(maps), -1, -1, -1)
    return torch.cat((maps, coordinates), 1)
