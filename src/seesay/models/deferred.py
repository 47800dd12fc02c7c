"""A model that is loaded when it is first asked, so that a finished run is shown without its weights.

What a model states about itself follows from its name, the options and its files. It is remembered together with the
state of the files: their names, sizes and times, or on the hub the commit, for which the hub is asked once. Where more
than that matters (servers, models of other packages, code of a repository), the model is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import seesay
from seesay.errors import UserError
from seesay.files import checksum, write_json
from seesay.folders import cache_folder
from seesay.models import MODELS, load_model
from seesay.models.base import ABILITIES, GREEDY, IDENTITY, FilledScores, Model, Reply, Sampling, TokenScores
from seesay.models.catalogue import CATALOGUE
from seesay.models.hf.hub import hub_commit
from seesay.models.options import ModelOptions
from seesay.questions import Prompt, Scores, Task

NOT_SHAPING = ("engine", "workers")
IMAGINED = "img_feature_dim"  # in the configuration of a CLIP-BERT, which has a second model


def load_when_asked(name: str, options: ModelOptions) -> Model:
    """The model behind a name: loaded now if nothing is remembered of it, else when it is first needed."""
    state = _state(name, options)
    if state is None:
        return load_model(name, options)
    shaping = {key: value for key, value in asdict(options).items() if key not in NOT_SHAPING}
    digest = checksum(json.dumps([seesay.__version__, ABILITIES, name, shaping, state]).encode())
    path = cache_folder() / "identities" / f"{digest}.json"
    if (identity := _read(path)) is not None:
        return DeferredModel(identity, lambda: load_model(name, options), path)
    model = load_model(name, options)
    stated = {field: getattr(model, field) for field in IDENTITY}
    write_json(path, {**stated, "accepts": sorted(model.accepts), "abilities": sorted(model.abilities)})
    return model


class DeferredModel(Model):
    """States what is remembered of a model, and delegates everything else to it."""

    def __init__(self, identity: dict[str, Any], load: Callable[[], Model], path: Path) -> None:
        vars(self).update({field: identity[field] for field in IDENTITY})
        self.accepts, self._abilities = frozenset(identity["accepts"]), frozenset(identity["abilities"])
        self._tasks: list[Task] = []  # shared by copies of this model, as is what `loaded` returns

        @cache
        def loaded() -> Model:
            model = load()
            if model.fingerprint != self.fingerprint:
                path.unlink(missing_ok=True)
                raise UserError(f"'{self.name}' has changed since it was last asked: run the same command again.")
            if self._tasks:
                model.prepare(self._tasks[-1])
            return model

        self._model = loaded

    def _is_loaded(self) -> bool:
        return self._model.cache_info().currsize > 0

    @property
    def abilities(self) -> frozenset[str]:
        """Those that are remembered."""
        return self._abilities

    def through_chat(self, system: str | None = None) -> Model:
        """The model itself, through its chat template."""
        return self._model().through_chat(system)

    def prepare(self, task: Task) -> None:
        """Prepare the model now, or when it is loaded."""
        self._tasks.append(task)
        if self._is_loaded():
            self._model().prepare(task)

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """The model's own batches."""
        return self._model().plan(prompts)

    def estimate(self, prompts: Sequence[Prompt], max_tokens: int | None = None) -> str:
        """The model's own estimate."""
        return self._model().estimate(prompts, max_tokens)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The model's answers."""
        return self._model().answer(prompts)

    def answer_layers(self, prompts: Sequence[Prompt]) -> list[list[Scores]]:
        """The model's answers, layer by layer."""
        return self._model().answer_layers(prompts)

    def score(
        self, texts: Iterable[str], *, end: bool | None = None, stride: int | None = None
    ) -> Iterator[TokenScores]:
        """The model's scores."""
        return self._model().score(texts, end=end, stride=stride)

    def score_filled(self, gaps: Sequence[tuple[str, str]], words: Sequence[str]) -> FilledScores:
        """The model's scores."""
        return self._model().score_filled(gaps, words)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The model's vectors."""
        return self._model().encode(texts)

    def encode_layers(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The model's vectors, layer by layer."""
        return self._model().encode_layers(texts)

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY) -> list[tuple[Reply, ...]]:
        """The model's replies."""
        return self._model().generate(prompts, sampling)

    def knows(self, word: str) -> bool:
        """Whether the model knows the word."""
        return self._model().knows(word)

    def can_score(self, text: str) -> bool:
        """Whether the model can score the text."""
        return self._model().can_score(text)

    def pieces(self, words: Sequence[str]) -> list[int] | None:
        """The model's own pieces."""
        return self._model().pieces(words)

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """As the model describes it."""
        return self._model().describe_scoring(end, stride)

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """The model's own notes; one that is not loaded has none."""
        return [*super().notes(), *(self._model().notes(answered) if self._is_loaded() else ())]

    def clear_notes(self) -> None:
        """Forget the model's, too."""
        super().clear_notes()
        if self._is_loaded():
            self._model().clear_notes()


def _state(name: str, options: ModelOptions) -> object:
    """What tells one state of the model's files from another; None where files do not tell everything."""
    prefix, colon, _ = name.partition(":")
    path = Path(name).expanduser()
    if options.trust_remote_code or (prefix in MODELS.names() and (colon or not path.is_dir())):
        return None
    if name in CATALOGUE:
        entry = CATALOGUE[name]
        return (entry.hub and hub_commit(entry.hub, options.revision)) or entry.wheel.sha256
    if path.is_file():
        return _stat(path)
    if path.is_dir():
        imagines = (path / "config.json").is_file() and IMAGINED in (path / "config.json").read_text(errors="replace")
        return None if imagines else [_stat(file) for file in sorted(path.iterdir()) if file.is_file()]
    return hub_commit(name, options.revision) if "/" in name else None


def _stat(path: Path) -> tuple[str, int, int]:
    stat = path.stat()
    return path.name, stat.st_size, stat.st_mtime_ns


def _read(path: Path) -> dict[str, Any] | None:
    """What is remembered; None where nothing is, or it is damaged."""
    try:
        identity = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    fields = {*IDENTITY, "abilities"}
    return identity if isinstance(identity, dict) and identity.keys() == fields else None
