"""Vision-language models by folder or Hub id.

Code from a model's repository never runs, and weights come from safetensors, unless the user says
otherwise.
"""

from __future__ import annotations

from typing import Any

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.hf.checkpoint_keys import note_unused, refuse_missing
from seesay.models.hf.loading import (
    find_source,
    fingerprint,
    load_network,
    loading_error,
    read_config,
)
from seesay.models.options import ModelOptions
from seesay.models.vision.dual_encoder import DualEncoder
from seesay.models.vision.processor import Processor
from seesay.models.vision.similarity import DUAL_ENCODERS, SimilarityModel
from seesay.models.vision.vision_language import BlipModel, GenerativeModel, ViltModel, VisionModel


def load_vision(rest: str, options: ModelOptions) -> Model:
    """`vision:FOLDER` or `vision:HUB-ID`."""
    if not rest:
        raise UserError(
            "A vision-language model needs a folder or a Hub id: seesay probe vision:FOLDER."
        )
    source = find_source(rest, options.revision)
    from transformers import AutoModelForImageTextToText, AutoModelForVisualQuestionAnswering
    from transformers.models.auto import modeling_auto as auto

    name = f"vision:{rest}"
    config = read_config(rest, source, options)
    if config.model_type in DUAL_ENCODERS:
        encoder = DualEncoder(rest, options)
        return SimilarityModel(
            name, encoder, fingerprint(source, options, encoder.dtype), options.batch_size
        )
    # A BLIP may have been trained for captions or for questions: its type is the same, and the
    # name of its architecture tells.
    architecture = (config.architectures or [""])[0]
    wrapper: type[VisionModel] = GenerativeModel
    auto_class: Any = AutoModelForImageTextToText
    is_questioned = config.model_type in auto.MODEL_FOR_VISUAL_QUESTION_ANSWERING_MAPPING_NAMES
    if is_questioned and architecture.endswith("ForQuestionAnswering"):
        auto_class = AutoModelForVisualQuestionAnswering
        wrapper = {"blip": BlipModel, "vilt": ViltModel}.get(config.model_type, GenerativeModel)
    elif config.model_type not in auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
        raise UserError(
            f"'{rest}' is a {config.model_type} ({architecture or 'no architecture named'}), which "
            "answers no questions about pictures. For a model of text leave out 'vision:'."
        )
    network, missing, unused = load_network(rest, source, options, auto_class)
    refuse_missing(rest, missing)
    try:
        processor = Processor(source, config, options)
    except Exception as error:  # other people's files fail in more ways than can be listed
        raise loading_error(rest, source, options, error) from error
    model = wrapper(
        name, network, processor, fingerprint(source, options, network.dtype), options.batch_size
    )
    note_unused(model, rest, unused)
    return model
