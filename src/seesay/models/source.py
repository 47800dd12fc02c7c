"""Models by name, and from a model's files to the module that reads them.

A name is one of, in this order: a prefix (`baseline:uniform`, `openai:MODEL`, one that another
package adds; bare, as in `mock`, only where no folder has that name), a catalogue name (`smollm2`),
a GGUF file or one that another package reads, a folder, a Hub id, which may name a revision
(`EleutherAI/pythia-70m@step1000`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from seesay.errors import UserError, require_packages
from seesay.models.base import Model
from seesay.models.baselines import validate_baseline
from seesay.models.catalogue import CATALOGUE, source_of
from seesay.models.files import (
    TRAINING_RESULT,
    file_digest,
    learnt_nothing,
    model_type,
    read_diet,
)
from seesay.models.hf.adapters import Adapter
from seesay.models.hf.families import load_language_model
from seesay.models.hf.gguf import convert_gguf, converted_folder
from seesay.models.hf.hub import copied_config, hub_commit, refuse_unless_on_hub
from seesay.models.hf.loading import content_fingerprint, read_config
from seesay.models.libraries import device_of, require_models
from seesay.models.options import ModelOptions
from seesay.plugins import collect
from seesay.registry import Registry, did_you_mean, load_address, unknown

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

AT = "@"
"""What stands between a Hub id and a revision."""

IMAGINES = {"clip-bert": True, "clip-bert-implicit": False}
"""The prefixes of CLIP-BERT, and whether it imagines (Norlund et al. 2021 call the two ways
explicit and implicit)."""

FEATURES = "img_feature_dim"
"""What the configuration of a CLIP-BERT says beside what a BERT's says: the width of a picture's
features."""

# What lies above this module is named by its address, so that imports go in one direction.
CLIP_BERT = "seesay.models.encoders.clip_bert_masked:load_source"
CLIP_BERT_ENCODER = "seesay.models.encoders.clip_bert:load_clip_bert"
ENCODER = "seesay.models.encoders:load_source"
MULTIMODAL = "seesay.models.vision.masked:load_masked"

READERS = dict.fromkeys(("flava", "lxmert", "vilt", "visual_bert"), MULTIMODAL)
"""What loads models that fill slots and see more than text, by the model type in their
configuration."""

_CONFIGURATIONS = ("config.json", "adapter_config.json", "*/config.json", "*/adapter_config.json")
_SIMILAR = 0.75  # a name that is closer to one of the catalogue is taken for a misspelling of it


class Kind(StrEnum):
    """What a model's name stands for."""

    PREFIX = "prefix"
    CATALOGUE = "catalogue"
    GGUF = "gguf"
    PLUGIN_FILE = "plug-in file"
    PLUGIN_FOLDER = "plug-in folder"
    FOLDER = "folder"
    HUB = "hub"


@dataclass(frozen=True)
class ModelSource:
    """Where a model comes from. `name` is what its results carry; `place` is what follows its
    prefix, a path, or a Hub id; `prefix` is the entry of MODELS that loads it, None for files that
    transformers reads."""

    name: str
    kind: Kind
    place: str
    options: ModelOptions
    prefix: str | None = None

    @classmethod
    def parse(cls, name: str, options: ModelOptions) -> ModelSource:
        """Read a name; one that cannot be a model's is refused at once."""
        prefix, colon, rest = name.partition(":")
        path = Path(name).expanduser()
        if prefix in MODELS.names() and (colon or not path.is_dir()):
            return cls(name, Kind.PREFIX, rest, options, prefix)
        if options.device not in ("auto", "cpu"):  # refused before anything is fetched
            require_models()
            device_of(options.device)
        if name in CATALOGUE:
            return cls(name, Kind.CATALOGUE, name, options)
        if path.suffix == ".gguf":
            if not path.is_file():
                raise UserError(f"There is no file '{name}'.")
            return cls(name, Kind.GGUF, name, options)
        reader = _file_prefix(path)
        if reader is not None:
            return cls(name, Kind.PLUGIN_FILE, name, options, reader)
        if path.is_dir():
            place = str(Path(name))  # ./model and model/ are one model
            reader = _folder_prefix(path)
            kind = Kind.FOLDER if reader is None else Kind.PLUGIN_FOLDER
            return cls(place, kind, place, options, reader)
        hub_id, at, revision = name.partition(AT)
        _refuse_if_no_hub_id(hub_id, path)
        if at:
            if not revision or options.revision not in (None, revision):
                raise UserError(f"'{name}' names its revision after the {AT}: give no other one.")
            options = replace(options, revision=revision)
        return cls(name, Kind.HUB, hub_id, options)

    @property
    def revision(self) -> str | None:
        """The revision of a model on the hub; None for the newest."""
        return self.options.revision

    def load(self) -> Model:
        """Load the model, which fills slots, answers or scores.

        One that our training left as good as untrained notes it with every run.
        """
        model = self._load()
        folder = Path(self.place).expanduser()
        if diet := read_diet(folder):
            model.diet = diet
        if learnt_nothing(folder):
            model.note(
                f"{self.name} learnt nothing in its training: {folder / TRAINING_RESULT} says why.",
                lasting=True,
            )
        return model

    def _load(self) -> Model:
        if self.prefix is None:
            return load_transformers(self.name, self.fetch(), self.options)
        model: object = MODELS.load(self.prefix)(self.place, self.options)
        if not isinstance(model, Model):
            raise UserError(
                f"The model '{self.prefix}:' of the package '{MODELS.package(self.prefix)}' does "
                f"not subclass seesay.models.Model (it is a {type(model).__name__}): update that "
                "package or uninstall it."
            )
        return model

    def load_encoder(self) -> Model:
        """Load the model as an encoder, which turns texts into vectors."""
        self.validate_encoder()
        if self.kind is Kind.PREFIX and self.prefix in IMAGINES:
            bert, clip = split_clip_bert(self.name, self.place)
            imagine = IMAGINES[self.prefix]
            encoder = load_address(CLIP_BERT_ENCODER)(
                self.name, bert, clip, self.options, imagine=imagine
            )
        elif self.prefix is not None:
            encoder = self.load()
            if "encode" not in encoder.abilities:
                raise _cannot_encode(encoder.name)
        else:
            encoder = load_address(ENCODER)(self.name, self.fetch(), self.options)
        model: Model = encoder
        return model

    def validate(self) -> None:
        """Refuse a name that is known to stand for no model before anything is loaded."""
        if self.kind is Kind.HUB:
            require_packages("A local model", "models", "huggingface_hub")
            refuse_unless_on_hub(self.place, self.revision)
        elif self.kind is Kind.FOLDER:
            folder = Path(self.place)
            # checkpoints of a training lie below its folder
            if not any(any(folder.glob(pattern)) for pattern in _CONFIGURATIONS):
                raise UserError(
                    f"The folder '{self.name}' holds no config.json: it is not a transformers "
                    "model."
                )
        elif self.prefix == "baseline":
            validate_baseline(self.place)

    def validate_encoder(self) -> None:
        """Refuse a model that is known to be no encoder before it is loaded."""
        if self.kind is not Kind.PREFIX:
            return
        if self.prefix in IMAGINES:
            require_models()
            split_clip_bert(self.name, self.place)
        elif self.prefix in MODELS.ours:
            raise _cannot_encode(self.name)

    def fetch(self) -> str | Path:
        """Return the folder or Hub id with the model's files; what is packed is unpacked first."""
        path = Path(self.place).expanduser()
        if self.kind is Kind.CATALOGUE:
            return source_of(CATALOGUE[self.place], self.options)
        if self.kind is Kind.GGUF:
            return convert_gguf(path)
        if self.kind is Kind.HUB:
            return self.place
        return path

    def fingerprint(self) -> str | None:
        """Return what the model's fingerprint will be, without loading it: a digest of its files'
        contents, or the commit on the hub, which is asked once. The type of weights that are not
        float32 is added when they are loaded, since it may depend on the device.

        None where files on this machine do not tell everything: behind a prefix, with code of a
        repository, for a CLIP-BERT, which imagines with a second model, and for files that have
        not been fetched or converted yet.
        """
        if self.kind is Kind.PREFIX or self.options.trust_remote_code:
            return None
        if self.kind is Kind.HUB:
            return self._hub_fingerprint()
        path = Path(self.place).expanduser()
        if self.kind is Kind.CATALOGUE:
            path = CATALOGUE[self.place].path
        return _files_fingerprint(path, self.prefix)

    def _hub_fingerprint(self) -> str | None:
        commit = hub_commit(self.place, self.revision)
        config = copied_config(self.place, self.revision)
        if config is not None and _has_second_model(config):
            return None
        return commit


def _files_fingerprint(path: Path, prefix: str | None) -> str | None:
    """Return the fingerprint of a file or a folder on this machine."""
    if prefix is not None:
        # which files of its folder another package's model reads is not known here
        files = path.iterdir() if path.is_dir() else [path]
        return file_digest(file for file in files if file.is_file())
    folder = converted_folder(path) if path.is_file() else path
    config = folder / "config.json"
    if not config.is_file() or _has_second_model(config):
        return None
    return content_fingerprint(folder, None)


def _has_second_model(config: Path) -> bool:
    # by its text, so that a configuration that is no JSON is left to the loader's sentence
    return FEATURES in config.read_text(errors="replace")


def _file_prefix(path: Path) -> str | None:
    """Return the prefix of the package that reads files with such an ending."""
    for ending, prefix in collect(lambda plugin: plugin.model_files).items():
        if path.name.endswith(ending):
            return prefix
    return None


def _folder_prefix(folder: Path) -> str | None:
    """Return the prefix of the package that reads folders of this model type."""
    prefixes = collect(lambda plugin: plugin.model_folders)
    return prefixes.get(model_type(folder) or "")


def _refuse_if_no_hub_id(name: str, path: Path) -> None:
    """Refuse a name that is neither here nor could be on the hub, in a sentence that says why."""
    if name.startswith((".", "/", "~")) or path.is_file():
        expected = "model" if path.is_file() else "folder"
        raise UserError(f"'{name}' is not a {expected}: give a model's folder, GGUF or ARPA file.")
    if "://" in name:
        raise UserError(
            f"A server is named by its model: seesay probe openai:MODEL --base-url {name}"
        )
    if ":" in name or name.count("/") > 1:
        prefixes = [f"{prefix}:" for prefix in MODELS.names()]
        raise unknown("model", name, [*prefixes, *CATALOGUE], MODELS.listing)
    suggestion = did_you_mean(name, CATALOGUE, cutoff=_SIMILAR)
    if suggestion and "/" not in name:
        raise UserError(
            f"There is no model '{name}'{suggestion}. `seesay models` lists the names; a Hub id is "
            "OWNER/NAME."
        )


def _cannot_encode(name: str) -> UserError:
    return UserError(
        f"'{name}' cannot encode texts: give a catalogue name, a model's folder or a Hub id."
    )


def split_clip_bert(name: str, place: str) -> tuple[str, str]:
    """Return the parts of what follows a prefix of CLIP-BERT: a checkpoint and nothing, or a BERT
    and a CLIP. A folder's own name may hold a `+`."""
    marks = [i for i, char in enumerate(place) if char == "+"]
    if not marks or _is_folder(place):
        splits = [(place, "")]
    else:
        splits = [(place[:i], place[i + 1 :]) for i in marks]
    # of several ways to split, the one into two folders that there are
    bert, clip = next((pair for pair in splits if all(map(_is_folder, pair))), splits[0])
    if not bert or (marks and not clip and not _is_folder(place)):
        raise UserError(
            f"'{name}' needs a checkpoint or two models: clip-bert:FOLDER or clip-bert:BERT+CLIP."
        )
    for part in filter(None, (bert, clip)):
        if part.startswith((".", "/", "~")) and not _is_folder(part):
            raise UserError(f"'{part}' is not a folder: give the folder of a model, or a Hub id.")
    return bert, clip


def _is_folder(place: str) -> bool:
    return bool(place) and Path(place).expanduser().is_dir()


def load_transformers(name: str, source: str | Path, options: ModelOptions) -> Model:
    """Load the model in a folder or on the hub with the module that reads its architecture."""
    adapter = Adapter.find(name, source)
    if adapter is not None:
        source, options = adapter.base, adapter.base_options(options)
    config = read_config(name, source, options)
    reader = CLIP_BERT if is_clip_bert(config) else READERS.get(config.model_type)
    if reader is None:
        return load_language_model(name, source, options, config, adapter)
    if adapter is not None:
        raise UserError(f"'{name}' is an adapter of '{source}', which is no language model.")
    model: Model = load_address(reader)(name, source, options, config)
    return model


def is_clip_bert(config: Any) -> bool:
    """Whether a configuration describes a CLIP-BERT, which calls itself a BERT."""
    return config.model_type == "bert" and hasattr(config, FEATURES)
