"""What all encoders share: texts become tokens, are read in batches of one length, and give one
float32 row each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.models.base import Model
from seesay.models.hf.base import TransformersModel, Vectors
from seesay.models.hf.checkpoint_keys import refuse_missing
from seesay.models.hf.encoding import Reader
from seesay.models.hf.loading import Checkpoint, load_checkpoint
from seesay.models.hf.packed import pack_linear_layers

if TYPE_CHECKING:
    from seesay.models.options import ModelOptions


class BatchEncoder(TransformersModel):
    """An encoder made of a tokenizer and a function from token ids, all of one length, to vectors.

    No batch holds padding, so no architecture can let it leak into a vector, and the batch size
    changes nothing.
    """

    family = "encoder"
    default_budget = 2048
    needs_offsets = False  # only whole texts are read
    pieces = Model.pieces

    def __init__(
        self,
        name: str,
        checkpoint: Checkpoint,
        vectors: Reader,
        options: ModelOptions,
        *,
        pooling: str,
        padded_to: int | None = None,
        layers: Reader | None = None,
    ) -> None:
        super().__init__(name, checkpoint, batch_size=options.batch_size)
        # vectors of one network that are pooled otherwise are other vectors
        self.fingerprint += f"-{pooling}"
        self._vectors = vectors
        self._layers = layers
        if padded_to:
            self._padding: dict[str, Any] = {"padding": "max_length", "max_length": padded_to}
        else:
            self._padding = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self._encode(texts, self._vectors, **self._padding)

    def encode_layers(self, texts: Sequence[str]) -> Vectors:
        if self._layers is None:
            raise self._cannot("encode texts layer by layer")
        return self._encode(texts, self._layers)


def load_complete(
    name: str,
    source: str | Path,
    options: ModelOptions,
    network_class: Any,
    part: str = "",
    spare: Sequence[str] = (),
) -> Checkpoint:
    """A checkpoint that lacks none of the weights its vectors need: those under `part`, except
    `spare` ones."""
    checkpoint = load_checkpoint(name, source, options, network_class)
    missing = [key for key in checkpoint.missing if key.startswith(part)]
    # a head that reads the vectors, which are taken below it, may be absent
    for word in spare:
        missing = [key for key in missing if word not in key]
    refuse_missing(name, missing)
    pack_linear_layers(checkpoint.model)
    return checkpoint


def encoder_class(config: Any) -> Any:
    """T5 and its relatives have a class for the encoder alone; of the others the whole model is
    loaded."""
    from transformers import AutoModel, AutoModelForTextEncoding
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES as ALONE,
    )

    if config.model_type in ALONE:
        return AutoModelForTextEncoding
    return AutoModel
