"""Models by name. A name is one of, in this order: a prefix (`baseline:uniform`, `openai:MODEL`, one that another
package adds), a catalogue name (`smollm2`), a GGUF or ARPA file, a folder, a Hub id."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from seesay.errors import UserError
from seesay.models.base import CanAnswer, CanEncode, CanScore, TokenScores
from seesay.models.hf.loading import Options
from seesay.registry import Registry, unknown

__all__ = ["MODELS", "CanAnswer", "CanEncode", "CanScore", "Options", "TokenScores", "load_model", "locate"]

Loader = Callable[[str, Options], CanAnswer]

MODELS: Registry[Loader] = Registry(
    kind="model",
    builtin={
        "arpa": "seesay.models.words.arpa:load_arpa",
        "baseline": "seesay.models.baselines:load_baseline",
        "lstm": "seesay.models.words.lstm:load_lstm",
        "mock": "seesay.models.baselines:load_mock",
        "openai": "seesay.models.server.loading:load_server",
        "openai-vision": "seesay.models.server.vision:load_vision_server",
        "reasoner": "seesay.reasoners.model:load_reasoner",
        "vision": "seesay.models.vision.vision_language:load_vision",
    },
    group="seesay.models",
    listing="seesay models",
)

OURS = {"seesay-lstm": "lstm", "seesay-reasoner": "reasoner"}
"""What the configuration of a folder that we trained says, and the prefix that loads it."""


def load_model(name: str, options: Options | None = None) -> CanAnswer:
    """The model behind a name, ready to answer."""
    return locate(name, options or Options())()


def locate(name: str, options: Options) -> Callable[[], CanAnswer]:
    """What loads the model behind a name; a name that cannot be one is refused now, not when its turn comes."""
    from seesay.models.catalogue import CATALOGUE, load_entry
    from seesay.models.hf.loading import load_gguf, load_transformers, model_type

    prefix, _, rest = name.partition(":")
    if prefix in MODELS.names():
        return lambda: MODELS.load(prefix)(rest, options)
    if name in CATALOGUE:
        return lambda: load_entry(CATALOGUE[name], options)
    path = Path(name).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise UserError(f"There is no file '{name}'.")
        return lambda: load_gguf(name, path, options)
    if path.name.endswith((".arpa", ".arpa.gz")):
        return lambda: MODELS.load("arpa")(name, options)
    if path.is_dir() and (kind := model_type(path)) in OURS:
        return lambda: MODELS.load(OURS[kind])(str(Path(name)), options)  # ./model and model/ are one model
    if path.is_dir():
        return lambda: load_transformers(str(Path(name)), path, options)
    if name.startswith((".", "/", "~")) or path.is_file():
        raise UserError(
            f"'{name}' is {'not a model' if path.is_file() else 'no folder'}: give a model's folder, GGUF or ARPA file."
        )
    if "://" in name:
        raise UserError(f"A server is named by its model: seesay probe openai:MODEL --base-url {name}")
    if ":" in name or name.count("/") > 1:
        known = [*(f"{prefix}:" for prefix in MODELS.names()), *CATALOGUE]
        raise unknown("model", name, known, MODELS.listing)
    return lambda: load_transformers(name, name, options)
