"""The LSTM of words: scores as written out gate by gate, whatever the batch; in bulk as one by one;
its folder."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.language.words.word_lstm import loaded, reference, saved

from seesay.errors import NewerVersionError, UserError
from seesay.language.relations.contexts import Context, scorable
from seesay.language.words.lstm import LstmModel, load, save
from seesay.language.words.lstm_network import LstmNetwork
from seesay.language.words.vocabulary import SPECIAL, Vocabulary
from seesay.models import ModelOptions, load_model
from seesay.questions import Prompt

TEXTS = [
    "A man sits on the red mat.",
    "the cat",
    "The dog is under the table, near a horse!",
    "dog",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("lstm"))


def test_scores_are_the_gates_written_out(folder: Path) -> None:
    model = loaded(folder)
    assert "score" in model.abilities
    assert "answer" in model.abilities
    for text, scored in zip(TEXTS, model.score(TEXTS), strict=True):
        words = text.lower().translate(str.maketrans("", "", ".,!")).split()
        assert scored.tokens == (*words, "</s>")
        assert scored.logp == pytest.approx(reference(folder, words), abs=1e-5)


@pytest.mark.parametrize("batch_size", [1, 7, 64, 100_000])
def test_the_batch_size_changes_nothing(folder: Path, batch_size: int) -> None:
    """Down to one word at a time: a longer text goes on from the state of its last piece."""
    model = load_model(str(folder), ModelOptions(batch_size=batch_size))
    assert "score" in model.abilities
    for text, scored in zip(TEXTS, model.score(TEXTS), strict=True):
        (alone,) = loaded(folder).score([text])
        assert scored.logp == pytest.approx(alone.logp, abs=1e-5)


def test_a_distribution_over_the_vocabulary(folder: Path) -> None:
    model = loaded(folder)
    words = [word for word in model.vocabulary.tokens if word not in ("<s>", "</s>")]
    after = sum(math.exp(model.logps([["the", word]])[0][1]) for word in words)
    ending = math.exp(model.logps([["the"]])[0][1])
    beginning = math.exp(reference_begin(folder))
    assert after + ending + beginning == pytest.approx(1.0, abs=1e-5)


def reference_begin(folder: Path) -> float:
    """log P(<s> | <s> the): no sentence holds it, but the softmax gives it its share."""
    return reference(folder, ["the", "<s>"])[1]


def test_a_long_text_is_read_in_pieces(folder: Path) -> None:
    text = "the red dog is near the mat " * 100
    model = load_model(str(folder), ModelOptions(batch_size=50))
    assert "score" in model.abilities
    (long,) = model.score([text])
    assert long.logp == pytest.approx(reference(folder, text.split()), abs=1e-4)


def test_words_unseen_in_training(folder: Path) -> None:
    model = loaded(folder)
    scored, empty = model.score(["the yeti smiles", " ?!"])
    assert "2 of 3 words are unknown" in model.notes()[0]
    assert scored.tokens == ("the", "<unk>", "<unk>", "</s>")
    assert scored.logp == pytest.approx(reference(folder, ["the", "<unk>", "<unk>"]), abs=1e-5)
    assert empty.tokens == ("</s>",)


def test_a_model_that_never_met_an_unknown_word_scores_none(folder: Path, tmp_path: Path) -> None:
    """As published, sentences with a rare word were dropped: such texts and contexts are left out,
    and told."""
    network, vocabulary = load(folder)
    save(tmp_path, network, vocabulary, drop=True)
    model = loaded(tmp_path)
    known, unknown, again = model.score(["the cat", "the yeti", "the cat"])
    for scores in (known, again):
        assert scores.logp == pytest.approx(reference(folder, ["the", "cat"]), abs=1e-4)
    assert unknown.logp == ()
    assert "has never met <unk>" in unknown.left_out
    contexts = {
        "on": [
            Context("a cat ", " a mat"),
            Context("a yeti ", " a mat"),
            Context("a cat ", " a yeti"),
        ]
    }
    assert scorable(contexts, model) == ({"on": contexts["on"][:1]}, 2)
    assert scorable(contexts, loaded(folder)) == (contexts, 0)


@pytest.mark.parametrize("change", [{"drops_unknown": None}, {"drops_unknown": "yes"}])
def test_a_configuration_that_does_not_say_what_is_unknown_is_damaged(
    folder: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    save(tmp_path, *load(folder))
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps({**config, **change}), encoding="utf-8")
    with pytest.raises(UserError, match="could not be read"):
        loaded(tmp_path)


def test_a_model_of_a_newer_version_says_so(folder: Path, tmp_path: Path) -> None:
    save(tmp_path, *load(folder))
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps({**config, "format": 2}), encoding="utf-8")
    with pytest.raises(
        NewerVersionError, match=r"The model in .* was written by a newer version of seesay"
    ):
        loaded(tmp_path)


def test_phrases_learnt_as_one_word_are_read_as_one(folder: Path) -> None:
    """In plain text, as in training: joined in texts, in questions' sentences and in gaps'
    contexts."""
    model = loaded(folder)
    (scored,) = model.score(["The dog sits In front  of the cat, front of house"])
    assert scored.tokens == (
        "the",
        "dog",
        "sits",
        "in_front_of",
        "the",
        "cat",
        "front",
        "of",
        "<unk>",
        "</s>",
    )
    (plain,) = model.score(["the dog sits in front of the cat"])
    assert plain.logp == pytest.approx(
        reference(folder, ["the", "dog", "sits", "in_front_of", "the", "cat"]), abs=1e-4
    )
    filled = model.score_filled([("a dog in front of a man ", " a cat")], ["on"])
    (same,) = model.score(["a dog in_front_of a man on a cat"])
    assert filled.logp[0, 0] == pytest.approx(sum(same.logp), abs=1e-4)


def test_without_the_end(folder: Path) -> None:
    model = loaded(folder)
    (whole,), (open_end,) = model.score(["the cat"]), model.score(["the cat"], end=False)
    assert open_end.logp == whole.logp[:-1]
    with pytest.raises(UserError, match="leave --stride out"):
        next(model.score(["the cat"], stride=8))


def test_answers_score_the_option_and_what_follows(folder: Path) -> None:
    model = loaded(folder)
    prompt = Prompt("The [MASK] is on the mat.", ("cat", "red dog"))
    assert model.plan([prompt]) == [[0]]
    (scored,) = model.answer([prompt])
    for option, logp, tokens in zip(prompt.options, scored.logp, scored.tokens, strict=True):
        expected = reference(folder, f"the {option} is on the mat".split())[1:]
        assert logp == pytest.approx(sum(expected), abs=1e-4)
        assert tokens == len(expected)
    with pytest.raises(UserError, match="does not know the option 'yeti'"):
        model.answer([Prompt("A [MASK].", ("cat", "yeti"))])


GAPS = [
    ("A man sits ", " the mat."),
    ("a man sits ", " the mat"),
    ("", " a table"),
    ("The red dog is ", ""),
    ("the cat ", " the red, red table"),
    ("", ""),
]
WORDS = ["on", "in front of", "over", "of the", "near", "sits in"]


@pytest.mark.parametrize("batch_size", [1, 24, 4096])
def test_words_in_gaps_in_bulk(folder: Path, batch_size: int) -> None:
    """`in front of` is one token, as trained; `of the` is not known as one and stays two."""
    model = load_model(str(folder), ModelOptions(batch_size=batch_size))
    scored = model.score_filled(GAPS, WORDS)
    for i, word in enumerate(WORDS):
        for j, (before, after) in enumerate(GAPS):
            text = before + word.replace("in front of", "in_front_of") + after
            expected = reference(folder, text.lower().replace(".", "").replace(",", "").split())
            assert scored.logp[i, j] == pytest.approx(sum(expected), abs=1e-4), text
            assert scored.tokens[i, j] == len(expected)


def test_unknown_word_in_a_gap_is_noted(folder: Path) -> None:
    model = loaded(folder)
    scored = model.score_filled([("the cat is ", " the mat")], ["betwixt"])
    assert "does not know 'betwixt'" in model.notes()[0]
    assert scored.logp[0, 0] == pytest.approx(
        sum(reference(folder, ["the", "cat", "is", "<unk>", "the", "mat"])), abs=1e-4
    )


def test_saved_model_loads_unchanged(folder: Path, tmp_path: Path) -> None:
    network, vocabulary = load(folder)
    save(tmp_path / "copy", network, vocabulary)
    assert loaded(tmp_path / "copy").fingerprint == loaded(folder).fingerprint
    assert list(loaded(tmp_path / "copy").score(TEXTS)) == list(loaded(folder).score(TEXTS))
    assert loaded(saved(tmp_path / "other", seed=1)).fingerprint != loaded(folder).fingerprint


def test_the_published_size() -> None:
    network = LstmNetwork(100, embedding=300, hidden=300)
    shapes = {name: tuple(weights.shape) for name, weights in network.named_parameters()}
    assert shapes["embedding.weight"] == shapes["output.weight"] == (100, 300)
    assert shapes["lstm.weight_hh_l0"] == (4 * 300, 300)


@pytest.mark.parametrize("broken", ["vocabulary.txt", "model.safetensors", "config.json"])
def test_damaged_folders(tmp_path: Path, broken: str) -> None:
    saved(tmp_path)
    if broken == "config.json":
        config = json.loads((tmp_path / broken).read_text(encoding="utf-8"))
        (tmp_path / broken).write_text(json.dumps({**config, "hidden": 17}), encoding="utf-8")
    else:
        (tmp_path / broken).write_bytes((tmp_path / broken).read_bytes()[:40])
    with pytest.raises(UserError, match="could not be read"):
        loaded(tmp_path)
    (tmp_path / broken).unlink()
    with pytest.raises(UserError):
        loaded(tmp_path)


def test_vocabularies() -> None:
    sentences = [["b", "a", "b"], ["c", "b", "a"]]
    assert Vocabulary.of(sentences, smallest=2).tokens == (*SPECIAL, "b", "a")
    with pytest.raises(UserError, match="begins with <unk>"):
        Vocabulary(["a", "b", "c"])
    assert np.array_equal(Vocabulary.of(sentences).sentence(["c", "zzz"]), [1, 5, 0, 2])


def test_a_folder_named_like_a_prefix_is_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """README: `seesay pretrain lstm … -o lstm`, then `seesay relations matrix lstm`."""
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "lstm")
    model = load_model("lstm")
    assert isinstance(model, LstmModel)
    assert model.name == "lstm"
    assert load_model("lstm:lstm").fingerprint == model.fingerprint
