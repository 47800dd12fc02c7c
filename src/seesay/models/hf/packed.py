"""Linear layers that use all of a processor on which PyTorch's own product of matrices does not.

PyTorch multiplies float32 matrices with MKL, which takes AMD's processors for ones with vectors of
256 bits. From Zen 5 on they compute on 512 bits at full speed, and oneDNN, which PyTorch brings
too, is more than twice as fast there. A layer's weights are laid out for it once.
"""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import nn

from seesay.processors import WIDE_AMD_FAMILY, amd_family

MOST_PARAMETERS = 2_000_000_000
"""The weights are kept twice: a network with more of them is left as it is."""

Network = TypeVar("Network", bound=nn.Module)


class PackedLinear(nn.Linear):
    """A linear layer of a network that is no longer trained.

    Where gradients are wanted, it multiplies as any other layer does.
    """

    def __init__(self, layer: nn.Linear) -> None:
        # on the meta device no weights are made, only to be replaced
        super().__init__(layer.in_features, layer.out_features, layer.bias is not None, "meta")
        self.weight = layer.weight
        self.bias = layer.bias
        self._packed_weight = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach())

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        if torch.is_grad_enabled():
            return super().forward(states)
        # as compiled networks call it: inputs and outputs are not copied, as opaque tensors' are
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            states, self._packed_weight, self.bias, "none", [], ""
        )
        return product


def pack_linear_layers(network: Network) -> Network:
    """Replace the linear layers of a network that is no longer trained, where that is faster, and
    return the network."""
    if not is_faster_packed():
        return network
    if sum(parameter.numel() for parameter in network.parameters()) > MOST_PARAMETERS:
        return network
    layers = [(name, module) for name, module in network.named_modules() if takes_packing(module)]
    for name, layer in layers:
        network.set_submodule(name, PackedLinear(layer))
    return network


def takes_packing(module: nn.Module) -> bool:
    """Return whether a module is a linear layer, and no subclass with an arithmetic of its own, of
    float32 weights on this processor."""
    if type(module) is not nn.Linear:
        return False
    return module.weight.dtype == torch.float32 and module.weight.device.type == "cpu"


def is_faster_packed() -> bool:
    """Return whether oneDNN multiplies faster on this processor than what PyTorch multiplies with.

    The answer depends on the processor alone, so that every process gives the same digits.
    """
    if not (torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()):
        return False
    is_wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    return is_wide and amd_family() >= WIDE_AMD_FAMILY
