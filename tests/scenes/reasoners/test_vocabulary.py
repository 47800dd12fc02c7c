"""Sentences as numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from seesay.scenes import published
from seesay.scenes.reasoners.vocabulary import (
    END,
    NULL,
    SPECIAL,
    START,
    UNKNOWN,
    SentenceVocabulary,
    split_words,
)

WORD = st.from_regex(r"[a-z][a-z'-]{0,6}", fullmatch=True)


def test_layout_equals_the_published_vocabulary() -> None:
    assert published.SPECIAL == SPECIAL
    assert (START, END, UNKNOWN) == (published.START, published.END, published.UNKNOWN)
    sentences = ["the red square is a big object", "the blue circle is the smallest"]
    tokens = published.vocabulary(sentences)["question_token_to_idx"]
    expected = [published.encode(sentence, tokens, 9) for sentence in sentences]
    assert SentenceVocabulary.of(sentences).encode(sentences).tolist() == expected


def test_rows_by_hand() -> None:
    words = SentenceVocabulary.of(["Is it big?", "It is."])
    assert words.words == ("big", "is", "it")  # numbers 4, 5, 6
    assert words.encode(["It is BIG!", "Is it?", "is it purple"]).tolist() == [
        [START, 6, 5, 4, END],
        [START, 5, 6, END, NULL],
        [START, 5, 6, UNKNOWN, END],
    ]
    assert len(words) == 7
    assert words.encode([]).shape == (0, 0)


def test_words_keep_their_apostrophes_and_hyphens() -> None:
    assert split_words("The dog's t-shirt, (red)!") == ["the", "dog's", "t-shirt", "red"]


@given(st.lists(st.lists(WORD, min_size=1, max_size=6), min_size=1, max_size=5))
def test_known_sentences_can_be_read_back(sentences: list[list[str]]) -> None:
    texts = [" ".join(sentence) for sentence in sentences]
    words = SentenceVocabulary.of(texts)
    names = [*SPECIAL, *words.words]
    rows = words.encode(texts)
    assert rows.dtype == np.int64
    for row, sentence in zip(rows.tolist(), sentences, strict=True):
        kept = [names[number] for number in row if number != NULL]
        assert kept == ["<START>", *sentence, "<END>"]


@given(st.permutations(["the red square is big", "a circle", "is it the smallest"]))
def test_the_order_of_the_sentences_does_not_matter(sentences: list[str]) -> None:
    assert SentenceVocabulary.of(sentences) == SentenceVocabulary.of(sorted(sentences))


def test_published_vocabularies_tell_capitals_apart() -> None:
    """SUP1's has 18 entries, of which `The` is number 4 and `the` 14, as in its vocab.json."""
    shapes, colors = ("circle", "rectangle", "square", "triangle"), ("blue", "green", "red")
    sentences = [
        f"The {color} {shape} is the {adjective} {shape}"
        for color in (*colors, "white", "yellow")
        for shape in shapes
        for adjective in ("biggest", "smallest")
    ]
    words = SentenceVocabulary.of(sentences, cased=True)
    assert (len(words), words.ids["The"], words.ids["the"]) == (18, 4, 14)
    assert len(SentenceVocabulary.of(sentences)) == 17
    # read from a file, it still tells them apart
    again = SentenceVocabulary(words.words)
    assert again.encode(["The circle is the biggest circle"]).tolist() == [
        [START, 4, 7, 9, 14, 5, 7, END]
    ]
    tokens = published.vocabulary(sentences)["question_token_to_idx"]
    assert again.encode(sentences).tolist() == [
        published.encode(sentence, tokens, 9) for sentence in sentences
    ]
