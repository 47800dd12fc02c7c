"""FiLM (Perez et al. 2018): the sentence scales and shifts the feature maps, block by block."""

from __future__ import annotations

import torch
from torch import nn

from seesay.scenes.reasoners.attention_maps import AttentionMap, channel_maxima
from seesay.scenes.reasoners.config import NetworkConfig
from seesay.scenes.reasoners.networks.base import ReasonerNetwork
from seesay.scenes.reasoners.networks.layers import CoordinateConv, Stem, initialise
from seesay.scenes.reasoners.networks.text_encoder import TextEncoder


class Film(ReasonerNetwork):
    """GRU, residual blocks modulated by its last state, a maximum over the picture, two layers."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        width = config.width
        self.block_count = config.blocks
        self.reader = TextEncoder(config, nn.GRU)
        self.modulate = nn.Linear(config.hidden, config.blocks * 2 * width)
        self.stem = Stem(config, coordinates=True)
        self.blocks = nn.ModuleList(FilmBlock(width) for _ in range(config.blocks))
        self.last = CoordinateConv(width, config.projection)
        self.last_norm: nn.Module = nn.Identity()
        hidden: list[nn.Module] = [nn.Linear(config.projection, config.classifier)]
        # The norms of stem and blocks are always on: the paper's grid switches these two alone.
        if config.batch_norm:
            self.last_norm = nn.BatchNorm2d(config.projection)
            hidden.append(nn.BatchNorm1d(config.classifier))
        self.classifier = nn.Sequential(
            *hidden,
            nn.ReLU(inplace=True),
            nn.Dropout(config.dropout),
            nn.Linear(config.classifier, len(config.answers)),
        )
        initialise(self, nn.init.kaiming_uniform_)

    def forward(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        # The maximum first: ReLU keeps the order, and has less to do.
        highest = torch.relu(self._maps(features, words).amax((2, 3)))
        logits: torch.Tensor = self.classifier(highest)
        return logits

    def feature_maps(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Return the maps (items, channels, rows, columns) that the maximum is taken over."""
        return torch.relu_(self._maps(features, words))

    def _maps(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Return the maps before the last ReLU."""
        modulation = self.modulate(self.reader(words))
        # gamma and beta of every block and channel, the same at all places of the picture
        # (Perez et al. 2018, equations 1 and 2)
        gammas, betas = modulation.view(
            len(words),
            self.block_count,
            2,
            -1,
            1,
            1,
        ).unbind(2)
        maps = self.stem(features)
        for i, block in enumerate(self.blocks):
            maps = block(maps, gammas[:, i], betas[:, i])
        normed: torch.Tensor = self.last_norm(self.last(maps))
        return normed

    def attention_maps(
        self, features: torch.Tensor, words: torch.Tensor
    ) -> list[tuple[AttentionMap, ...]]:
        """Return the cells that the maximum comes from."""
        items = self.feature_maps(features, words).double().cpu().numpy()
        return [(channel_maxima(maps),) for maps in items]


class FilmBlock(nn.Module):
    """A residual block (Perez et al. 2018, Figure 3).

    The norm before the modulation has no scale and shift of its own: gamma and beta take their
    place.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.narrow = CoordinateConv(width, width)
        self.look = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width, affine=False)

    def forward(self, maps: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
        maps = torch.relu_(self.narrow(maps))
        normed = self.norm(self.look(maps))
        # gamma is predicted as its difference from 1: near 0 it would erase maps and gradients
        return maps + torch.relu_(torch.addcmul(beta, normed, 1 + gamma))
