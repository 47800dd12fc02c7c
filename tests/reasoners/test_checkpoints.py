"""Folders that an older version wrote: their field names are mapped, and what was begun is resumed."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.reasoners.small import (
    IMAGE_SIZE,
    SENTENCES,
    extractor_of,
    random_network,
    save_random,
    scene_items,
    small_config,
)

from seesay.errors import UserError
from seesay.models import ModelOptions, load_model
from seesay.reasoners import checkpoints
from seesay.reasoners.model import Reasoner
from seesay.reasoners.train import train
from seesay.training import loop

COMMON: dict[str, Any] = {"width": 8, "blocks": 2, "embedding": 8, "hidden": 16, "classifier": 16}
OLD_SIZES = {**COMMON, "halvings": 1, "levels": 1}
SIZES = {**COMMON, "strided_layers": 1, "plain_layers": 1}
SOURCE = {"task": "pos", "items": 64}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "reasoners-cache"))
    torch.set_num_threads(1)


def old_config(words: tuple[str, ...]) -> dict[str, Any]:
    """`config.json` as the first format had it."""
    shape = {"words": words, "answers": ["no", "yes"], "look": [3, IMAGE_SIZE, IMAGE_SIZE], **OLD_SIZES}
    return {
        "model_type": "seesay-reasoner", "network": "film", "eye": "pixels", "side": IMAGE_SIZE,
        "looked_with": extractor_of("film").fingerprint, "shape": {**shape, "dropout": 0.0, "batch_norm": True},
    }  # fmt: skip


def old_settings(schedule: loop.Schedule) -> dict[str, Any]:
    """`training/settings.json` as the first format had it."""
    reasoner = {"network": "film", "eye": "pixels", "side": IMAGE_SIZE, "batch": 16, "turns": True, "sizes": OLD_SIZES}
    return {**asdict(schedule), **reasoner, **SOURCE}


def test_a_reasoner_of_the_first_format_opens(tmp_path: Path) -> None:
    network, config = random_network("film", **SIZES)
    checkpoints.save(tmp_path, network, small_config("film"), config, extractor_of("film").fingerprint)
    written = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(old_config(config.vocabulary.words)))
    loaded, loaded_config, fields = checkpoints.load(tmp_path)
    assert loaded_config == config
    assert fields == written
    words = torch.from_numpy(config.vocabulary.encode(SENTENCES))
    pictures = torch.randint(0, 256, (3, 3, IMAGE_SIZE, IMAGE_SIZE), dtype=torch.uint8)
    with torch.inference_mode():
        # loaded weights lie at other addresses, where sums may be taken in another order
        torch.testing.assert_close(loaded(pictures, words), network(pictures, words), rtol=1e-5, atol=1e-6)
    model = load_model(str(tmp_path), ModelOptions(device="cpu"))
    assert isinstance(model, Reasoner)
    assert (model.extractor.name, model.extractor.image_size) == ("pixels", IMAGE_SIZE)


def test_a_training_of_the_first_format_is_resumed(tmp_path: Path) -> None:
    """Interrupted, its settings under their old names: it ends with the weights of an uninterrupted one."""
    items, validation = scene_items("film"), scene_items("film", split="val")
    config = small_config("film", augment=True, sizes=SIZES)

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
    other = replace(config, augment=False)
    with pytest.raises(UserError, match="was started with augment True, not False"):
        train(items, validation, tmp_path / "parts", other, settings=SOURCE, device="cpu")
    settings.write_text(json.dumps(old_settings(config.schedule)))
    checkpoints.refuse_other_training(tmp_path / "parts", config, SOURCE)  # as a sweep checks it
    assert run(tmp_path / "parts") == whole
    assert json.loads(settings.read_text()) == written


def test_a_format_of_the_future_is_refused(tmp_path: Path) -> None:
    save_random("film", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "format": 3}))
    with pytest.raises(UserError, match="it has format 3, and this version of seesay reads up to 2"):
        checkpoints.load(tmp_path)
