"""Encoders of text: masked models (first token), encoder-decoders (encoder, first token), causal ones (last token)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.encoders.base import BatchEncoder, first_token, load_complete
from seesay.models.hf.loading import family_of, load_transformers
from seesay.models.options import ModelOptions


def load_text(name: str, source: str | Path, options: ModelOptions, config: Any) -> Model:
    """A model of text, of the family that its configuration names unless the user says which."""
    from transformers import AutoModel

    try:
        family = options.family or family_of(name, config)
    except UserError as error:
        raise UserError(
            f"'{name}' is a {config.model_type}, whose texts seesay cannot encode: use a text model, CLIP, SigLIP, "
            "FLAVA, ViLT, VisualBERT, LXMERT or CLIP-BERT."
        ) from error
    if family == "causal":
        model = load_transformers(name, source, options)  # it encodes by its last token, which has seen all others
        model.fingerprint += "-last"
        return model
    if family == "encoder-decoder":  # the decoder's weights may be absent
        network_class = encoder_class(config)
        checkpoint = load_complete(name, source, options, network_class, spare=("decoder", "lm_head"))
        network = checkpoint.model.get_encoder() if network_class is AutoModel else checkpoint.model
    else:  # neither a language-model head nor a pooler is needed
        checkpoint = load_complete(name, source, options, AutoModel, spare=("pooler",))
        network = checkpoint.model
    return BatchEncoder(name, checkpoint, first_token(network), options, pooling="first")


def encoder_class(config: Any) -> Any:
    """T5 and its relatives have a class for the encoder alone; of the others the whole model is loaded."""
    from transformers import AutoModel, AutoModelForTextEncoding
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES as ALONE

    return AutoModelForTextEncoding if config.model_type in ALONE else AutoModel
