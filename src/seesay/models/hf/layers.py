"""Every layer of a network: its states for probes at each depth, and what the output head makes of
them (logit lens).

Layer 0 is the embedding, the last one is what the network's own head reads. Where the network ends
in a norm, the layers below are read through it too, as the logit lens does (nostalgebraist 2020):
otherwise their scale, which grows from layer to layer, would be all that a probe of one learning
rate sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

FINAL_NORMS = (
    "norm",
    "ln_f",
    "final_layer_norm",
    "final_layernorm",
    "final_norm",
    "norm_f",
    "ln_out",
)
"""What architectures call the norm between their last layer and the head."""


def count_layers(network: Any) -> int | None:
    """Return how many layers a network has by its configuration, the embedding included; None where
    that does not say."""
    count = getattr(network.config, "num_hidden_layers", None)
    return None if count is None else int(count) + 1


def layer_states(
    network: PreTrainedModel,
    inputs: dict[str, Any],
    rows: torch.Tensor,
    columns: torch.Tensor,
) -> list[torch.Tensor]:
    """Return the states at (row, column) of the batch, layer by layer, each positions × width."""
    return _states(network, _read(network, inputs), rows, columns)


def layer_logits(
    network: PreTrainedModel,
    inputs: dict[str, Any],
    rows: torch.Tensor,
    columns: torch.Tensor,
) -> Iterator[torch.Tensor]:
    """Give the vocabulary's logits at (row, column) as the head computes them from each layer; the
    last are the network's.

    The head is the network's own forward pass over states that are given to it, so that scaled,
    capped and transformed logits come out as they should.
    """
    outputs = _read(network, inputs)
    for states in _states(network, outputs, rows, columns):
        with _giving(network, outputs, states[None]):
            logits = network(**inputs).logits
        yield logits[0].float()


def _read(network: PreTrainedModel, inputs: dict[str, Any]) -> Any:
    return network.base_model(**inputs, output_hidden_states=True, return_dict=True)


def _states(
    network: PreTrainedModel,
    outputs: Any,
    rows: torch.Tensor,
    columns: torch.Tensor,
) -> list[torch.Tensor]:
    inner = [states[rows, columns] for states in outputs.hidden_states[:-1]]
    norm = _final_norm(network)
    if norm is not None:
        inner = [norm(states) for states in inner]
    # The last layer comes from the outputs themselves, after the norm: whether the last of the
    # hidden states is before or after it differs between architectures.
    return [*inner, outputs[0][rows, columns]]


def _final_norm(network: PreTrainedModel) -> torch.nn.Module | None:
    """Return the norm after the last layer: a child of the trunk, or of the decoder in it."""
    children = dict(network.base_model.named_children())
    parts = [children]
    if "decoder" in children:
        parts.append(dict(children["decoder"].named_children()))
    for modules in parts:
        for name in FINAL_NORMS:
            if name in modules:
                return modules[name]
    return None


class _GivenOutputs(torch.nn.Module):
    """Stands for the trunk of a network: it returns the same outputs whatever it is given."""

    def __init__(self, outputs: Any) -> None:
        super().__init__()
        self.outputs = outputs

    def forward(self, *_args: Any, **_kwargs: Any) -> Any:
        return self.outputs


@contextmanager
def _giving(network: PreTrainedModel, outputs: Any, states: torch.Tensor) -> Iterator[None]:
    """Give the head these states in place of the trunk's.

    A hook on the trunk could replace its outputs as well, but only after it has been computed
    again, layer for layer: the trunk itself is replaced for as long as the head is run.
    """
    trunk = network.base_model
    replaced = copy(outputs)
    replaced["last_hidden_state"] = states
    network.set_submodule(network.base_model_prefix, _GivenOutputs(replaced))
    try:
        yield
    finally:
        network.set_submodule(network.base_model_prefix, trunk)
