"""Models by name: what a name may be is said in `seesay.models.source`."""

from __future__ import annotations

from seesay.errors import UserError
from seesay.models.base import FilledScores, Model, TokenScores
from seesay.models.options import ModelOptions, Scope
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
        model = through_chat(model, options.system)
    if options.scope == Scope.REST:
        _refuse_other_scope(model)
    return model


def _refuse_other_scope(model: Model) -> None:
    """Refuse a model that would be asked in another way than with `--scope rest`."""
    from seesay.models.baselines import Baseline

    # A baseline reads no text.
    if model.scope != Scope.REST and not isinstance(model, Baseline):
        raise UserError(
            f"'{model.name}' does not score what follows an option: --scope rest is for causal "
            "models and servers that complete texts."
        )


def through_chat(model: Model, system: str | None = None) -> Model:
    """Return the model, asked through its chat template. A baseline reads no text, so it stays as
    it is."""
    from seesay.models.baselines import Baseline

    if isinstance(model, Baseline):
        return model
    if model.scope == Scope.REST:
        raise UserError(
            f"In a chat '{model.name}' scores its reply, and nothing follows it: leave out --scope "
            "rest."
        )
    return model if model.chat is not None else model.through_chat(system)
