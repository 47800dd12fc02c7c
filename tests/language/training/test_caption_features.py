"""CLIP-BERT's layout on pictures: it reads them, imagines them, and is asked as the published one
is."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.language.training import colored
from tests.language.training.interruption import have_same_weights, interrupt_and_resume
from tests.tiny import save_tiny
from transformers import AutoTokenizer

from seesay.data.picture_features import PictureFeatures
from seesay.errors import UserError
from seesay.language.training import capbert, captions
from seesay.language.training.caption_features import UNSEEN, CaptionFeatures
from seesay.language.training.captions import CaptionSplit
from seesay.models import load_model
from seesay.models.encoders import load_encoder
from seesay.models.encoders.clip_bert_network import ClipBertForMaskedLM
from seesay.questions import Prompt
from seesay.training.schedule import Schedule

CONFIG = capbert.CapBertConfig(
    layers=2,
    hidden=32,
    heads=2,
    vocabulary=300,
    tokens=512,
    rate=0.25,
    dropout=0.0,
    schedule=Schedule(epochs=30, learning_rate=1e-2, validate_epochs=False),
)
BRIEF = replace(CONFIG, schedule=CONFIG.schedule.override(epochs=2))
OPTIONS = tuple(colored.COLORS)


@pytest.fixture(scope="module")
def split() -> CaptionSplit:
    return colored.pictured_captions()


@pytest.fixture(scope="module")
def trained(split: CaptionSplit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictured")
    capbert.pretrain(split, folder, CONFIG, features=split.features, device="cpu")
    return folder


def question(picture: str | None) -> Prompt:
    return Prompt(colored.TEXT.format("cup", "[MASK]"), OPTIONS, picture=picture)


@pytest.mark.seconds
def test_it_names_the_color_of_a_new_picture(trained: Path, tmp_path: Path) -> None:
    """Which the same words do not tell; and through every layer up to the last."""
    pictures = colored.save_pictures(tmp_path)
    model = load_model(str(trained))
    assert model.accepts == {"text", "pictures"}
    prompts = [question(path) for path in pictures.values()]
    scores = model.answer(prompts)
    assert [OPTIONS[int(np.argmax(score.logp))] for score in scores] == list(pictures)
    layers = model.answer_layers([*prompts, question(None)])
    assert len(layers) == model.layer_count() == 3
    for last, score in zip(layers[-1], [*scores, *model.answer([question(None)])], strict=True):
        assert last.logp == pytest.approx(score.logp, abs=1e-5)


@pytest.mark.seconds
def test_without_a_picture_it_is_shown_what_it_predicts(trained: Path) -> None:
    """The features come from its own state of the text; without imagination there are none."""
    prompt = question(None)
    (explicit,) = load_model(str(trained)).answer([prompt])
    (implicit,) = load_model(f"clip-bert-implicit:{trained}").answer([prompt])
    tokenizer = AutoTokenizer.from_pretrained(trained)
    network = ClipBertForMaskedLM.from_pretrained(trained)
    ids = tokenizer(prompt.text, return_tensors="pt")["input_ids"]
    slot = ids[0].tolist().index(tokenizer.mask_token_id)
    options = tokenizer.convert_tokens_to_ids(list(OPTIONS))
    with torch.no_grad():
        shown = network(ids, network.imagine(ids)).logits[0, slot].log_softmax(-1)
        alone = network(ids).logits[0, slot].log_softmax(-1)
    assert explicit.logp == pytest.approx(shown[options].tolist(), abs=1e-5)
    assert implicit.logp == pytest.approx(alone[options].tolist(), abs=1e-5)
    (vector,) = load_encoder(str(trained)).encode([prompt.text])
    with torch.no_grad():
        state = network.states(ids, network.imagine(ids))[0, 0]
    assert vector == pytest.approx(state.tolist(), abs=1e-4)


@pytest.mark.seconds
def test_hidden_pictures_are_predicted_from_their_texts(trained: Path) -> None:
    lines = [json.loads(line) for line in (trained / "training/history.jsonl").open()]
    assert lines[-1]["validation_imagination"] < lines[0]["validation_imagination"] / 2


def test_captions_without_a_picture_are_read_without_one(
    split: CaptionSplit, tmp_path: Path
) -> None:
    """What their row points at in the table is never seen: other vectors give the same weights."""
    features = split.features
    assert features is not None
    rows = features.train.copy()
    rows[::2] = UNSEEN
    hidden = CaptionFeatures(features.vectors, rows, features.held_out, features.encoder)
    other = features.vectors.copy()
    other[features.train[::2]] = 7.0
    changed = CaptionFeatures(other, rows, features.held_out, features.encoder)
    for name, part in (("a", hidden), ("b", changed)):
        capbert.pretrain(split, tmp_path / name, BRIEF, features=part, device="cpu")
    assert have_same_weights(tmp_path / "a", tmp_path / "b")


def test_an_interrupted_training_ends_with_the_same_weights(
    split: CaptionSplit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = partial(capbert.pretrain, split, config=BRIEF, features=split.features, device="cpu")
    whole = tmp_path / "whole"
    resumed = tmp_path / "resumed"
    train(whole)
    interrupt_and_resume(partial(train, resumed), resumed, monkeypatch)
    assert have_same_weights(resumed, whole)


def test_features_are_found_by_the_pictures_of_captions(tmp_path: Path) -> None:
    path = tmp_path / "captions.txt"
    lines = [colored.TEXT.format("cup", color) for color in ("red", "green", "blue")] * 10
    path.write_text("\n".join(f"{line} {number}" for number, line in enumerate(lines)))
    vectors = np.arange(30, dtype=np.float32)[:, None]
    ids = [str(number + 1) for number in range(30)]
    result = captions.split([path], held_out=0.3, features=PictureFeatures(ids, vectors))
    assert result.features is not None
    for texts, rows in (
        (result.train, result.features.train),
        (result.held_out, result.features.held_out),
    ):
        assert [int(text.split()[-1]) for text in texts] == rows.tolist()
    short = PictureFeatures(ids[:28], vectors[:28])
    with pytest.raises(UserError, match=r"lack 2 pictures of the captions, the first being .*29"):
        captions.split([path], held_out=0.3, features=short)


def test_features_that_do_not_fit_are_refused(split: CaptionSplit, tmp_path: Path) -> None:
    features = split.features
    assert features is not None
    vectors = features.vectors
    nan = vectors.copy()
    nan[3, 3] = np.nan
    with pytest.raises(UserError, match=r"not finite .* for 1 picture, the first being '3'"):
        replace(features, vectors=nan)
    with pytest.raises(UserError, match="give rows of one width"):
        CaptionFeatures.aligned(vectors, vectors[:, :9])
    with pytest.raises(UserError, match="has no row among the 5 picture features"):
        replace(features, vectors=vectors[:5])
    with pytest.raises(UserError, match="No training caption has a picture"):
        replace(features, train=np.full_like(features.train, UNSEEN))
    few = replace(features, train=features.train[1:])
    narrow = replace(features, vectors=np.ascontiguousarray(vectors[:, :9]))
    clip_bert = tmp_path / "start"
    capbert.pretrain(split, clip_bert, BRIEF, features=replace(narrow, encoder=""), device="cpu")
    bert = save_tiny("bert", tmp_path / "bert")
    cases: tuple[tuple[CaptionFeatures, dict[str, str], str], ...] = (
        (few, {}, "features for 239 training captions and 40 held out, but 240 and 40"),
        (narrow, {}, "have 9 numbers each, and 'color-histogram'.* gives 64"),
        (features, {"start": str(clip_bert)}, "has vectors of 64 numbers.* was trained with 9"),
        (features, {"imagine": str(bert)}, "vectors of 32 numbers and the picture features 64"),
    )
    for number, (part, arguments, sentence) in enumerate(cases):
        with pytest.raises(UserError, match=sentence):
            capbert.pretrain(
                split,
                tmp_path / str(number),
                BRIEF,
                features=part,
                device="cpu",
                start=arguments.get("start"),
                imagine=arguments.get("imagine"),
            )
    assert load_model(str(clip_bert)).accepts == {"text"}
