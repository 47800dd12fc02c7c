"""Models by name. A name is one of, in this order: a prefix (`baseline:uniform`, `openai:MODEL`,
one that another package adds; bare, as in `mock`, only where no folder has that name), a catalogue
name (`smollm2`), a GGUF or ARPA file, a folder, a Hub id."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from seesay.errors import UserError
from seesay.models.base import FilledScores, Model, TokenScores
from seesay.models.options import ModelOptions
from seesay.plugins import collect
from seesay.registry import Registry, did_you_mean, unknown

__all__ = [
    "MODELS",
    "FilledScores",
    "Model",
    "ModelOptions",
    "TokenScores",
    "load_model",
    "locate",
    "through_chat",
]

Loader = Callable[[str, ModelOptions], Model]

MODELS: Registry[Loader] = Registry(
    kind="model",
    core={
        "answers": "seesay.probes.stored:load_stored",
        "baseline": "seesay.models.baselines:load_baseline",
        "clip-bert": "seesay.models.encoders.clip_bert_masked:load_explicit",
        "clip-bert-implicit": "seesay.models.encoders.clip_bert_masked:load_implicit",
        "mock": "seesay.models.baselines:load_mock",
        "openai": "seesay.models.server:load_server",
        "openai-vision": "seesay.models.server:load_vision_server",
        "vision": "seesay.models.vision:load_vision",
        "vllm": "seesay.models.vllm:load_vllm",
    },
    brought=lambda plugin: plugin.models,
    listing="seesay models",
)

_ALMOST = 0.75
CHAT_SUFFIX = " · chat"


def load_model(name: str, options: ModelOptions | None = None) -> Model:
    """The model behind a name, ready to answer."""
    options = options or ModelOptions()
    model = locate(name, options)()
    if options.chat:
        return through_chat(model, options.system)
    return model


def through_chat(model: Model, system: str | None = None) -> Model:
    """The model, asked through its chat template, and named so. A baseline reads no text, so it
    stays as it is."""
    from seesay.models.baselines import Baseline

    if isinstance(model, Baseline):
        return model
    chatting = model if model.chat is not None else model.through_chat(system)
    if not chatting.name.endswith(CHAT_SUFFIX):
        chatting.name += CHAT_SUFFIX
    return chatting


def has_prefix(name: str) -> bool:
    """Whether a name begins with a prefix of MODELS; a bare one is a folder's name where there is
    such a folder."""
    prefix, colon, _ = name.partition(":")
    return prefix in MODELS.names() and bool(colon or not Path(name).expanduser().is_dir())


def locate(name: str, options: ModelOptions) -> Callable[[], Model]:
    """A function that loads the model behind a name; a name that cannot be a model's is refused at
    once."""
    from seesay.models.catalogue import CATALOGUE
    from seesay.models.files import model_type
    from seesay.models.libraries import device_of, require_models
    from seesay.models.source import find_files, load_transformers

    prefix, colon, rest = name.partition(":")
    path = Path(name).expanduser()
    if has_prefix(name):
        return lambda: _load(prefix, rest, options)
    if options.device not in ("auto", "cpu"):  # refused before anything is fetched
        require_models()
        device_of(options.device)

    def load_files() -> Model:
        return load_transformers(*find_files(name, options), options)

    if name in CATALOGUE:
        return load_files
    if path.suffix == ".gguf":
        if not path.is_file():
            raise UserError(f"There is no file '{name}'.")
        return load_files
    prefixes_by_ending = collect(lambda plugin: plugin.model_files).items()
    file_prefix = next(
        (prefix for ending, prefix in prefixes_by_ending if path.name.endswith(ending)), None
    )
    if file_prefix is not None:
        return lambda: _load(file_prefix, name, options)
    prefixes_by_type = collect(lambda plugin: plugin.model_folders)
    if path.is_dir():
        folder_prefix = prefixes_by_type.get(model_type(path) or "")
    else:
        folder_prefix = None
    if folder_prefix is not None:
        # ./model and model/ are one model
        return lambda: _load(folder_prefix, str(Path(name)), options)
    if path.is_dir():
        return load_files
    if name.startswith((".", "/", "~")) or path.is_file():
        wanted = "model" if path.is_file() else "folder"
        raise UserError(f"'{name}' is not a {wanted}: give a model's folder, GGUF or ARPA file.")
    if "://" in name:
        raise UserError(
            f"A server is named by its model: seesay probe openai:MODEL --base-url {name}"
        )
    if colon or name.count("/") > 1:
        raise unknown(
            "model",
            name,
            [*(f"{prefix}:" for prefix in MODELS.names()), *CATALOGUE],
            MODELS.listing,
        )
    if "/" not in name and (meant := did_you_mean(name, CATALOGUE, cutoff=_ALMOST)):
        raise UserError(
            f"There is no model '{name}'{meant}. `seesay models` lists the names; a Hub id is "
            "OWNER/NAME."
        )
    return load_files


def _load(prefix: str, rest: str, options: ModelOptions) -> Model:
    model: object = MODELS.load(prefix)(rest, options)
    if not isinstance(model, Model):
        raise UserError(
            f"The model '{prefix}:' of the package '{MODELS.package(prefix)}' does not subclass "
            "seesay.models.Model "
            f"(it is a {type(model).__name__}): update that package or uninstall it."
        )
    return model
