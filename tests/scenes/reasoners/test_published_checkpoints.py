"""Checkpoints of the published code: the same logits from the same weights, and the command."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from tests.cli.program import error_here
from tests.scenes.reasoners.their_networks import (
    SHAPE,
    VOCAB,
    CnnLstm,
    Film,
    StackedAttention,
    scramble,
    write,
)

from seesay.cli import main
from seesay.errors import UserError
from seesay.models.options import ModelOptions
from seesay.scenes.reasoners.config import preset_config
from seesay.scenes.reasoners.experiment import with_features
from seesay.scenes.reasoners.model import load_reasoner
from seesay.scenes.reasoners.published_checkpoints import read_checkpoint
from seesay.scenes.reasoners.selection import trained_reasoners
from seesay.scenes.reasoners.sources import open_source

QUESTIONS = (
    ("The red circle is a big circle", "yes"),
    ("The blue square is a small square", "no"),
    ("The red square is a small square", "yes"),
)


@pytest.mark.parametrize("network", [CnnLstm, StackedAttention, Film])
@pytest.mark.parametrize(("norm", "dropout"), [(True, 0.5), (False, 0.0), (True, 0.0)])
def test_equal_logits(network: Any, norm: bool, dropout: float, tmp_path: Path) -> None:
    torch.manual_seed(1)
    theirs = network(norm, dropout).eval()
    scramble(theirs)
    write(tmp_path / "best.pt", theirs, norm, dropout)
    published = read_checkpoint(tmp_path / "best.pt")
    words = torch.from_numpy(published.network_config.vocabulary.encode([q for q, _ in QUESTIONS]))
    features = torch.randn(len(words), *SHAPE)
    with torch.inference_mode():
        # channels last and another order of sums
        assert torch.allclose(
            published.network(features, words), theirs(words, features), atol=1e-5
        )
    assert published.network_config.answers == tuple(VOCAB["answer_token_to_idx"])
    assert (published.validation, published.step) == (0.75, 1250)
    assert published.config.sizes["batch_norm"] is norm


def test_an_older_film_has_outputs_that_are_not_used(tmp_path: Path) -> None:
    torch.manual_seed(2)
    theirs = Film(False, 0.0, outputs=24).eval()
    write(tmp_path / "best.pt", theirs, False, 0.0)
    published = read_checkpoint(tmp_path / "best.pt")
    words, features = torch.tensor([[1, 4, 8, 2]]), torch.randn(1, *SHAPE)
    with torch.inference_mode():
        ours = published.network(features, words)
        assert torch.allclose(ours, theirs(words, features), atol=1e-5)


def test_what_is_no_checkpoint_is_refused_in_one_sentence(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, tuple[Path]]:
            return Path.touch, (tmp_path / "run",)

    evil = tmp_path / "evil.pt"
    evil.write_bytes(pickle.dumps(Evil(), protocol=2))
    with pytest.raises(UserError, match="is no checkpoint"):
        read_checkpoint(evil)
    assert not (tmp_path / "run").exists()
    with pytest.raises(UserError, match="no file"):
        read_checkpoint(tmp_path / "none.pt")
    write(tmp_path / "lstm.pt", CnnLstm(False, 0.0), False, 0.0, baseline_type="LSTM")
    with pytest.raises(UserError, match="is no checkpoint"):
        read_checkpoint(tmp_path / "lstm.pt")
    scrambled = {**VOCAB, "answer_token_to_idx": {"no": 0, "yes": 1}}
    write(tmp_path / "vocab.pt", CnnLstm(False, 0.0), False, 0.0, vocab=scrambled)
    with pytest.raises(UserError, match="not numbered as CLEVR's"):
        read_checkpoint(tmp_path / "vocab.pt")


def write_published_data(folder: Path, split: str) -> tuple[Path, Path]:
    """A data set without pictures, and their features; pictures are numbered backwards."""
    data, stored = folder / "data", folder / "visual_features"
    (data / "dataset").mkdir(parents=True, exist_ok=True)
    stored.mkdir(exist_ok=True)
    last = len(QUESTIONS) - 1
    questions = [
        {"question": text, "answer": answer, "image_index": last - i, "image_filename": f"{i}.png"}
        for i, (text, answer) in enumerate(QUESTIONS)
    ]
    text = json.dumps({"questions": questions})
    (data / "dataset" / f"{split}.json").write_text(text, encoding="utf-8")
    with h5py.File(stored / f"{split}_features.h5", "w") as file:
        features = np.random.default_rng(0).normal(size=(len(QUESTIONS), *SHAPE))
        file["features"] = features.astype(np.float32)
    return data, stored


def test_the_command_tests_a_checkpoint_on_stored_features(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Accuracy by hand: their network on their features, picture by picture."""
    torch.manual_seed(3)
    theirs = StackedAttention(True, 0.0).eval()
    scramble(theirs)
    write(tmp_path / "best.pt", theirs, True, 0.0)
    data, stored = write_published_data(tmp_path, "test")
    where = ["--task", "set+pos", "--features", f"h5:{stored}", "--data", str(data)]
    names = [str(tmp_path / "best.pt"), "-o", str(tmp_path / "sa")]
    with pytest.raises(SystemExit) as ended:
        main(["reasoner", "import", *names, *where, "--json"])
    assert ended.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    tokens = VOCAB["question_token_to_idx"]
    right = 0
    with h5py.File(stored / "test_features.h5") as file, torch.inference_mode():
        for place, (text, answer) in enumerate(QUESTIONS):
            words = torch.tensor([[1, *(tokens[word] for word in text.split()), 2]])
            features = torch.from_numpy(file["features"][len(QUESTIONS) - 1 - place])[None]
            predicted = int(theirs(words, features).argmax())
            right += predicted == VOCAB["answer_token_to_idx"][answer]
    assert printed["tests"] == {"test": right / len(QUESTIONS)}
    assert printed["network"] == "stacked-attention"
    (reasoner,) = trained_reasoners([tmp_path / "sa"])
    assert (reasoner.task, reasoner.validation) == ("set+pos", 0.75)
    model = load_reasoner(str(tmp_path / "sa"), ModelOptions(device="cpu"))
    with pytest.raises(UserError, match="are of its own pictures"):
        model.extractor.extract(np.zeros((1, 224, 224, 3), dtype=np.uint8))
    sentence = error_here(
        capsys, "reasoner", "import", tmp_path / "best.pt", "-o", tmp_path / "sa", "-t", "pos",
        "--features", f"h5:{stored}",
    )  # fmt: skip
    assert "is not empty" in sentence


def test_training_reads_stored_features_by_the_number_of_the_picture(tmp_path: Path) -> None:
    for split in ("train", "val"):
        data, stored = write_published_data(tmp_path, split)
    features = f"h5:{stored}"
    source = open_source("set+pos", data, None, features)
    _, extractor = with_features(preset_config("film", "paper"), features)
    items = source.load("train", extractor)
    with h5py.File(stored / "train_features.h5") as file:
        expected = file["features"][:][[1, 2, 2]]
    # question 1 is of picture 1, question 0 of picture 2
    assert np.array_equal(items.features[np.array([1, 0, 0])], expected)
    assert items.sentences[0] == QUESTIONS[0][0]
    assert items.answers.tolist() == [1, 0, 1]
    with pytest.raises(UserError, match="--data"):
        open_source("set+pos", features=features)
    (stored / "train_features.h5").unlink()
    with pytest.raises(UserError, match="train pictures"):
        source.load("train", extractor)
