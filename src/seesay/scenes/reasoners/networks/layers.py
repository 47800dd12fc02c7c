"""Layers that the networks over pixels and feature maps share."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn.functional import conv2d

from seesay.scenes.reasoners.config import NetworkConfig


class Stem(nn.Module):
    """From pixels or feature maps (items, channels, rows, columns) to maps.

    There are strided layers (4 x 4, halving rows and columns), then plain ones (3 x 3), each with a
    batch norm. Without any, the features stay as they are.

    With `coordinates`, the first layer gets the coordinates of its cells too, unless it strides (as
    published).
    """

    def __init__(self, config: NetworkConfig, *, coordinates: bool = False) -> None:
        super().__init__()
        self.channels = config.input_shape[0]
        layers = list[nn.Module]()
        for i in range(config.strided_layers + config.plain_layers):
            width = config.width
            if i + 1 < config.strided_layers:
                width = config.first_width or width
            if i < config.strided_layers:
                conv: nn.Module = nn.Conv2d(self.channels, width, 4, 2, 1)
            elif i == 0 and coordinates:
                conv = CoordinateConv(self.channels, width, 3)
            else:
                conv = nn.Conv2d(self.channels, width, 3, padding=1)
            layers += [conv, nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
            self.channels = width
        self.layers = nn.Sequential(*layers)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        floats = features.to(torch.float32, memory_format=torch.channels_last)
        # Bytes are pixels, from 0 to 1; feature maps, which may be stored in half precision, are
        # taken as they are.
        if features.dtype == torch.uint8:
            floats.div_(255)
        maps: torch.Tensor = self.layers(floats)
        return maps


class CoordinateConv(nn.Conv2d):
    """A convolution that also gets each cell's row and column, from −1 to 1.

    See Perez et al. 2018, section 3.2. Coordinates are the same for every item, so their share is
    computed once per batch, and no maps are copied to append them.
    """

    def __init__(self, channels: int, width: int, kernel: int = 1) -> None:
        super().__init__(channels + 2, width, kernel, padding=kernel // 2)

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        weight = self.weight
        padding = self.padding
        places = coordinates(maps)[None]
        # a convolution is linear in its input channels: both parts can be computed apart and added
        of_place = conv2d(places, weight[:, -2:], self.bias, padding=padding)
        return conv2d(maps, weight[:, :-2], padding=padding).add_(of_place)


def coordinates(maps: torch.Tensor) -> torch.Tensor:
    """Return two channels (2, rows, columns): each cell's row and column, from −1 to 1."""
    rows, columns = maps.shape[-2:]
    down = torch.linspace(-1, 1, rows, device=maps.device)
    across = torch.linspace(-1, 1, columns, device=maps.device)
    return torch.stack((down[:, None].expand(rows, columns), across.expand(rows, columns)))


def mlp(inputs: int, config: NetworkConfig) -> nn.Sequential:
    """Return the classifier of CNN+LSTM and stacked attention.

    It has one hidden layer, with dropout and batch norm by the config.
    """
    before: list[nn.Module] = []
    after: list[nn.Module] = []
    if config.batch_norm:
        before.append(nn.BatchNorm1d(inputs))
        after.append(nn.BatchNorm1d(config.classifier))
    return nn.Sequential(
        nn.Dropout(config.dropout),
        *before,
        nn.Linear(inputs, config.classifier),
        *after,
        nn.Dropout(config.dropout),
        nn.ReLU(inplace=True),
        nn.Linear(config.classifier, len(config.answers)),
    )


def initialise(network: nn.Module, weights: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Start convolutions and linear layers of a network with other weights than PyTorch's.

    The published code does so for FiLM (Kaiming uniform) and stacked attention (Kaiming normal).
    """
    for module in network.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            weights(module.weight)
