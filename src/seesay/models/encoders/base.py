"""What all encoders share: texts become tokens, are read in batches of one length, and give one float32 row each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.models.base import Model
from seesay.models.batches import halve_until_it_fits
from seesay.models.hf.checkpoint_keys import note_unused, refuse_missing
from seesay.models.hf.encoding import Reader, Vectors, encode_texts
from seesay.models.hf.loading import Checkpoint, load_checkpoint

if TYPE_CHECKING:
    from seesay.models.options import ModelOptions

DEFAULT_BUDGET = 2048


class BatchEncoder(Model):
    """An encoder made of a tokenizer and a function from token ids, all of one length, to vectors.

    No batch holds padding, so no architecture can let it leak into a vector, and the batch size changes nothing.
    """

    family = "encoder"

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
        self.name, self.fingerprint = name, f"{checkpoint.fingerprint}-{pooling}"
        self._network, self._tokenizer, self._vectors = checkpoint.model, checkpoint.tokenizer, vectors
        self._layers = layers
        self._padding: dict[str, Any] = {"padding": "max_length", "max_length": padded_to} if padded_to else {}
        self._budget = options.batch_size or DEFAULT_BUDGET
        note_unused(self, name, checkpoint.unused)

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self._encode(self._vectors, texts)

    def encode_layers(self, texts: Sequence[str]) -> Vectors:
        if self._layers is None:
            raise self._cannot("encode texts layer by layer")
        return self._encode(self._layers, texts)

    def _encode(self, vectors: Reader, texts: Sequence[str]) -> Vectors:
        rows, self._budget = halve_until_it_fits(
            lambda budget: encode_texts(
                self.name, self._network, self._tokenizer, vectors, texts, budget, **self._padding
            ),
            self._budget,
        )
        return rows


def load_complete(
    name: str, source: str | Path, options: ModelOptions, network_class: Any, part: str = "", spare: Sequence[str] = ()
) -> Checkpoint:
    """A checkpoint that lacks none of the weights its vectors need: those under `part`, except `spare` ones."""
    checkpoint = load_checkpoint(name, source, options, network_class)
    missing = [key for key in checkpoint.missing if key.startswith(part) and not any(word in key for word in spare)]
    refuse_missing(name, missing)
    return checkpoint


def encoder_class(config: Any) -> Any:
    """T5 and its relatives have a class for the encoder alone; of the others the whole model is loaded."""
    from transformers import AutoModel, AutoModelForTextEncoding
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES as ALONE

    return AutoModelForTextEncoding if config.model_type in ALONE else AutoModel
