"""What every reasoner network declares about itself."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import nn

from seesay.scenes.reasoners.attention_maps import AttentionMap
from seesay.scenes.reasoners.config import NetworkConfig


class ReasonerNetwork(nn.Module):
    """Features (items, …) and word ids (items, words) to logits (items, answers).

    Layers and buffers name the weights on disk: renaming one breaks trained reasoners.
    """

    takes_objects: ClassVar[bool] = False
    """Whether the features are slots of objects; otherwise they are pixels or feature maps."""
    answers: ClassVar[frozenset[str] | None] = None
    """The answers that the network is made for; None for any."""
    has_regularisation: ClassVar[bool] = True
    """Whether dropout and batch norm, which the paper's grid varies, are part of the network."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()

    def attention_maps(
        self, features: torch.Tensor, words: torch.Tensor
    ) -> list[tuple[AttentionMap, ...]]:
        """Return the parts of the picture that the network attends to, item by item.

        By default there are none to show.
        """
        return [()] * len(words)

    def auxiliary_loss(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor | None:
        """Return a loss added to the cross-entropy of the answers during training, or None."""
        return None
