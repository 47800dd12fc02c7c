"""Beside pycocoevalcap in one run: Multi30k, and captions with odd text."""

from __future__ import annotations

import importlib.util
import random
import shutil
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.needs import absent

from seesay.captions import CaptionCorpus, MeteorResources, bleu, cider_d, meteor, rouge

WORDS = [
    "a",
    "dog",
    "runs",
    "in",
    "the",
    "park",
    "with",
    "red",
    "ball",
    "and",
    "two",
    "big",
    "cats",
]
ODD = [
    "",
    " ",
    "😀 a dog 👍🏽 runs",
    "\"A dog\" 'runs' “fast” ‘now’",
    "3 dogs, 2.5 cats & 1,000 birds at 10:30 for $5.00 (50%)",
    " ".join(random.Random(5).choices(WORDS, k=1000)),
    "dog dog dog dog dog dog",
    "!!! ... ?? -- ;;; :: ,,",
    "犬が公園で走る",
    "Собака бежит по парку",
    "كلب يركض في الحديقة",
    "चीता दौड़ रहा है",
    "A café naïve façade — Zürich’s rôle…",
    "don't can't it's o'clock rock 'n' roll y'all 'tis",
    "a\tb\tc",
    "e-mail me at foo@bar.com or http://x.org/y?z=1 #tag @user",
    "U.S. and U.K. Mr. Smith, Jr. at 5 p.m.",
    "A <b>bold</b> tag &amp; entity",
    "call 415 555 1234 or (415) 555-1234",
    "1 1/2 cups ½ ¼",
    "a man [with] {braces} (and) -lrb-",
    ":-) ;) :( <3 ^_^",
    "ALL CAPS SENTENCE HERE",
    "a" * 300,
    "e\u0301 combining a\u00adsoft\u00adhyphen zero\u200bwidth",
    "the the the the",
    "a-b-c-d well-known t-shirt",
    "x",
    ".",
    "A man riding a wave on top of a surfboard.",
    "a | b ||| c",
    "C:\\path\\to and/or 24/7",
    "he said: \"no!\"; she: 'yes?'",
    "$100 £5 €7 ¥9 5¢",
    "12/25/2012 2012-12-25 3rd 1990s '90s",
]
REFERENCES = [
    "a dog runs in the park",
    "A dog is running fast in a park.",
    "two dogs",
    "3 dogs and 2.5 cats at 10:30",
]


def _peer(
    hypotheses: list[str], references: list[list[str]]
) -> tuple[CaptionCorpus, Mapping[str, Any]]:
    """pycocoevalcap's tokens, as a corpus, and its (figure, figures by caption) by metric."""
    if shutil.which("java") is None or importlib.util.find_spec("pycocoevalcap") is None:
        absent("pycocoevalcap or Java not found: nothing to compare with")
    scorers = {
        name: getattr(importlib.import_module(f"pycocoevalcap.{name}.{name}"), name.title())
        for name in ("bleu", "rouge", "cider", "meteor")
    }
    tokenizer = importlib.import_module("pycocoevalcap.tokenizer.ptbtokenizer").PTBTokenizer()
    gold = tokenizer.tokenize(
        {i: [{"caption": text} for text in row] for i, row in enumerate(references)}
    )
    tokenized = tokenizer.tokenize({i: [{"caption": text}] for i, text in enumerate(hypotheses)})
    tokens = CaptionCorpus(
        [tokenized[i][0] for i in range(len(hypotheses))], [gold[i] for i in range(len(hypotheses))]
    )
    return tokens, {
        name: scorer().compute_score(gold, tokenized) for name, scorer in scorers.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["multi30k", "odd"])
def test_figures_equal_pycocoevalcap(
    kind: str, multi30k: tuple[list[str], list[list[str]]], resources: MeteorResources
) -> None:
    """Not only the figures: every caption's tokens and every caption's score."""
    odd = [[*REFERENCES, text] if i % 2 else REFERENCES for i, text in enumerate(ODD)]
    hypotheses, references = multi30k if kind == "multi30k" else (ODD, odd)
    tokens, peer = _peer(hypotheses, references)
    corpus = CaptionCorpus.tokenized(hypotheses, references)
    assert list(corpus.hypotheses) == list(tokens.hypotheses)
    assert [list(row) for row in corpus.references] == [list(row) for row in tokens.references]
    for order, metric in enumerate(bleu(corpus)):
        assert metric.value == pytest.approx(peer["bleu"][0][order], abs=1e-12)
        assert metric.scores == pytest.approx(np.asarray(peer["bleu"][1][order]), abs=1e-12)
    for name, metric in (
        ("rouge", rouge(corpus)),
        ("cider", cider_d(corpus)),
        ("meteor", meteor(corpus, resources)),
    ):
        assert metric.value == pytest.approx(float(peer[name][0]), abs=1e-12)
        assert metric.scores == pytest.approx(np.asarray(peer[name][1]), abs=1e-12)
