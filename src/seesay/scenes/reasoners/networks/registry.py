"""The networks by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seesay.scenes.reasoners.config import NetworkConfig
    from seesay.scenes.reasoners.networks.base import ReasonerNetwork

NAMES = {
    "cnn-lstm": "CNN+LSTM",
    "stacked-attention": "CNN+LSTM+SA",
    "film": "FiLM",
    "object-centred": "object-centred",
}
"""Networks as users call them and as the paper does."""


def network_class(name: str) -> type[ReasonerNetwork]:
    """Return the class of a network."""
    from seesay.scenes.reasoners.networks.cnn_lstm import CnnLstm
    from seesay.scenes.reasoners.networks.film import Film
    from seesay.scenes.reasoners.networks.object_centred import ObjectCentred
    from seesay.scenes.reasoners.networks.stacked_attention import StackedAttention

    return {
        "cnn-lstm": CnnLstm,
        "stacked-attention": StackedAttention,
        "film": Film,
        "object-centred": ObjectCentred,
    }[name]


def build(name: str, config: NetworkConfig) -> ReasonerNetwork:
    """Build the network with random weights."""
    return network_class(name)(config)
