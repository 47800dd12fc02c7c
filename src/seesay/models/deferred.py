"""A model that is loaded when it is first asked, so that a finished run is shown without its
weights.

What a model states about itself (its family, scope, abilities, chat template …) follows from its
files and the options, but through classes of transformers and of ours, which take PyTorch to
import. So it is written down when a model is first loaded, under a digest of the *contents* of its
files and of the options: other contents are another record, and none is ever stale. Where contents
do not tell everything (`ModelSource.fingerprint`), the model is loaded.
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
from seesay.models import load_model
from seesay.models.base import ABILITIES, IDENTITY, Model, plain_condition
from seesay.models.files import DIET, file_digest, is_diet
from seesay.models.options import ModelOptions
from seesay.models.source import Kind, ModelSource
from seesay.models.wrapped import WrappedModel, identity_of
from seesay.questions import Task

NOT_SHAPING = ("engine", "workers")
SETS = ("accepts", "abilities")
"""Of what a model states, the sets, which are lists in JSON."""
REMEMBERED = tuple(field for field in IDENTITY if field != "condition")
"""What is written down of a model: its condition follows from the other fields."""
WITHOUT_LOADING = ("prepare", "notes", "clear_notes")
"""What a model need not be loaded for."""


def load_when_asked(name: str, options: ModelOptions) -> Model:
    """The model behind a name: loaded now if nothing is remembered of it, else when it is first
    needed."""
    path = _record_path(ModelSource.parse(name, options))
    if path is None:
        return load_model(name, options)
    identity = _read(path)
    if identity is not None:
        return DeferredModel(identity, lambda: load_model(name, options), path)
    model = load_model(name, options)
    identity = identity_of(model)
    stored = {field: identity[field] for field in REMEMBERED}
    stored["diet"] = dict(model.diet)
    write_json(path, stored | {field: sorted(identity[field]) for field in SETS})
    return model


def _record_path(source: ModelSource) -> Path | None:
    """Where what a model states about itself is remembered; None where that cannot be."""
    fingerprint = source.fingerprint()
    if fingerprint is None:
        return None
    shaping = {
        key: value for key, value in asdict(source.options).items() if key not in NOT_SHAPING
    }
    identity = [seesay.__version__, ABILITIES, source.name, shaping, fingerprint]
    if source.kind is Kind.FOLDER:
        # A model states the digest of its chat template, which is no part of its fingerprint: a
        # model that is asked without it gives the same answers whatever it says.
        # What it was raised on is stated, too.
        folder = Path(source.place).expanduser()
        identity.append(file_digest([*folder.glob("*.jinja"), *folder.glob(DIET)]))
    return caches.IDENTITIES.folder / f"{json_digest(identity)}.json"


class DeferredModel(WrappedModel):
    """States what is remembered of a model, and loads it for everything else."""

    def __init__(
        self,
        identity: dict[str, Any],
        load: Callable[[], Model],
        path: Path,
    ) -> None:
        fields = dict(identity)
        for field in SETS:
            fields[field] = frozenset(identity[field])
        vars(self).update(fields)
        self.condition = plain_condition(self)
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
        # Files may change between being digested and being read; and weights of another type, on a
        # machine that has been given an accelerator, make another model.
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


def _read(path: Path) -> dict[str, Any] | None:
    """Read what is remembered; None where nothing is, or it is damaged."""
    try:
        identity = read_json(path)
    except (OSError, ValueError):
        return None
    if not isinstance(identity, dict) or identity.keys() != set(REMEMBERED):
        return None
    if not all(_fits(field, value) for field, value in identity.items()):
        return None
    return identity


def _fits(field: str, value: Any) -> bool:
    """Return whether a value has the type of what a model states in this field."""
    if field in SETS:
        return isinstance(value, list) and all(isinstance(member, str) for member in value)
    if field == "diet":
        return is_diet(value)
    if field == "parameters":
        return value is None or type(value) is int
    # fields without a default are texts, as are those that may be None
    default = getattr(Model, field, "")
    if default is None:
        return value is None or isinstance(value, str)
    return type(value) is type(default)
