"""Encoders of text alone: masked models (first token), T5's kind (encoder, first token), causal ones (last token)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.encoders.base import BatchEncoder, Rows, complete, first_token
from seesay.models.hf.loading import family_of, load_transformers, open_model
from seesay.models.options import ModelOptions


def load_text(name: str, source: str | Path, options: ModelOptions, config: Any) -> Model:
    """A model of text, its family found out from its configuration unless the user says which."""
    try:
        family = options.family or family_of(name, config)
    except UserError as error:
        raise UserError(
            f"'{name}' is a {config.model_type}, whose texts seesay cannot encode: use a text model, CLIP, SigLIP, "
            "FLAVA, ViLT, VisualBERT, LXMERT or CLIP-BERT."
        ) from error
    if family == "causal":
        return LastToken(name, load_transformers(name, source, options))
    if family == "encoder-decoder":
        return load_encoder_half(name, source, options)
    return load_masked(name, source, options)


def load_masked(name: str, source: str | Path, options: ModelOptions) -> Model:
    """The state at the first token ([CLS], <s>). A checkpoint needs neither a language-model head nor a pooler."""
    from transformers import AutoModel

    opened = complete(name, open_model(name, source, options, lambda _: AutoModel), spare=("pooler",))
    return BatchEncoder(name, opened, first_token(opened.model), options, pooling="first")


def load_encoder_half(name: str, source: str | Path, options: ModelOptions) -> Model:
    """The encoder of an encoder-decoder, at the first token; the decoder's weights may be absent."""
    from transformers import AutoModel

    opened = complete(name, open_model(name, source, options, encoder_class), spare=("decoder", "lm_head"))
    encoder = opened.model.get_encoder() if encoder_class(opened.config) is AutoModel else opened.model
    return BatchEncoder(name, opened, first_token(encoder), options, pooling="first")


def encoder_class(config: Any) -> Any:
    """T5's kind has a class for its encoder alone; of the others the whole model is loaded."""
    from transformers import AutoModel, AutoModelForTextEncoding
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES as ALONE

    return AutoModelForTextEncoding if config.model_type in ALONE else AutoModel


class LastToken(Model):
    """A causal model seen as an encoder: only its last token has seen the whole text."""

    def __init__(self, name: str, model: Any) -> None:
        self.name, self.fingerprint, self._model = name, f"{model.fingerprint}-last", model

    def encode(self, texts: Any) -> Rows:
        """One row a text; beginnings that texts share are computed once."""
        rows: Rows = self._model.encode(texts)
        return rows
