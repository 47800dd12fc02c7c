from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.captions.strategies import PAIRS, SENTENCES

from seesay.captions import CaptionCorpus, rouge, rouge_l
from seesay.captions.coco.rouge import longest_common_subsequence, word_places

WORDS = st.lists(st.sampled_from("abc"), max_size=7)


def test_multi30k(corpus: CaptionCorpus) -> None:
    """Measurement: pycocoevalcap 1.2, Rouge(), caption 1 of the 1,014 validation images against
    captions 2 to 5."""
    assert rouge(corpus).value == pytest.approx(0.42288779805159454, abs=1e-12)


def test_by_hand() -> None:
    """Three words in order of the first reference, precision 3/4; both words of the second, recall
    2/2."""
    precision, recall = 3 / 4, 1.0
    expected = (1 + 1.2**2) * precision * recall / (recall + 1.2**2 * precision)
    assert rouge_l(
        "police kill the gunman", ["police killed the gunman too often", "the gunman"]
    ) == pytest.approx(expected)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_subsequence_by_brute_force(left: list[str], right: list[str]) -> None:
    def inside(part: tuple[str, ...]) -> bool:
        rest = iter(right)
        return all(word in rest for word in part)

    longest = max(
        n for n in range(len(left) + 1) if any(inside(part) for part in combinations(left, n))
    )
    assert longest_common_subsequence(word_places(left), len(left), right) == longest


@settings(deadline=None)
@given(SENTENCES)
def test_a_caption_against_itself_is_perfect(text: str) -> None:
    assert rouge_l(text, ["", text]) == pytest.approx(1)


@settings(deadline=None)
@given(PAIRS)
def test_in_range(pair: tuple[str, list[str]]) -> None:
    assert 0 <= rouge_l(*pair) <= 1 + 1e-12
