"""A model that is loaded when it is first asked, so that a finished run is shown without its
weights.

What a model states about itself follows from its name, the options and its files. It is remembered
together with the state of the files: their names, sizes and times, or on the hub the commit, for
which the hub is asked once. Where more than that matters (servers, models of other packages, code
of a repository), the model is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import seesay
from seesay import caches
from seesay.digests import json_digest
from seesay.errors import UserError
from seesay.files import read_json, write_json
from seesay.models import has_prefix, load_model
from seesay.models.base import ABILITIES, IDENTITY, Model
from seesay.models.catalogue import CATALOGUE
from seesay.models.hf.hub import hub_commit
from seesay.models.options import ModelOptions
from seesay.models.source import FEATURES
from seesay.models.wrapped import WrappedModel, identity_of
from seesay.questions import Task

NOT_SHAPING = ("engine", "workers")
SETS = ("accepts", "abilities")
"""Of what a model states, the sets, which are lists in JSON."""
WITHOUT_LOADING = ("prepare", "notes", "clear_notes")
"""What a model need not be loaded for."""


def load_when_asked(name: str, options: ModelOptions) -> Model:
    """The model behind a name: loaded now if nothing is remembered of it, else when it is first
    needed."""
    state = _state(name, options)
    if state is None:
        return load_model(name, options)
    shaping = {key: value for key, value in asdict(options).items() if key not in NOT_SHAPING}
    digest = json_digest([seesay.__version__, ABILITIES, name, shaping, state])
    path = caches.IDENTITIES.folder / f"{digest}.json"
    if (identity := _read(path)) is not None:
        return DeferredModel(identity, lambda: load_model(name, options), path)
    model = load_model(name, options)
    write_json(path, identity_of(model) | {field: sorted(getattr(model, field)) for field in SETS})
    return model


class DeferredModel(WrappedModel):
    """States what is remembered of a model, and loads it for everything else."""

    def __init__(self, identity: dict[str, Any], load: Callable[[], Model], path: Path) -> None:
        vars(self).update(identity | {field: frozenset(identity[field]) for field in SETS})
        self._load = load
        self._path = path
        self._loaded: Model | None = None
        self._task: Task | None = None

    def _forward(self, hook: str, *arguments: Any, **named: Any) -> Any:
        """As for any model; one that is not loaded has no notes, and is prepared when it is."""
        if self._loaded is None and hook in WITHOUT_LOADING:
            return ()
        if self._loaded is None:
            self._loaded = self._load_prepared()
        return getattr(self._loaded, hook)(*arguments, **named)

    def _load_prepared(self) -> Model:
        model = self._load()
        if model.fingerprint != self.fingerprint:
            self._path.unlink(missing_ok=True)
            raise UserError(
                f"'{self.name}' has changed since it was last asked: run the same command again."
            )
        if self._task is not None:
            model.prepare(self._task)
        return model

    def prepare(self, task: Task) -> None:
        """Prepare the model now, or when it is loaded."""
        self._task = task
        super().prepare(task)


def _state(name: str, options: ModelOptions) -> object:
    """What tells one state of the model's files from another; None where files do not tell
    everything."""
    if options.trust_remote_code or has_prefix(name):
        return None
    path = Path(name).expanduser()
    if name in CATALOGUE:
        entry = CATALOGUE[name]
        return (entry.hub and hub_commit(entry.hub, options.revision)) or entry.wheel.sha256
    if path.is_file():
        return _stat(path)
    if path.is_dir():
        config = path / "config.json"
        has_second_model = config.is_file() and FEATURES in config.read_text(errors="replace")
        if has_second_model:
            return None
        return [_stat(file) for file in sorted(path.iterdir()) if file.is_file()]
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
    if isinstance(identity, dict) and identity.keys() == set(IDENTITY):
        return identity
    return None
