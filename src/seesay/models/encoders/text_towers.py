"""The text halves of vision-language models, read without any picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import transformers

from seesay.models.encoders.base import BatchEncoder, load_complete
from seesay.models.hf.encoding import Reader, first_token
from seesay.models.hf.text_only import lxmert_language, vilt_blank, vilt_states
from seesay.models.options import ModelOptions


@dataclass(frozen=True)
class TextTower:
    """How an architecture's text half is read: its class in transformers, the vectors that its
    network gives to token ids, and the mark of both in fingerprints. Weights outside `part` and
    `spare` ones may be missing."""

    network: str
    vectors: Callable[[Any], Reader]
    pooling: str
    part: str = ""
    spare: tuple[str, ...] = ("pooler",)
    full_length: bool = False
    """Whether every text is padded to the full length, as in training."""


def load_tower(
    name: str,
    source: str | Path,
    options: ModelOptions,
    tower: TextTower,
) -> BatchEncoder:
    """The text half of a model in a folder or on the hub."""
    network_class = getattr(transformers, tower.network)
    checkpoint = load_complete(
        name, source, options, network_class, part=tower.part, spare=tower.spare
    )
    length = None
    if tower.full_length:
        length = int(checkpoint.model.config.max_position_embeddings)
    vectors = tower.vectors(checkpoint.model)
    return BatchEncoder(
        name,
        checkpoint,
        vectors,
        options,
        pooling=tower.pooling,
        padded_to=length,
    )


def _beside_a_blank(network: Any) -> Reader:
    """ViLT's first token."""
    return lambda ids: vilt_states(network, ids, vilt_blank(network))[:, 0]


def _pooler_output(network: Any) -> Reader:
    """CLIP's state at the end-of-text token after the last layer norm (Radford et al. 2021, section
    2.4), before the projection into the space of pictures; SigLIP's head on the last position."""
    return lambda ids: network(input_ids=ids).pooler_output


# CLIP and SigLIP need every weight: their vectors come from a head, not from a state below it.
_CLIP = TextTower("CLIPTextModel", _pooler_output, "end-of-text", spare=())
_SIGLIP = TextTower(
    "SiglipTextModel",
    _pooler_output,
    "last-position",
    spare=(),
    full_length=True,
)

TOWERS = {
    "clip": _CLIP,
    "clip_text_model": _CLIP,
    "flava": TextTower(
        "FlavaModel", lambda network: first_token(network.text_model), "first", part="text_model"
    ),
    # half of its weights see, and are never read
    "lxmert": TextTower(
        "LxmertModel",
        lambda network: lambda ids: lxmert_language(network, ids)[:, 0],
        "first-language",
        spare=("pooler", "visn", "r_layers"),
    ),
    "siglip": _SIGLIP,
    "siglip_text_model": _SIGLIP,
    "vilt": TextTower("ViltModel", _beside_a_blank, "first-blank"),
    "visual_bert": TextTower("VisualBertModel", first_token, "first"),
}
"""By the model type in a configuration."""
