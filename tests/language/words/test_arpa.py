"""ARPA files: back-off worked by hand, KenLM's own queries, and files that are none."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest

from seesay.errors import UserError
from seesay.language.words.arpa import NgramModel, read_arpa, write_arpa
from seesay.models import ModelOptions, load_model
from seesay.questions import Prompt

SMALL = """\\data\\
ngram 1=5
ngram 2=2

\\1-grams:
-99\t<s>\t-0.5
-1\t</s>
-2\t<unk>
-0.7\tthe\t-0.3
-1.2\tcat\t-0.1

\\2-grams:
-0.2\t<s> the
-0.4\tthe cat

\\end\\
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.arpa"
    path.write_text(SMALL, encoding="utf-8")
    return path


def load(path: Path | str) -> NgramModel:
    model = load_model(str(path))
    assert isinstance(model, NgramModel)
    assert "score" in model.abilities
    return model


def test_back_off_by_hand(small: Path) -> None:
    """Seen bigrams as they stand; else the history's weight and the word's own: cat → </s> is -0.1
    - 1."""
    the_cat, cat, empty = load(small).score(["the cat", "cat", ""])
    assert the_cat.tokens == ("the", "cat", "</s>")
    assert [x / math.log(10) for x in the_cat.logp] == pytest.approx([-0.2, -0.4, -1.1])
    assert [x / math.log(10) for x in cat.logp] == pytest.approx([-0.5 - 1.2, -1.1])
    assert [x / math.log(10) for x in empty.logp] == pytest.approx([-0.5 - 1])


def test_unknown_words_are_counted(small: Path) -> None:
    model = load(small)
    (scores,) = model.score(["the Cat dog"])  # not our file: its words are as they stand
    assert model.notes() == [f"2 of 3 words are unknown to '{small}' and count as <unk>."]
    assert scores.tokens == ("the", "<unk>", "<unk>", "</s>")
    assert [x / math.log(10) for x in scores.logp] == pytest.approx([-0.2, -0.3 - 2, -2, -1])


def test_the_end_may_be_left_out(small: Path) -> None:
    (scores,) = load(small).score(["the cat"], end=False)
    assert scores.tokens == ("the", "cat")
    assert len(scores.logp) == 2
    with pytest.raises(UserError, match="leave --stride out"):
        next(load(small).score(["the cat"], stride=3))


def test_answers_score_the_option_and_what_follows(small: Path) -> None:
    (scores,) = load(f"arpa:{small}").answer([Prompt("the [MASK] cat", ("cat", "the"))])
    assert [x / math.log(10) for x in scores.logp] == pytest.approx(
        [-0.4 - 0.1 - 1.2 - 1.1, -0.3 - 0.7 - 0.4 - 1.1]
    )
    with pytest.raises(UserError, match="does not know the option 'dog'"):
        load(small).answer([Prompt("the [MASK]", ("dog",))])


def test_gzipped_and_rewritten_files_are_equal(small: Path, tmp_path: Path) -> None:
    (tmp_path / "zipped.arpa.gz").write_bytes(gzip.compress(SMALL.encode()))
    write_arpa(tmp_path / "again.arpa", read_arpa(small))
    expected = list(load(small).score(["the cat the"]))
    for name in ("zipped.arpa.gz", "again.arpa"):
        assert list(load(tmp_path / name).score(["the cat the"])) == expected


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text[:120], "ends too early or is damaged"),
        (
            lambda text: text.replace("-0.4\tthe cat", "-0.4\tthe"),
            "line 14: not an n-gram of 2 words",
        ),
        (lambda text: text.replace("-0.7\tthe", "x\tthe"), "line 9: not an n-gram of 1 words"),
        (lambda text: text.replace("-0.7\tthe", "0.7\tthe"), "line 9: not an n-gram"),
        (lambda text: text.replace("ngram 2=2", "ngram 2=3"), "ends too early or is damaged"),
        (lambda text: text.replace("</s>", "end"), "has no </s>"),
        (lambda text: "A man in a hat.\n", "is not an ARPA file"),
        (lambda text: "", "is not an ARPA file"),
    ],
)
def test_invalid_files_are_refused(small: Path, change: object, sentence: str) -> None:
    assert callable(change)
    small.write_text(change(SMALL), encoding="utf-8")
    with pytest.raises(UserError, match=sentence):
        load(small)


def test_other_mistakes(small: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no ARPA file"):
        load(tmp_path / "none.arpa")
    small.write_bytes(b"\xff\xfe\x00rubbish")
    with pytest.raises(UserError, match="is not an ARPA file, or is damaged"):
        load(small)
    small.write_text(SMALL.replace("-2\t<unk>\n", "").replace("1=5", "1=4"), encoding="utf-8")
    with pytest.raises(UserError, match="has no <unk>"):
        list(load(small).score(["dog"]))


def test_scores_match_kenlm(small: Path, tmp_path: Path) -> None:
    """On a model of our own estimation, with its comment before the data; KenLM reads ARPA files
    with other code."""
    kenlm = pytest.importorskip("kenlm", reason="KenLM's Python module is not installed")
    from seesay.language.training.ngram import estimate
    from seesay.language.words.vocabulary import SPECIAL, Vocabulary

    sentences = [
        s.split() for s in ("a man on a horse", "a dog on the mat", "the man with a dog", "a horse")
    ]
    vocabulary = Vocabulary([*SPECIAL, "a", "the", "man", "dog", "horse", "on", "with"])
    write_arpa(tmp_path / "own.arpa", estimate(sentences, vocabulary))
    model, reference = load(tmp_path / "own.arpa"), kenlm.Model(str(tmp_path / "own.arpa"))
    texts = ["a man with the horse", "dog dog a", "the cat on a horse", "a"]
    scored = list(model.score(texts))
    assert "1 of 14 words are unknown" in model.notes()[0]
    for text, scores in zip(texts, scored, strict=True):
        expected = [score for score, _, _ in reference.full_scores(text)]
        assert [x / math.log(10) for x in scores.logp] == pytest.approx(expected, abs=1e-5)


def test_options_need_not_be_given(small: Path) -> None:
    assert load_model(str(small), ModelOptions(batch_size=1)).fingerprint == load(small).fingerprint
