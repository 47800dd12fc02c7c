"""A model that is loaded when it is first asked, so that a finished run is shown without its weights.

What a model states about itself follows from its name, the options and its files. It is remembered together with the
state of the files: their names, sizes and times, or on the hub the commit, for which the hub is asked once. Where more
than that matters (servers, models of other packages, code of a repository), the model is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import seesay
from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.files import read_json, write_json
from seesay.folders import cache_folder
from seesay.models import MODELS, load_model
from seesay.models.base import ABILITIES, IDENTITY, Model
from seesay.models.catalogue import CATALOGUE
from seesay.models.hf.hub import hub_commit
from seesay.models.options import ModelOptions
from seesay.questions import Scores, Task

NOT_SHAPING = ("engine", "workers")
IMAGINED = "img_feature_dim"  # in the configuration of a CLIP-BERT, which has a second model


def load_when_asked(name: str, options: ModelOptions) -> Model:
    """The model behind a name: loaded now if nothing is remembered of it, else when it is first needed."""
    state = _state(name, options)
    if state is None:
        return load_model(name, options)
    shaping = {key: value for key, value in asdict(options).items() if key not in NOT_SHAPING}
    digest = json_digest([seesay.__version__, ABILITIES, name, shaping, state])
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

    def prepare(self, task: Task) -> None:
        """Prepare the model now, or when it is loaded."""
        self._tasks.append(task)
        if self._is_loaded():
            self._model().prepare(task)

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """The model's own notes; one that is not loaded has none."""
        return [*super().notes(), *(self._model().notes(answered) if self._is_loaded() else ())]

    def clear_notes(self) -> None:
        """Forget the model's, too."""
        super().clear_notes()
        if self._is_loaded():
            self._model().clear_notes()


def _delegate(name: str) -> Callable[..., Any]:
    def method(self: DeferredModel, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._model(), name)(*args, **kwargs)

    return method


DELEGATED = ("plan", "estimate", "score_filled", "through_chat", "knows", "can_score", "pieces", "describe_scoring")
for _name in (*ABILITIES, *DELEGATED):
    setattr(DeferredModel, _name, _delegate(_name))


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
        identity = read_json(path)
    except (OSError, ValueError):
        return None
    fields = {*IDENTITY, "abilities"}
    return identity if isinstance(identity, dict) and identity.keys() == fields else None
