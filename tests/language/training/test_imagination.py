"""CLIP-BERT from captions: any text encoder imagines, and the folder is asked with and without its
imagination."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.language.training import grammar
from tests.language.training.interruption import (
    have_same_weights,
    interrupt_and_resume,
    weights,
)
from tests.models.encoders.tiny_encoders import save_tiny_encoder
from tests.tiny import save_tiny
from transformers import AutoTokenizer

from seesay.errors import UserError
from seesay.language.training import capbert
from seesay.language.training.captions import CaptionSplit
from seesay.language.training.imagination import Imagination
from seesay.models import load_model
from seesay.models.encoders import load_encoder
from seesay.models.encoders.clip_bert_network import ClipBertForMaskedLM
from seesay.questions import Prompt
from seesay.training import checkpoint
from seesay.training.schedule import Schedule

CONFIG = capbert.CapBertConfig(
    layers=1,
    hidden=32,
    heads=2,
    vocabulary=300,
    tokens=512,
    rate=0.25,
    dropout=0.0,
    schedule=Schedule(epochs=6, learning_rate=1e-2),
)
UNTRAINED = replace(CONFIG, schedule=CONFIG.schedule.override(epochs=0))


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> CaptionSplit:
    return grammar.captions(tmp_path_factory.mktemp("grammar") / "captions.txt")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny("bert", tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def trained(
    captions: CaptionSplit, encoder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("imagining")
    capbert.pretrain(captions, folder, CONFIG, imagine=str(encoder), device="cpu")
    return folder


def test_training_imagines_texts_as_probing_does(encoder: Path) -> None:
    """A masked word is one [MASK], of however many pieces; what is masked is never seen."""
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    ids = [
        tokenizer.cls_token_id,
        *tokenizer("a", add_special_tokens=False)["input_ids"],
        *[tokenizer.mask_token_id] * 3,
    ]
    rows = np.array([[*ids, tokenizer.sep_token_id, tokenizer.pad_token_id]])
    words = np.array([[-1, 0, 1, 1, 2, -1, -1]])
    masked = rows == tokenizer.mask_token_id
    features = Imagination(str(encoder)).features(tokenizer, rows, words, masked)
    np.testing.assert_array_equal(features, load_encoder(str(encoder)).encode(["a [MASK] [MASK]"]))


def test_the_folder_is_a_clip_bert(trained: Path, encoder: Path) -> None:
    """Log-probabilities in the slot are those of a plain forward, given what the encoder says of
    the question; without imagination they are others."""
    config = json.loads((trained / "config.json").read_text(encoding="utf-8"))
    assert (config["text_encoder"], config["img_feature_dim"]) == (str(encoder), 32)
    prompt = Prompt("a [MASK] apple under the old dog", ("red", "green", "blue"))
    explicit, implicit = load_model(str(trained)), load_model(f"clip-bert-implicit:{trained}")
    (scores,), (without,) = explicit.answer([prompt]), implicit.answer([prompt])
    tokenizer, network = (
        AutoTokenizer.from_pretrained(trained),
        ClipBertForMaskedLM.from_pretrained(trained),
    )
    inputs = tokenizer(prompt.text, return_tensors="pt")["input_ids"]
    slot = inputs[0].tolist().index(tokenizer.mask_token_id)
    feature = torch.from_numpy(load_encoder(str(encoder)).encode([prompt.text]))
    with torch.no_grad():
        shown = network(inputs, feature).logits[0, slot].log_softmax(-1)
        alone = network(inputs).logits[0, slot].log_softmax(-1)
    options = tokenizer.convert_tokens_to_ids(list(prompt.options))
    assert scores.logp == pytest.approx(shown[options].tolist(), abs=1e-5)
    assert without.logp == pytest.approx(alone[options].tolist(), abs=1e-5)
    assert scores.logp != pytest.approx(without.logp, abs=1e-3)


def test_it_starts_as_the_same_network_and_learns_to_use_the_vectors(
    captions: CaptionSplit, trained: Path, encoder: Path, tmp_path: Path
) -> None:
    capbert.pretrain(captions, tmp_path / "with", UNTRAINED, imagine=str(encoder), device="cpu")
    capbert.pretrain(captions, tmp_path / "without", UNTRAINED, device="cpu")
    imagining, plain = weights(tmp_path / "with"), weights(tmp_path / "without")
    projection = {"bert.img_projection.weight", "bert.img_projection.bias"}
    assert imagining.keys() - plain.keys() == projection
    assert all(torch.equal(imagining[name], plain[name]) for name in plain)
    assert not any(torch.equal(weights(trained)[name], imagining[name]) for name in projection)
    first, *_, last = checkpoint.read_history(trained / "training")
    assert last["validation_loss"] < first["validation_loss"]


def test_interrupted_training_ends_with_the_same_weights(
    captions: CaptionSplit,
    trained: Path,
    encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    train = partial(
        capbert.pretrain, captions, tmp_path, CONFIG, imagine=str(encoder), device="cpu"
    )
    interrupt_and_resume(train, tmp_path, monkeypatch)
    assert have_same_weights(tmp_path, trained)


def test_model_can_be_trained_further(
    captions: CaptionSplit, trained: Path, encoder: Path, tmp_path: Path
) -> None:
    """From a BERT, with a CLIP that imagines; from a CLIP-BERT, whose projection is kept; not from
    anything else."""
    clip = save_tiny_encoder("clip", tmp_path / "clip")
    start = save_tiny("bert", tmp_path / "start")
    capbert.pretrain(
        captions, tmp_path / "made", CONFIG, start=str(start), imagine=str(clip), device="cpu"
    )
    assert load_model(str(tmp_path / "made")).scope == "slot-explicit"
    capbert.pretrain(
        captions, tmp_path / "on", UNTRAINED, start=str(trained), imagine=str(encoder), device="cpu"
    )
    assert have_same_weights(tmp_path / "on", trained)
    for folder, model, vectors, sentence in (
        ("a", trained, clip, "was trained with 32: give the encoder that it was trained with"),
        (
            "b",
            save_tiny("roberta", tmp_path / "roberta"),
            encoder,
            "--imagine .* needs a BERT to start from, and this is a roberta",
        ),
        ("c", trained, None, "Cannot start from"),
    ):
        with pytest.raises(UserError, match=sentence):
            capbert.pretrain(
                captions,
                tmp_path / folder,
                UNTRAINED,
                start=str(model),
                imagine=str(vectors) if vectors else None,
                device="cpu",
            )
    with pytest.raises(UserError, match="was started with imagine"):
        capbert.pretrain(captions, trained, CONFIG, imagine=str(clip), device="cpu")
