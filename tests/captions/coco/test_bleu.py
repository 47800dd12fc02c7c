from __future__ import annotations

from collections import Counter
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.captions.strategies import CORPORA, FULL, SENTENCES

from seesay.captions import CaptionCorpus, bleu, unigram_precision
from seesay.captions.coco.bleu import precision, statistics


def test_multi30k(corpus: CaptionCorpus) -> None:
    """Measurement: pycocoevalcap 1.2, Bleu(4), caption 1 of the 1,014 validation images against
    captions 2 to 5."""
    peer = [0.5010764262647739, 0.3288025306358399, 0.21450039512309751, 0.140010670939311]
    assert [metric.value for metric in bleu(corpus)] == pytest.approx(peer, abs=1e-12)


def test_by_hand() -> None:
    """5 of 6 words and 3 of 5 pairs match; the closest reference is one word longer: brevity exp(1
    − 7/6)."""
    corpus = CaptionCorpus(
        ["the cat sat on the mat"], [["the cat is on the mat today", "a b c d e f g h i"]]
    )
    unigrams, bigrams, *_ = (metric.value for metric in bleu(corpus))
    assert unigrams == pytest.approx(5 / 6 * exp(1 - 7 / 6), abs=1e-8)
    assert bigrams == pytest.approx((5 / 6 * 3 / 5) ** 0.5 * exp(1 - 7 / 6), abs=1e-8)


def test_the_shorter_of_two_equally_close_references_counts() -> None:
    assert statistics(CaptionCorpus(["a b c"], [["a b c d", "a b"]]))[0, -1] == 2


@settings(deadline=None)
@given(CORPORA)
def test_counts_are_those_of_plain_counting(pairs: list[tuple[str, list[str]]]) -> None:
    rows = statistics(CaptionCorpus([h for h, _ in pairs], [r for _, r in pairs]))
    for row, (hypothesis, references) in zip(rows, pairs, strict=True):
        words = hypothesis.split()
        for k in range(1, 5):
            counts = _grams(words, k)
            most: Counter[tuple[str, ...]] = Counter()
            for reference in references:
                most |= _grams(reference.split(), k)
            assert row[k - 1] == (counts & most).total()
            assert row[4 + k - 1] == counts.total()
        assert (
            row[9] == min((abs(len(r.split()) - len(words)), len(r.split())) for r in references)[1]
        )


def _grams(words: list[str], k: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + k]) for i in range(len(words) - k + 1))


@settings(deadline=None)
@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3), SENTENCES)
def test_another_reference_never_lowers_the_clipped_counts(
    text: str, references: list[str], more: str
) -> None:
    before, after = (
        statistics(CaptionCorpus([text], [refs]))[0, :4]
        for refs in (references, [*references, more])
    )
    assert (after >= before).all()


@settings(deadline=None)
@given(FULL)
def test_a_caption_against_itself_is_perfect(text: str) -> None:
    orders = min(4, len(text.split()))
    assert [
        metric.value for metric in bleu(CaptionCorpus([text], [[text]]))[:orders]
    ] == pytest.approx([1] * orders, abs=1e-6)


@settings(deadline=None)
@given(CORPORA, st.randoms())
def test_order_changes_nothing_and_figures_stay_in_range(
    pairs: list[tuple[str, list[str]]], random: object
) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    forwards = bleu(CaptionCorpus([h for h, _ in pairs], [r for _, r in pairs]))
    backwards = bleu(CaptionCorpus([h for h, _ in shuffled], [r for _, r in shuffled]))
    for a, b in zip(forwards, backwards, strict=True):
        assert a.value == pytest.approx(b.value, abs=1e-12)
        assert np.isfinite(a.scores).all()
        assert (a.scores >= 0).all()
        assert (a.scores <= 1 + 1e-9).all()


def test_unigram_precision() -> None:
    """Papineni et al. (2002), example 2."""
    references = ["The cat is on the mat".lower(), "There is a cat on the mat".lower()]
    assert unigram_precision("the the the the the the the", references) == 1
    assert unigram_precision(
        "the the the the the the the", references, clipped=True
    ) == pytest.approx(2 / 7)
    assert unigram_precision("", references) == 0


def test_unigram_precision_of_a_corpus_is_over_all_words() -> None:
    """Seven of seven words, then one of two ("a" is in no reference): 8 of 9; no words count for
    nothing."""
    references = [["the cat is on the mat"], ["cat"], ["cat"]]
    measured = precision(CaptionCorpus(["the the the the the the the", "a cat", ""], references))
    assert measured.value == pytest.approx(8 / 9)
    assert measured.scores.tolist() == [1, 0.5, 0]
