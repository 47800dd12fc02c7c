"""The expected words were given by METEOR 1.5's own normaliser (`edu.cmu.meteor.util.Normalizer`,
English)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seesay.captions.coco.meteor.normalize import Prefixes, normalize, normalize_all

PREFIXES = Prefixes.parse("#titles\nMr\nSt\n\nNo #NUMERIC_ONLY#\n")
EXPECTED = {
    "a man -lrb- in the u.s. -rrb- is n't riding": "a man -lrb- in the us -rrb- is n 't riding",
    "it 's o'clock rock 'n' roll 5's": "it ' s o 'clock rock ' n ' roll 5 's",
    "a'b'c a''b 5'a": "a 'b'c a \" b 5'a",
    "t-shirt a-b-c a--b - -- ---": "t shirt a b-c a b - - --",
    "1,000 a,5 5,a 3.5 10:30 50%": "1,000 a , 5 5 , a 3.5 10 : 30 50 %",
    "“x” ‘y’ … – —": "\" x \" ' y ' … - —",
    "日本 naïve ★": "日 本 naïve ★",
    "st. x. Y": "st. x . y",
    "St. 5 No. 5 No. X": "st. 5 no. 5 no . x",
    "ab.cd. 1.5. X a... a..b": "abcd 1.5 . x a ... a .. b",
    "a ||| b": "a | | | b",
    "nb\xa0sp": "nb sp",
    "": "",
}


@pytest.mark.parametrize(("text", "words"), EXPECTED.items())
def test_results_match_meteor(text: str, words: str) -> None:
    assert normalize(text, PREFIXES) == words.split()


@settings(deadline=None)
@given(st.text(st.sampled_from("abz ")))
def test_plain_words_stay(text: str) -> None:
    assert normalize(text, PREFIXES) == text.split()


@pytest.mark.seconds
@settings(deadline=None)
@given(st.text())
def test_no_word_holds_a_blank(text: str) -> None:
    assert all(len(word.split()) == 1 for word in normalize(text, PREFIXES))


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("abzst059 '.,-\"%é\xa0Nn–")), max_size=4))
def test_many_texts_at_once_give_the_same(texts: list[str]) -> None:
    texts = [*EXPECTED, *texts]
    words = normalize_all(texts, PREFIXES)
    spelled = [words.vocabulary[number] for number in words.numbers]
    assert spelled == [word for text in texts for word in normalize(text, PREFIXES)]
    assert words.lengths.tolist() == [len(normalize(text, PREFIXES)) for text in texts]
