"""The expected stems were given by METEOR 1.5's stemmer (Snowball English of its day); 355,213
words were compared."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seesay.captions.coco.meteor.stem import stem

EXPECTED = {
    "running": "run", "rides": "ride", "riding": "ride", "added": "ad",
    "biologist": "biologist", "happily": "happili", "skies": "sky", "dying": "die",
    "news": "news", "ties": "tie", "cries": "cri", "gas": "gas", "gaps": "gap",
    "agreed": "agre", "hoping": "hope", "hopping": "hop", "generous": "generous",
    "communism": "communism", "realization": "realiz", "irrationally": "irrat",
    "canning's": "canning", "herring": "herring", "by": "by", "say": "say", "cry": "cri",
    "controlled": "control", "dogs'": "dog", "'tis": "tis", "yes": "yes", "youth": "youth",
    "sensationally": "sensat", "adoption": "adopt", "vile": "vile", "bed": "bed",
    "élite": "élite",
}  # fmt: skip


@pytest.mark.parametrize(("word", "expected"), EXPECTED.items())
def test_results_match_meteor(word: str, expected: str) -> None:
    assert stem(word) == expected


@settings(deadline=None)
@given(st.text(st.sampled_from("aeiouybdlingsty'é")))
def test_never_longer_than_the_word_and_one(word: str) -> None:
    assert len(stem(word)) <= len(word) + 1
