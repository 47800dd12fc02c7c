"""Where a checkpoint's weights and its network's differ. Missing weights are refused; of weights
that the network has no place for, other heads and poolers are named and all else is refused.

A network that leaves a part of its trunk unread (layers beyond the number in config.json, a
projection that another class reads) gives answers that are not the model's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from seesay.errors import UserError
from seesay.models.base import Model

HEADS_WITHIN = ("pooler", "seq_relationship")
"""Heads that lie inside the trunk or beside the language-model head, in a module that holds
both."""

CONSTANTS = re.compile(
    r"(^|\.)(position_ids|token_type_ids|inv_freq|masked_bias|(attn|attention)\.bias)$"
)
"""Buffers that older versions of transformers saved: computed, not learned."""

CLIP_BERT_PROJECTION = "img_projection"


def unused_parts(name: str, network: Any, unexpected: Iterable[str]) -> tuple[str, ...]:
    """The names of the heads, poolers and towers among the unexpected weights; any other unexpected
    one is an error."""
    prefix = f"{network.base_model_prefix}."
    # the first words of keys that the network reads: of a whole model, or of a trunk saved alone
    network_words = _first_words(network) | _first_words(network.base_model)
    parts: dict[str, None] = {}
    strange = []
    for key in sorted(unexpected):
        if CONSTANTS.search(key):
            continue
        first = key.partition(".")[0]
        head = next((word for word in HEADS_WITHIN if f".{word}." in f".{key}"), None)
        of_network = (
            key.startswith(prefix)
            or first in network_words
            or f".{CLIP_BERT_PROJECTION}." in f".{key}"
        )
        if not of_network:
            parts[first] = None  # another head or tower, which stands beside the network
        elif head:
            parts[key[: key.index(head) + len(head)]] = None
        else:
            strange.append(key)
    if strange:
        raise UserError(
            f"'{name}' holds {len(strange)} weights that its network ({type(network).__name__}) "
            f"does not read ({strange[0]}, …): {_reason(strange[0])}"
        )
    return tuple(parts)


def _first_words(module: Any) -> set[str]:
    return {key.partition(".")[0] for key in module.state_dict()}


def _reason(key: str) -> str:
    if CLIP_BERT_PROJECTION in key:
        return "a CLIP-BERT's projection is read where config.json gives img_feature_dim."
    if re.search(r"\.\d+\.", key):
        return "check the number of layers in its config.json."
    return "its config.json describes another network."


def note_of_unused(name: str, parts: Iterable[str]) -> str:
    """What is kept with a run about the parts of a checkpoint that it did not use."""
    return f"Parts of '{name}' that are not used: {', '.join(parts)}."


def note_unused(model: Model, name: str, parts: Sequence[str]) -> None:
    """Keep that with every run of the model, if there are such parts."""
    if parts:
        model.note(note_of_unused(name, parts), lasting=True)


def refuse_missing(name: str, missing: Sequence[str], family: str = "") -> None:
    """Refuse a network some of whose weights its files lack; `family` is that of a model that is to
    fill a slot."""
    if not missing:
        return
    whose = "its weights"
    reason = ""
    if family:
        whose = f"the weights that a {family} model needs"
        reason = " It was saved without its language-model head, or for another use."
    raise UserError(
        f"'{name}' lacks {len(missing)} of {whose} ({missing[0]}, …): they would be random.{reason}"
    )
