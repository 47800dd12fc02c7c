"""The word-level LSTM: a tiny one really learns, and what is saved is a model that scores."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.language.training import grammar
from tests.language.training.interruption import have_same_weights, interrupt_and_resume

from seesay.errors import UserError
from seesay.language.training import lstm
from seesay.language.training.captions import CaptionSplit, join_phrases
from seesay.language.words import lstm as saved
from seesay.language.words.vocabulary import words
from seesay.training import checkpoint, loop
from seesay.training.schedule import Schedule

CONFIG = lstm.LstmConfig(
    embedding=32,
    hidden=48,
    dropout=0.0,
    smallest_count=1,
    drop=False,
    sentences=16,
    schedule=Schedule(epochs=4, learning_rate=1e-2, warmup=0.05, decay="linear"),
)
PHRASES = ("on top of", "in front of", "under", "above")


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> CaptionSplit:
    return grammar.captions(tmp_path_factory.mktemp("grammar") / "captions.txt")


@pytest.fixture(scope="module")
def trained(captions: CaptionSplit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lstm")
    lstm.pretrain(captions, folder, CONFIG, phrases=PHRASES, device="cpu")
    return folder


def test_learns_more_than_word_frequencies(captions: CaptionSplit, trained: Path) -> None:
    """Four words of a sentence's seven are drawn, the rest and the end follow from them: ln(600) /
    8 nats at best."""
    sentences = [words(text) for text in join_phrases(captions.held_out, PHRASES)]
    unigram = grammar.entropy(word for sentence in sentences for word in (*sentence, "</s>"))
    last = checkpoint.read_history(trained / "training")[-1]
    best = np.log(600) / 8
    assert best < last["validation_loss"] < (best + unigram) / 2
    assert last["validation_perplexity"] == pytest.approx(np.exp(last["validation_loss"]))


def test_what_is_saved_scores_as_it_validated(captions: CaptionSplit, trained: Path) -> None:
    network, vocabulary = saved.load(trained)
    model = saved.LstmModel("ours", network, vocabulary, "")
    scores = [scored.logp for scored in model.score(captions.held_out)]  # plain text
    best = min(line["validation_loss"] for line in checkpoint.read_history(trained / "training"))
    assert -np.mean(np.concatenate(scores)) == pytest.approx(best, rel=1e-5)


def test_phrases_are_one_word_each(captions: CaptionSplit, trained: Path, tmp_path: Path) -> None:
    _, vocabulary = saved.load(trained)
    assert "on_top_of" in vocabulary
    assert "top" not in vocabulary
    _, _, plain = lstm.read(captions, CONFIG, ())
    assert "top" in plain
    assert "on_top_of" not in plain


def test_interrupted_training_resumes(
    captions: CaptionSplit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(CONFIG, dropout=0.2, schedule=CONFIG.schedule.override(epochs=2))
    train = partial(lstm.pretrain, captions, config=config, device="cpu")
    parts = tmp_path / "parts"
    train(tmp_path / "whole")
    interrupt_and_resume(partial(train, parts), parts, monkeypatch)
    assert have_same_weights(parts, tmp_path / "whole")


def test_a_finished_training_is_read_not_repeated(captions: CaptionSplit, trained: Path) -> None:
    before = saved.load(trained)[0].state_dict()
    shown: list[loop.TrainingProgress] = []
    lstm.pretrain(captions, trained, CONFIG, phrases=PHRASES, device="cpu", progress=shown.append)
    assert not shown
    assert all(
        torch.equal(before[name], tensor)
        for name, tensor in saved.load(trained)[0].state_dict().items()
    )


def test_rare_words_are_unknown_or_drop_their_sentence() -> None:
    made = CaptionSplit(["a big dog"] * 30 + ["a zebu"] * 2, ["a big dog", "a zebu"])
    config = replace(CONFIG, smallest_count=3)
    with pytest.raises(UserError, match="Only 6 words are in the captions 3 times or more"):
        lstm.read(made, config, ())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lstm, "FEWEST", 5)
        train, held_out, vocabulary = lstm.read(made, config, ())
        assert (len(train), len(held_out), "zebu" in vocabulary) == (32, 2, False)
        train, held_out, _ = lstm.read(made, replace(config, drop=True), ())
        assert (len(train), len(held_out)) == (30, 1)


def test_too_few_sentences_are_refused() -> None:
    with pytest.raises(
        UserError, match=r"0 sentences .* too few .*fewer than 100 times drops its sentence"
    ):
        lstm.read(CaptionSplit(["a dog"] * 30, ["a dog"]), lstm.PRESETS["paper"], ())


def test_the_paper_preset_is_as_published() -> None:
    """Ghanimifard & Dobnik 2019, section 3.1."""
    paper = lstm.PRESETS["paper"]
    assert (paper.embedding, paper.hidden, paper.sentences, paper.smallest_count) == (
        300,
        300,
        1024,
        100,
    )
    assert paper.schedule.epochs == 20
