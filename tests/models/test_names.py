"""Which model a name stands for: prefixes, folders, and what other packages bring."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models import MODELS, Model, ModelOptions, ModelSource, load_model
from seesay.models.baselines import Baseline
from seesay.models.encoders import load_encoder
from seesay.models.server.chat import ChatServer
from seesay.plugins import Plugin
from seesay.registry import Registry
from seesay.runs.ask import Settings, run
from seesay.tasks import load_task

Folder = Callable[[str], Path]


class Counts(Model):
    """A plug-in that encodes."""

    family = "counts"

    def __init__(self, name: str, options: ModelOptions) -> None:
        self.name, self.fingerprint = name, "counts-1"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[len(text)] for text in texts], np.float32)


class Silent(Model):
    """A plug-in that can do nothing."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        self.name = f"silent:{name}"


def load_stranger(name: str, options: ModelOptions) -> object:
    """A plug-in written for nobody's contract."""
    return object()


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = {"counts": "Counts", "silent": "Silent", "stranger": "load_stranger"}
    added = Plugin(
        models={name: f"{__name__}:{attribute}" for name, attribute in addresses.items()}
    )
    monkeypatch.setattr("seesay.registry.other_packages", lambda: (("unknown", added),))
    monkeypatch.setattr(
        "seesay.models.source.MODELS",
        Registry("model", MODELS.core, MODELS.brought, MODELS.listing),
    )


def test_an_encoder_in_a_folder_named_like_a_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_folder: Folder
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(tiny_folder("bert"), tmp_path / "vision")
    assert load_encoder("vision").fingerprint == load_encoder(str(tiny_folder("bert"))).fingerprint


def test_a_bare_prefix_where_no_folder_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_model("mock").family == "mock"
    (tmp_path / "mock").mkdir()
    with pytest.raises(UserError, match="The folder 'mock' holds no config"):
        load_model("mock")
    assert load_model("mock:").family == "mock"


@pytest.mark.usefixtures("plugins")
def test_a_plug_in_that_encodes_is_an_encoder() -> None:
    encoder = load_encoder("counts:mine")
    assert encoder.abilities == frozenset({"encode"})
    assert encoder.encode(["four"]).tolist() == [[4]]


@pytest.mark.usefixtures("plugins")
def test_what_cannot_encode_is_no_encoder() -> None:
    with pytest.raises(UserError, match="'silent:x' cannot encode texts"):
        load_encoder("silent:x")
    with pytest.raises(UserError, match="'openai:x' cannot encode texts"):
        ModelSource.parse("openai:x", ModelOptions()).validate_encoder()


@pytest.mark.usefixtures("plugins")
def test_abilities_that_a_model_lacks_are_refused_in_a_sentence() -> None:
    model = load_model("silent:x")
    assert not model.abilities
    for ability in (model.answer, model.score, model.encode, model.generate):
        with pytest.raises(UserError, match=r"^'silent:x' cannot \w+ \w+\.$"):
            ability([])


@pytest.mark.usefixtures("plugins")
def test_a_plug_in_that_is_no_model_is_refused() -> None:
    with pytest.raises(
        UserError,
        match=r"'stranger:' of the package 'unknown' does not subclass seesay\.models\.Model",
    ):
        load_model("stranger:x")


def test_only_a_server_is_sent_to_its_completions_endpoint(tmp_path: Path) -> None:
    """Who only chooses cannot answer a task without right-or-wrong metrics: the hint fits the
    model."""
    model = Baseline("baseline:chooser")
    model.only_chooses = True
    task = replace(load_task("core-color"), metrics=("jensen_shannon",))
    with pytest.raises(UserError, match="ask a model that gives") as refused:
        run(model, task, tmp_path, Settings())
    assert "endpoint" not in str(refused.value)
    assert "--endpoint completions" in ChatServer.probabilities_hint
