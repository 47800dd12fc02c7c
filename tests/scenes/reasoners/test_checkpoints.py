"""Folders that an older version wrote: their field names are mapped, and what was begun is resumed."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.scenes.reasoners.small import (
    OVER_PIXELS,
    SENTENCES,
    extractor_of,
    feature_shape,
    random_network,
    save_random,
    scene_features,
    scene_items,
    small_config,
)

from seesay.errors import UserError
from seesay.models import ModelOptions, load_model
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.model import Reasoner
from seesay.scenes.reasoners.train import train
from seesay.training import loop
from seesay.training.schedule import Schedule

COMMON: dict[str, Any] = {"width": 8, "blocks": 2, "embedding": 8, "hidden": 16, "classifier": 16}
OLD_SIZES = {**COMMON, "halvings": 1, "levels": 1}
SIZES = {**COMMON, "strided_layers": 1, "plain_layers": 1}
EXTRACTOR = extractor_of("object-centred")
SOURCE = {"task": "pos", "items": 64}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "reasoners-cache"))
    torch.set_num_threads(1)


def old_config(words: tuple[str, ...]) -> dict[str, Any]:
    """`config.json` as the first format had it."""
    shape = {"words": words, "answers": ["no", "yes"], "look": feature_shape(EXTRACTOR), **OLD_SIZES}
    return {
        "model_type": "seesay-reasoner", "network": "object-centred", "eye": "objects", "side": EXTRACTOR.image_size,
        "looked_with": "objects-192-8-2", "shape": {**shape, "dropout": 0.0, "batch_norm": True},
    }  # fmt: skip


def old_settings(schedule: Schedule) -> dict[str, Any]:
    """`training/settings.json` as the first format had it, without what the schedule has got since."""
    common = {"network": "object-centred", "eye": "objects", "side": EXTRACTOR.image_size}
    newer = ("optimizer", "cooldown", "enough")
    fields = {name: value for name, value in asdict(schedule).items() if name not in newer}
    return {**fields, **common, "batch": 16, "turns": False, "sizes": OLD_SIZES, **SOURCE}


def test_a_reasoner_of_the_first_format_opens(tmp_path: Path) -> None:
    network, config = random_network("object-centred", **SIZES)
    checkpoints.save(tmp_path, network, small_config("object-centred"), config, EXTRACTOR.fingerprint)
    written = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(old_config(config.vocabulary.words)))
    loaded, loaded_config, fields = checkpoints.load(tmp_path)
    # sizes that layers of this network do not have are the defaults
    assert replace(loaded_config, projection=config.projection) == config
    assert {**fields, "config": written["config"]} == written
    words = torch.from_numpy(config.vocabulary.encode(SENTENCES))
    slots = scene_features("object-centred", 3)
    with torch.inference_mode():
        # loaded weights lie at other addresses, where sums may be taken in another order
        torch.testing.assert_close(loaded(slots, words), network(slots, words), rtol=1e-5, atol=1e-6)
    model = load_model(str(tmp_path), ModelOptions(device="cpu"))
    assert isinstance(model, Reasoner)
    assert (model.extractor.name, model.extractor.image_size) == ("objects", EXTRACTOR.image_size)


def test_a_training_of_the_first_format_is_resumed(tmp_path: Path) -> None:
    """Interrupted, its settings under their old names: it ends with the weights of an uninterrupted one."""
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
    assert written["format"] == checkpoints.FORMAT
    settings.write_text(json.dumps(old_settings(config.schedule)))
    other = replace(config, augment=True)
    with pytest.raises(UserError, match="was started with augment False, not True"):
        train(items, validation, tmp_path / "parts", other, settings=SOURCE, device="cpu")
    settings.write_text(json.dumps(old_settings(config.schedule)))
    checkpoints.refuse_other_training(tmp_path / "parts", config, SOURCE)  # as a sweep checks it
    assert run(tmp_path / "parts") == whole
    assert json.loads(settings.read_text()) == written


@pytest.mark.parametrize("name", OVER_PIXELS)
def test_networks_that_were_not_the_published_ones_are_refused(name: str, tmp_path: Path) -> None:
    """Before format 3 they had other layers."""
    sentence = "was trained by an earlier version of seesay, whose networks were not the published ones: train it again"
    save_random(name, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for old in ({**config, "format": 2}, {key: value for key, value in config.items() if key != "format"}):
        (tmp_path / "config.json").write_text(json.dumps(old))
        with pytest.raises(UserError, match=sentence):
            checkpoints.load(tmp_path)
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "settings.json").write_text(json.dumps({"format": 2, "network": name}))
    with pytest.raises(UserError, match=f"The training in .* {sentence}"):
        checkpoints.refuse_other_training(tmp_path, small_config(name), SOURCE)


def test_a_format_of_the_future_is_refused(tmp_path: Path) -> None:
    save_random("film", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "format": 4}))
    with pytest.raises(UserError, match="it has format 4, and this version of seesay reads up to 3"):
        checkpoints.load(tmp_path)


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", "[" * 100_000, '{"format": "x"}'])
def test_damaged_settings_of_a_training_are_one_sentence(tmp_path: Path, damage: str) -> None:
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "settings.json").write_text(damage)
    with pytest.raises(UserError, match=r"settings\.json is damaged|The training in "):
        checkpoints.refuse_other_training(tmp_path, small_config("film"), SOURCE)


@pytest.mark.parametrize("name", ["film", "cnn-lstm", "stacked-attention", "object-centred"])
def test_sizes_that_are_not_those_of_the_weights_take_no_memory(name: str, tmp_path: Path) -> None:
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
        (tmp_path / "config.json").write_text(json.dumps({**fields, "config": {**fields["config"], **sizes}}))
        with pytest.raises(UserError, match=r"is too large|other shapes than config.json says"):
            checkpoints.load(tmp_path)
