"""A small transformer learns from texts, and a prefix teaches it to see."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.language.training import colored
from tests.language.training.interruption import (
    have_same_weights,
    interrupt_and_resume,
    weights,
)

from seesay.errors import UserError
from seesay.language.training import causal
from seesay.language.training.caption_features import UNSEEN
from seesay.language.training.captions import CaptionSplit
from seesay.models import load_model
from seesay.questions import Prompt
from seesay.training import checkpoint
from seesay.training.schedule import Schedule

CONFIG = causal.CausalConfig(
    layers=2,
    hidden=48,
    heads=2,
    vocabulary=400,
    tokens=512,
    schedule=Schedule(epochs=8, learning_rate=1e-2),
)
PREFIX = causal.PrefixConfig(
    prefix=2,
    hidden=32,
    tokens=512,
    schedule=Schedule(epochs=2, learning_rate=1e-2),
)


@pytest.fixture(scope="module")
def split() -> CaptionSplit:
    return colored.pictured_captions()


@pytest.fixture(scope="module")
def language_model(split: CaptionSplit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("language")
    causal.pretrain(split, folder, CONFIG, device="cpu")
    return folder


def test_the_transformer_learns_to_the_entropy_of_its_texts(
    split: CaptionSplit, language_model: Path
) -> None:
    """Of ten tokens all but the thing (one of four) and the colour (of three) are certain."""
    first, *_, last = checkpoint.read_history(language_model / "training")
    tokens = len(load_model(str(language_model)).pieces(split.train[0].split()) or [])
    bound = (np.log(4) + np.log(3)) / (tokens + 1)
    assert first["validation_loss"] > 4
    assert bound * 0.8 < last["validation_loss"] < bound * 1.5
    model = load_model(str(language_model))
    options = (*colored.COLORS, "car")
    (scores,) = model.answer([Prompt(colored.TEXT.format("cup", "[MASK]"), options)])
    assert np.exp(scores.logp[:3]).sum() > 0.9 > 0.05 > np.exp(scores.logp[3])


def test_the_tokeniser_is_always_the_same(split: CaptionSplit) -> None:
    one, two = (causal.train_tokenizer(split.train, 400) for _ in range(2))
    assert one.get_vocab() == two.get_vocab()
    assert one("a cup")["input_ids"][0] == one.bos_token_id
    assert one.decode(one("the cup")["input_ids"], skip_special_tokens=True) == "the cup"


def test_only_what_is_asked_for_is_predicted(split: CaptionSplit) -> None:
    """From the first token of the colour on; without starts all but the beginning, and the end."""
    tokenizer = causal.train_tokenizer(split.train, 400)
    texts = split.train[:5]
    starts = colored.color_starts(texts)
    (batch,) = causal._encode(tokenizer, texts, starts).batches(4096, (0,))
    for ids, predicted in zip(batch.ids, batch.predicted, strict=True):
        words = str(tokenizer.decode(ids[predicted])).split()
        assert words[0] in colored.COLORS
        assert words[1:] == ["."]
    (batch,) = causal._encode(tokenizer, texts).batches(4096, (0,))
    lengths = (batch.ids != tokenizer.eos_token_id).sum(1)
    assert batch.predicted.sum(1).tolist() == (lengths + 1).tolist()
    assert not batch.predicted[:, 0].any()


def test_the_language_model_stays_as_it_is_and_the_loss_is_its_own(
    split: CaptionSplit, language_model: Path, tmp_path: Path
) -> None:
    before = weights(language_model)
    starts = colored.color_starts(split.train), colored.color_starts(split.held_out)
    causal.train_prefix(
        split,
        tmp_path,
        PREFIX,
        language_model=str(language_model),
        starts=starts,
        device="cpu",
    )
    after = weights(language_model)
    assert all(torch.equal(before[name], after[name]) for name in before)
    first, *_, last = checkpoint.read_history(tmp_path / "training")
    assert last["validation_loss"] < first["validation_loss"]


def test_an_interrupted_prefix_ends_with_the_same_weights(
    split: CaptionSplit, language_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = str(language_model)
    train = partial(causal.train_prefix, split, config=PREFIX, language_model=name, device="cpu")
    whole = tmp_path / "whole"
    resumed = tmp_path / "resumed"
    train(whole)
    interrupt_and_resume(partial(train, resumed), resumed, monkeypatch)
    assert have_same_weights(resumed, whole)


def test_what_cannot_be_trained_is_refused(
    split: CaptionSplit, language_model: Path, tmp_path: Path
) -> None:
    features = split.features
    assert features is not None
    rows = features.held_out.copy()
    rows[0] = UNSEEN
    partly = replace(split, features=replace(features, held_out=rows))
    cases = (
        (replace(split, features=None), "give their features"),
        (replace(split, held_out=[]), "too few"),
        (partly, "captions that all have a picture"),
        (replace(split, train=split.train[1:]), "but 239 and 40 captions"),
    )
    for captions, sentence in cases:
        with pytest.raises(UserError, match=sentence):
            causal.train_prefix(captions, tmp_path, language_model=str(language_model))
    with pytest.raises(UserError, match="holds another model"):
        causal.pretrain(split, _foreign(tmp_path / "foreign"), CONFIG)


def _foreign(folder: Path) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return folder
