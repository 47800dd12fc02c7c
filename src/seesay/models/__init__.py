"""Models by name: what a name may be is said in `seesay.models.source`."""

from __future__ import annotations

from seesay.models.base import FilledScores, Model, TokenScores
from seesay.models.options import ModelOptions
from seesay.models.source import MODELS, ModelSource

__all__ = [
    "MODELS",
    "FilledScores",
    "Model",
    "ModelOptions",
    "ModelSource",
    "TokenScores",
    "load_model",
    "through_chat",
]


def load_model(name: str, options: ModelOptions | None = None) -> Model:
    """The model behind a name, ready to answer."""
    options = options or ModelOptions()
    model = ModelSource.parse(name, options).load()
    if options.chat:
        return through_chat(model, options.system)
    return model


def through_chat(model: Model, system: str | None = None) -> Model:
    """Return the model, asked through its chat template. A baseline reads no text, so it stays as
    it is."""
    from seesay.models.baselines import Baseline

    if isinstance(model, Baseline):
        return model
    return model if model.chat is not None else model.through_chat(system)
