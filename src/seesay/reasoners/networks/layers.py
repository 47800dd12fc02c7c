"""How the networks see: a few convolutions over pixels, or one over features that another network made of them."""

from __future__ import annotations

import torch
from torch import nn


class Stem(nn.Module):
    """Pictures (items, channels, rows, columns) to maps of `width` channels.

    Every halving layer makes the map half as high and wide; every level one leaves it. Features that are maps already
    take level layers alone.
    """

    def __init__(self, channels: int, width: int, halvings: int, levels: int, *, batch_norm: bool = True) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for i in range(halvings + levels):
            stride = 2 if i < halvings else 1
            layers.append(nn.Conv2d(channels if i == 0 else width, width, 3, stride, 1, bias=not batch_norm))
            layers += [nn.BatchNorm2d(width)] if batch_norm else []
            layers.append(nn.ReLU())
        self.layers = nn.Sequential(*layers)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        seen: torch.Tensor = self.layers(_numbers(pictures).contiguous(memory_format=torch.channels_last))
        return seen


def _numbers(pictures: torch.Tensor) -> torch.Tensor:
    """Pixels from 0 to 1; features, which may be kept in half the bytes, as they are."""
    return pictures.float() / 255 if pictures.dtype == torch.uint8 else pictures.float()


def places(maps: torch.Tensor) -> torch.Tensor:
    """Two more channels that say where a cell is: its row and column, from −1 to 1 (Perez et al. 2018, section 3.2)."""
    rows, columns = maps.shape[-2:]
    down = torch.linspace(-1, 1, rows, device=maps.device)[:, None].expand(rows, columns)
    across = torch.linspace(-1, 1, columns, device=maps.device).expand(rows, columns)
    where = torch.stack((down, across)).expand(len(maps), -1, -1, -1)
    return torch.cat((maps, where), 1)
