"""The page of surprisals."""

from __future__ import annotations

import math
import re
from pathlib import Path

from seesay.language.perplexity.page import write_surprisals
from seesay.language.perplexity.surprisal import SentenceSurprisal, WordSurprisal


def sentence(line: int, first: list[float], second: list[float]) -> SentenceSurprisal:
    """A sentence with these bits under two models."""
    names = tuple(f"w{place}" for place in range(len(first)))
    models = {}
    for model, bits in (("a", first), ("b", second)):
        models[model] = tuple(
            WordSurprisal(name, value, ()) for name, value in zip(names, bits, strict=True)
        )
    return SentenceSurprisal(line, " ".join(names), names, models)


def test_all_sentences_share_their_scales(tmp_path: Path) -> None:
    """A calm sentence is pale beside one that surprises, and a word that a model skips is no
    end of a scale."""
    sentences = [
        sentence(1, [2.0, 3.0], [1.0, math.nan]),
        sentence(2, [20.0, 1.0], [4.0, 9.0]),
    ]
    page = write_surprisals(tmp_path / "page.html", sentences, ["signature"])
    text = page.read_text(encoding="utf-8")
    least = re.findall(r">less ([^<]*)<", text)
    greatest = re.findall(r">([^<]*) more<", text)
    # of each sentence the strips, then the difference: from 4 - 20 to its mirror
    assert least == ["0", "−16", "0", "−16"]
    assert greatest == ["20", "16", "20", "16"]
