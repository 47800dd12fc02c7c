"""Models by name. A name is one of, in this order: a prefix (`baseline:uniform`, `openai:MODEL`, one that another
package adds), a catalogue name (`smollm2`), a GGUF file, a folder, a Hub id."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from seesay.models.loading import Options
from seesay.models.protocols import CanAnswer, CanEncode, CanScore, TokenScores
from seesay.questions import UserError
from seesay.registry import Registry, unknown

__all__ = ["MODELS", "CanAnswer", "CanEncode", "CanScore", "Options", "TokenScores", "load_model"]

Loader = Callable[[str, Options], CanAnswer]

MODELS: Registry[Loader] = Registry(
    kind="model",
    builtin={
        "baseline": "seesay.models.baselines:load_baseline",
        "mock": "seesay.models.baselines:load_mock",
        "openai": "seesay.models.server:load_server",
        "openai-vision": "seesay.models.vision_server:load_vision_server",
        "vision": "seesay.models.vision:load_vision",
    },
    group="seesay.models",
    listing="seesay models",
)


def load_model(name: str, options: Options | None = None) -> CanAnswer:
    """The model behind a name, ready to answer."""
    from seesay.models.catalogue import CATALOGUE, load_entry
    from seesay.models.loading import load_gguf, load_transformers

    options = options or Options()
    prefix, _, rest = name.partition(":")
    if prefix in MODELS.names():
        return MODELS.load(prefix)(rest, options)
    if name in CATALOGUE:
        return load_entry(CATALOGUE[name], options)
    path = Path(name).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise UserError(f"There is no file '{name}'.")
        return load_gguf(name, path, options)
    if path.is_dir():
        return load_transformers(name, path, options)
    if ":" in name or name.count("/") > 1 or name.startswith((".", "/", "~")):
        known = [*(f"{prefix}:" for prefix in MODELS.names()), *CATALOGUE]
        raise unknown("model", name, known, MODELS.listing)
    return load_transformers(name, name, options)
