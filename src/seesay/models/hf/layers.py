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


def layer_states(
    network: PreTrainedModel, inputs: dict[str, Any], rows: torch.Tensor, columns: torch.Tensor
) -> list[torch.Tensor]:
    """The states at (row, column) of the batch, layer by layer, each positions × width."""
    return _states(network, _read(network, inputs), rows, columns)


def layer_logits(
    network: PreTrainedModel, inputs: dict[str, Any], rows: torch.Tensor, columns: torch.Tensor
) -> Iterator[torch.Tensor]:
    """The vocabulary's logits at (row, column) as the head computes them from each layer; the last
    are the network's.

    The head is the network's own forward pass over states that are given to it, so that scaled,
    capped and transformed logits come out as they should.
    """
    outputs = _read(network, inputs)
    for states in _states(network, outputs, rows, columns):
        with _returning(network.base_model, outputs, states[None]):
            yield network(**inputs).logits[0].float()


def _read(network: PreTrainedModel, inputs: dict[str, Any]) -> Any:
    return network.base_model(**inputs, output_hidden_states=True, return_dict=True)


def _states(
    network: PreTrainedModel, outputs: Any, rows: torch.Tensor, columns: torch.Tensor
) -> list[torch.Tensor]:
    norm = _final_norm(network)
    below = [states[rows, columns] for states in outputs.hidden_states[:-1]]
    return [*(below if norm is None else map(norm, below)), outputs[0][rows, columns]]


def _final_norm(network: PreTrainedModel) -> torch.nn.Module | None:
    outer = dict(network.base_model.named_children())
    inner = dict(outer["decoder"].named_children()) if "decoder" in outer else {}
    norms = [
        children[name] for children in (outer, inner) for name in FINAL_NORMS if name in children
    ]
    return norms[0] if norms else None


@contextmanager
def _returning(base: torch.nn.Module, outputs: Any, states: torch.Tensor) -> Iterator[None]:
    """Let the network below the head return these states, whatever it is given."""
    replaced = copy(outputs)
    replaced["last_hidden_state"] = states
    base.forward = lambda *args, **kwargs: replaced
    try:
        yield
    finally:
        del base.forward
