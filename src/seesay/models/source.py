"""From a model's files to the module that reads them: their configuration says which."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.models.catalogue import CATALOGUE, source_of
from seesay.models.hf.families import load_language_model
from seesay.models.hf.gguf import convert_gguf
from seesay.models.hf.loading import read_config
from seesay.models.options import ModelOptions
from seesay.registry import load_address

if TYPE_CHECKING:
    from seesay.models.base import Model

FEATURES = "img_feature_dim"
"""What the configuration of a CLIP-BERT says beside what a BERT's says: the width of a picture's
features."""

MULTIMODAL = "seesay.models.vision.masked:load_masked"
CLIP_BERT = "seesay.models.encoders.clip_bert_masked:load_source"

READERS = dict.fromkeys(("flava", "lxmert", "vilt", "visual_bert"), MULTIMODAL)
"""What loads models that fill slots and see more than text, by the model type in their
configuration."""


def find_files(name: str, options: ModelOptions) -> tuple[str, str | Path]:
    """The name that a model's results carry, and its folder or Hub id; what is packed is unpacked
    first."""
    path = Path(name).expanduser()
    if name in CATALOGUE:
        return name, source_of(CATALOGUE[name], options)
    if path.suffix == ".gguf":
        return name, convert_gguf(path)
    if path.is_dir():
        return str(Path(name)), path  # ./model and model/ are one model
    return name, name


def load_transformers(name: str, source: str | Path, options: ModelOptions) -> Model:
    """The model in a folder or on the hub."""
    config = read_config(name, source, options)
    reader = CLIP_BERT if is_clip_bert(config) else READERS.get(config.model_type)
    if reader is None:
        return load_language_model(name, source, options, config)
    model: Model = load_address(reader)(name, source, options, config)
    return model


def is_clip_bert(config: Any) -> bool:
    """Whether a configuration describes a CLIP-BERT, which calls itself a BERT."""
    return config.model_type == "bert" and hasattr(config, FEATURES)
