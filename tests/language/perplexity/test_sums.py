"""Both levels of perplexity, the corpus formula, and bits: worked by hand, and equal on random
probability tables."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seesay.language.perplexity.sums import PerplexitySums, text_sums

probabilities = st.floats(min_value=1e-12, max_value=1.0)
tables = st.lists(st.lists(probabilities, min_size=1, max_size=12), min_size=1, max_size=12)

# Two sentences: P(s1) = 1/2 · 1/4 · 1/8 = 2^-6 (3 tokens), P(s2) = 1/4 (1 token).
BY_HAND = [[1 / 2, 1 / 4, 1 / 8], [1 / 4]]


def token_perplexity(sentences: list[list[float]]) -> float:
    """2^(−(1/T) Σ log2 q(w_t | w_<t)), over all tokens of all sentences, as the paper writes it."""
    bits = [logp / math.log(2) for sentence in sentences for logp in sentence]
    return math.pow(2, -math.fsum(bits) / len(bits))


def sentence_perplexity(sentences: list[list[float]]) -> float:
    """2^(−(1/|S|) Σ_s log2 P(s)), P(s) by the chain rule, as the paper writes it."""
    bits = [math.fsum(sentence) / math.log(2) for sentence in sentences]
    return math.pow(2, -math.fsum(bits) / len(bits))


def logs(table: list[list[float]]) -> list[list[float]]:
    return [[math.log(p) for p in sentence] for sentence in table]


def test_by_hand() -> None:
    rows = logs(BY_HAND)
    total = text_sums("one two cats", rows[0]) + text_sums("cat", rows[1])
    assert (total.tokens, total.sentences, total.words, total.characters) == (4, 2, 4, 15)
    assert total.token_perplexity == pytest.approx(2 ** ((6 + 2) / 4))  # 8 bits over 4 tokens
    assert total.sentence_perplexity == pytest.approx(2 ** ((6 + 2) / 2))  # 8 bits over 2 sentences
    assert total.bits_per_sentence == pytest.approx(4.0)
    assert total.bits_per_word == pytest.approx(8 / 4)
    assert total.bits_per_character == pytest.approx(8 / 15)


def test_word_perplexity_counts_words_not_pieces() -> None:
    """Equation 2 of the CS388 notes, by hand: "unbelievable" in three pieces (1/2, 1/4, 1/2) and
    "cats sleep" in two (1/8, 1/4): 4 + 5 = 9 bits over 3 words, 5 tokens, 2 sentences."""
    first = text_sums("unbelievable", [math.log(p) for p in (1 / 2, 1 / 4, 1 / 2)])
    second = text_sums("cats sleep", [math.log(p) for p in (1 / 8, 1 / 4)])
    total = first + second
    assert total.word_perplexity == pytest.approx(8)  # 2 ** (9 / 3)
    assert total.token_perplexity == pytest.approx(2 ** (9 / 5))
    # the definition, equation 1: the N-th root of 1 / P(w_1 … w_N), N = 3
    assert total.word_perplexity == pytest.approx((1 / (2**-4 * 2**-5)) ** (1 / 3))


@given(tables)
def test_the_formulas_agree(table: list[list[float]]) -> None:
    rows = logs(table)
    tokens = sum(map(len, rows))
    # the definition, without logs
    product = math.prod(p ** (1 / tokens) for sentence in table for p in sentence)
    total = sum((text_sums("x", row) for row in rows), PerplexitySums())
    assert token_perplexity(rows) == pytest.approx(1 / product, rel=1e-9)
    assert total.token_perplexity == pytest.approx(1 / product, rel=1e-9)
    assert total.sentence_perplexity == pytest.approx(sentence_perplexity(rows), rel=1e-9)
    # The sentence level is the token level raised to the mean length of a sentence.
    assert math.log(total.sentence_perplexity) == pytest.approx(
        math.log(total.token_perplexity) * tokens / len(rows), rel=1e-9, abs=1e-9
    )


@given(tables, tables)
def test_a_corpus_may_be_read_in_parts(first: list[list[float]], second: list[list[float]]) -> None:
    parts = [
        sum((text_sums("a word", row) for row in logs(part)), PerplexitySums())
        for part in (first, second)
    ]
    whole = sum((text_sums("a word", row) for row in logs([*first, *second])), PerplexitySums())
    joined = parts[0] + parts[1]
    assert joined.logp == pytest.approx(whole.logp, rel=1e-9, abs=1e-9)
    assert (joined.tokens, joined.sentences, joined.words) == (
        whole.tokens,
        whole.sentences,
        whole.words,
    )


@given(st.lists(st.lists(probabilities, min_size=3, max_size=3), min_size=1, max_size=9))
def test_a_uniform_model_has_its_vocabulary_as_perplexity(table: list[list[float]]) -> None:
    size = len(table)
    rows = [[math.log(1 / size)] * 3 for _ in table]
    total = sum((text_sums("x", row) for row in rows), PerplexitySums())
    assert total.token_perplexity == pytest.approx(size)
    assert total.sentence_perplexity == pytest.approx(size**3)


def test_a_text_too_long_for_a_number() -> None:
    """A thousand tokens of 10 bits each: 2^10000 is no float, but its bits are."""
    long = PerplexitySums(
        logp=-10_000 * math.log(2), tokens=1000, sentences=1, words=1000, characters=5000
    )
    assert long.sentence_perplexity == math.inf
    assert long.bits_per_sentence == pytest.approx(10_000)
    assert long.token_perplexity == pytest.approx(1024)
    with pytest.raises(ValueError, match="Out of range"):
        json.dumps(long.sentence_perplexity, allow_nan=False)
