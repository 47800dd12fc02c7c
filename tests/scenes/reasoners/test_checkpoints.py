"""The folder of a reasoner: what was begun is resumed, and damage is one sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.scenes.reasoners.small import (
    save_random,
    scene_items,
    small_config,
)

from seesay.errors import NewerVersionError, UserError
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.train import train
from seesay.training import loop

SIZES = {
    **{"width": 8, "blocks": 2, "embedding": 8, "hidden": 16, "classifier": 16},
    **{"strided_layers": 1, "plain_layers": 1},
}
SOURCE = {"task": "pos", "items": 64}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "reasoners-cache"))
    torch.set_num_threads(1)


def test_training_resumes_only_with_the_same_settings(tmp_path: Path) -> None:
    """Interrupted and resumed, it ends with the weights of an uninterrupted one."""
    items, validation = scene_items("object-centred"), scene_items("object-centred", split="val")
    config = small_config("object-centred", sizes=SIZES)

    def run(folder: Path, **options: Any) -> bytes:
        train(items, validation, folder, config, settings=SOURCE, device="cpu", **options)
        return (folder / "model.safetensors").read_bytes()

    def stop(now: loop.TrainingProgress) -> None:
        raise KeyboardInterrupt

    whole = run(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", progress=stop)
    settings = tmp_path / "parts" / "training" / "settings.json"
    written = json.loads(settings.read_text())
    assert written["format"] == 1
    other = replace(config, augment=True)
    with pytest.raises(UserError, match="was started with augment False, not True"):
        train(items, validation, tmp_path / "parts", other, settings=SOURCE, device="cpu")
    checkpoints.refuse_other_training(tmp_path / "parts", config, SOURCE)  # as a sweep checks it
    assert run(tmp_path / "parts") == whole
    assert json.loads(settings.read_text()) == written


def test_reasoner_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    save_random("film", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["format"] == checkpoints.FORMAT
    (tmp_path / "config.json").write_text(json.dumps({**config, "format": checkpoints.FORMAT + 1}))
    with pytest.raises(
        NewerVersionError, match=r"The reasoner in .* was written by a newer version of seesay"
    ):
        checkpoints.load(tmp_path)


def test_training_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "settings.json").write_text('{"format": 2, "network": "film"}')
    with pytest.raises(
        NewerVersionError, match=r"The training in .* was written by a newer version of seesay"
    ):
        checkpoints.refuse_other_training(tmp_path, small_config("film"), SOURCE)
    with pytest.raises(
        NewerVersionError, match=r"The training in .* was written by a newer version of seesay"
    ):
        checkpoints.read_settings(tmp_path)


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", "[" * 100_000, '{"format": "x"}'])
def test_damaged_training_settings_give_one_sentence(tmp_path: Path, damage: str) -> None:
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "settings.json").write_text(damage)
    with pytest.raises(UserError, match=r"settings\.json is damaged|The training in "):
        checkpoints.refuse_other_training(tmp_path, small_config("film"), SOURCE)


@pytest.mark.parametrize("name", ["film", "cnn-lstm", "stacked-attention", "object-centred"])
def test_sizes_that_differ_from_the_weights_allocate_nothing(name: str, tmp_path: Path) -> None:
    """60,000 hidden units would be 58 GB of recurrent weights, a million blocks as many modules."""
    save_random(name, tmp_path)
    checkpoints.load(tmp_path)
    fields = json.loads((tmp_path / "config.json").read_text())
    for sizes in (
        {"hidden": 60_000, "embedding": 60_000},
        {"blocks": 10**6},
        {"strided_layers": 10**6},
        {"width": 10**400},
    ):
        (tmp_path / "config.json").write_text(
            json.dumps({**fields, "config": {**fields["config"], **sizes}})
        )
        with pytest.raises(UserError, match=r"is too large|other shapes than config.json says"):
            checkpoints.load(tmp_path)
