"""`perplexity()` as a Python function: texts from a list and from a file, and what is left out of
either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import seesay
from seesay.errors import UserError
from seesay.language.perplexity.score import ScoredText, perplexity
from seesay.language.perplexity.sums import PerplexitySums
from seesay.models.base import Model, TokenScores


class HalfAsProbable(Model):
    """Gives every word a probability of 1/2 (log 2 of −1), refuses 'long' texts and has no token
    for 'mute' ones."""

    name, family, fingerprint = "half", "toy", "0"

    def score(
        self, texts: Iterable[str], *, end: bool | None = None, stride: int | None = None
    ) -> Iterator[TokenScores]:
        for text in texts:
            if "long" in text:
                yield TokenScores((), (), "too long")
            else:
                words = () if text == "mute" else tuple(text.split())
                yield TokenScores(words, (-0.6931471805599453,) * len(words))


TEXTS = ["a cat", "", "a long text", "mute", "the black cat"]


def test_texts_in_memory_and_in_a_file_give_the_same_result(tmp_path: Path) -> None:
    """5 words of 1 bit each: 2 per token, 2^(5/2) per sentence; an empty, a refused and a mute text
    are counted."""
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    scored: list[ScoredText] = []
    result = perplexity(HalfAsProbable(), TEXTS, on_text=scored.append)
    assert perplexity(HalfAsProbable(), path) == result
    assert result.token_perplexity == pytest.approx(2)
    assert result.sentence_perplexity == pytest.approx(2**2.5)
    assert (result.tokens, result.sentences, result.words, result.characters) == (5, 2, 5, 18)
    assert (result.blank, result.unscored, result.left_out) == (1, 1, 1)
    assert [(row.row, row.reason) for row in result.bad_rows] == [(3, "too long")]
    assert [text.line for text in scored] == [1, 5]
    assert sum((text.sums for text in scored), PerplexitySums()).tokens == result.tokens
    assert result.signature.startswith(
        "model:half|fingerprint:0|family:toy|eos:own|stride:own|texts:"
    )


def test_a_limit_counts_texts_and_not_lines() -> None:
    assert perplexity(HalfAsProbable(), ["", "a", "", "b c", "d"], limit=2).words == 3
    assert perplexity(HalfAsProbable(), iter(["a"])).as_json()["bits_per_word"] == pytest.approx(1)


def test_what_is_no_text_is_an_error() -> None:
    for measure in (seesay.perplexity, seesay.surprisals):
        with pytest.raises(UserError, match="texts has 3: give texts"):
            measure(HalfAsProbable(), ["a", 3])


def test_nothing_to_score_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no text that can be scored .*\(text 1: too long\)"):
        perplexity(HalfAsProbable(), ["long"])
    with pytest.raises(UserError, match="There is no file"):
        perplexity(HalfAsProbable(), tmp_path / "missing.txt")


def test_a_model_without_log_probabilities_is_refused() -> None:
    silent = Model()
    silent.name, silent.family = "silent", "toy"
    with pytest.raises(UserError, match=r"'silent' \(toy\) cannot score texts"):
        perplexity(silent, ["a"])
