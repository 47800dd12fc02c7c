"""Encoders by name: models that turn texts into vectors, for linear probes and categories.

A name is a model's, as everywhere (catalogue, folder, GGUF file, Hub id, the prefix of a plug-in);
its config.json says how texts are read. `clip-bert:BERT+CLIP` builds CLIP-BERT from two models,
`clip-bert-implicit:FOLDER` reads one without imagination.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.options import ModelOptions
from seesay.models.source import ModelSource, is_clip_bert

__all__ = ["load_encoder"]


def load_encoder(name: str, options: ModelOptions | None = None) -> Model:
    """Load the encoder behind a model's name."""
    return ModelSource.parse(name, options or ModelOptions()).load_encoder()


def load_source(name: str, source: str | Path, options: ModelOptions) -> Model:
    """The encoder in a folder or on the hub, by the architecture that its configuration names."""
    from seesay.models.hf.loading import read_config

    config = read_config(name, source, options)
    from seesay.models.encoders import clip_bert, sentence, text_towers

    if config.model_type in text_towers.TOWERS:
        return text_towers.load_tower(
            name,
            source,
            options,
            text_towers.TOWERS[config.model_type],
        )
    if is_clip_bert(config):
        return clip_bert.load_clip_bert(name, str(source), "", options, imagine=True)
    # a sentence encoder is a text model by its configuration: other files tell how it pools
    steps = sentence.steps_of(name, source, options)
    if steps is not None:
        return sentence.load_sentence(name, source, options, config, steps)
    return _load_text(name, source, options, config)


def _load_text(
    name: str,
    source: str | Path,
    options: ModelOptions,
    config: Any,
) -> Model:
    """A model of text, of the family that its configuration names unless the user says which: a
    causal one is read at its last token, which has seen all others, a masked one and the encoder of
    an encoder-decoder at the first."""
    from transformers import AutoModel

    from seesay.models.encoders.base import BatchEncoder, encoder_class, load_complete
    from seesay.models.hf.encoding import first_token, first_token_layers
    from seesay.models.hf.families import family_of, load_language_model

    try:
        family = options.family or family_of(name, config)
    except UserError as error:
        raise UserError(
            f"'{name}' is a {config.model_type}, whose texts seesay cannot encode: use a text "
            "model, CLIP, SigLIP, FLAVA, ViLT, VisualBERT, LXMERT or CLIP-BERT."
        ) from error
    if family == "causal":
        model = load_language_model(name, source, options, config)
        # the vectors of a model are another thing than its answers, and so is their fingerprint
        model.fingerprint += "-last"
        return model
    if family == "encoder-decoder":  # the decoder's weights may be absent
        network_class = encoder_class(config)
        checkpoint = load_complete(
            name, source, options, network_class, spare=("decoder", "lm_head")
        )
        if network_class is AutoModel:
            network = checkpoint.model.get_encoder()
        else:
            network = checkpoint.model
    else:  # neither a language-model head nor a pooler is needed
        checkpoint = load_complete(name, source, options, AutoModel, spare=("pooler",))
        network = checkpoint.model
    layers = first_token_layers(network) if family == "masked" else None
    return BatchEncoder(
        name, checkpoint, first_token(network), options, pooling="first", layers=layers
    )
