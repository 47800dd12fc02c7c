"""The three families of transformers' language models, and which of them a configuration stands
for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.errors import UserError
from seesay.models.hf.checkpoint_keys import refuse_missing
from seesay.models.hf.loading import Checkpoint, load_checkpoint
from seesay.models.options import Family, ModelOptions

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

    from seesay.models.base import Model
    from seesay.models.hf.adapters import Adapter

HEADS = {
    Family.MASKED: "AutoModelForMaskedLM",
    Family.CAUSAL: "AutoModelForCausalLM",
    Family.ENCODER_DECODER: "AutoModelForSeq2SeqLM",
}
"""The classes of transformers that have a language-model head."""


def load_language_model(
    name: str,
    source: str | Path,
    options: ModelOptions,
    config: PreTrainedConfig,
    adapter: Adapter | None = None,
) -> Model:
    """A masked, causal or encoder-decoder model, as its configuration says unless the user names
    the family; with an adapter, if any, merged into it."""
    import transformers

    from seesay.models.hf.packed import pack_linear_layers

    family = Family(options.family) if options.family else family_of(name, config)
    network_class: Any = getattr(transformers, HEADS[family])
    checkpoint = load_checkpoint(name, source, options, network_class)
    refuse_missing(name, checkpoint.missing, family)
    if adapter is not None:
        checkpoint = adapter.merge(name, checkpoint, options)
    if family != Family.ENCODER_DECODER:  # whose head may yet be tuned
        pack_linear_layers(checkpoint.model)
    return language_model(name, checkpoint, family, options)


def language_model(
    name: str, checkpoint: Checkpoint, family: Family, options: ModelOptions
) -> Model:
    """Return a network and its tokeniser as a model of this family."""
    if family == Family.MASKED:
        from seesay.models.hf.masked import MaskedModel

        return MaskedModel(name, checkpoint, batch_size=options.batch_size)
    if family == Family.ENCODER_DECODER:
        from seesay.models.hf.seq2seq import EncoderDecoderModel

        return EncoderDecoderModel(
            name, checkpoint, style=options.style, batch_size=options.batch_size
        )
    from seesay.models.hf.causal import TransformersCausalModel

    return TransformersCausalModel(
        name, checkpoint, scope=options.scope, batch_size=options.batch_size
    )


def family_of(name: str, config: PreTrainedConfig) -> Family:
    """The family that a configuration stands for."""
    from transformers.models.auto import modeling_auto as auto

    if config.is_encoder_decoder:
        return Family.ENCODER_DECODER
    # What was saved says more than the type: a BERT may have been trained to write.
    architecture = (config.architectures or [""])[0]
    if architecture.endswith(("ForMaskedLM", "ForPreTraining")):
        return Family.MASKED
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return Family.CAUSAL
    if config.model_type in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return Family.MASKED
    if config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return Family.CAUSAL
    raise UserError(
        f"'{name}' is a {config.model_type} ({architecture or 'no architecture named'}), which "
        f"cannot fill a slot; if it can, say how with --family {' | '.join(Family)}."
    )
