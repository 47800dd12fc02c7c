"""Perplexity at token and at sentence level, always summed as logarithms (Ghanimifard & Dobnik 2019, section 3).

A corpus is summed up in a `Tally`, so that files of any length need no memory: the two equations and the bits follow
from its sums alone. Log-probabilities are natural ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tally:
    """What perplexities need to know of sentences; tallies of two parts add up to that of the whole."""

    logp: float = 0.0
    tokens: int = 0
    sentences: int = 0
    words: int = 0
    characters: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.logp + other.logp,
            self.tokens + other.tokens,
            self.sentences + other.sentences,
            self.words + other.words,
            self.characters + other.characters,
        )

    @property
    def token_perplexity(self) -> float:
        """By the corpus formula: exp(−Σ_d log P(W_d) / Σ_d N_d)."""
        return corpus_perplexity([self.logp], [self.tokens])

    @property
    def sentence_perplexity(self) -> float:
        """2^(−(1/|S|) Σ_s log2 P(s))."""
        return _exp(-self.logp / self.sentences)

    @property
    def bits_per_sentence(self) -> float:
        """The sentence perplexity's exponent, which stays readable where the perplexity does not."""
        return _bits(self.logp, self.sentences)

    @property
    def bits_per_character(self) -> float:
        """Comparable between models that cut texts into different tokens."""
        return _bits(self.logp, self.characters)

    @property
    def bits_per_word(self) -> float:
        """Likewise, for words between spaces."""
        return _bits(self.logp, self.words)


def tally(text: str, logp: Sequence[float]) -> Tally:
    """One sentence: its words are what stands between spaces, its characters all that stand in it."""
    return Tally(math.fsum(logp), len(logp), 1, len(text.split()), len(text))


def token_perplexity(sentences: Sequence[Sequence[float]]) -> float:
    """2^(−(1/T) Σ log2 q(w_t | w_<t)), over all tokens of all sentences.

    >>> token_perplexity([[math.log(1 / 2), math.log(1 / 4)], [math.log(1 / 8)]])
    4.0
    """
    bits = [logp / math.log(2) for sentence in sentences for logp in sentence]
    return _power(-math.fsum(bits) / len(bits))


def corpus_perplexity(logps: Sequence[float], lengths: Sequence[int]) -> float:
    """exp(−Σ_d log P(W_d) / Σ_d N_d), from each sentence's log-probability and length; equal to the token one."""
    return _exp(-math.fsum(logps) / sum(lengths))


def sentence_perplexity(sentences: Sequence[Sequence[float]]) -> float:
    """2^(−(1/|S|) Σ_s log2 P(s)): every sentence weighs the same whatever its length; P(s) by the chain rule.

    >>> sentence_perplexity([[math.log(1 / 2), math.log(1 / 4)], [math.log(1 / 8)]])
    8.0
    """
    bits = [math.fsum(sentence) / math.log(2) for sentence in sentences]
    return _power(-math.fsum(bits) / len(bits))


def _bits(logp: float, count: int) -> float:
    return -logp / math.log(2) / count


def _power(exponent: float) -> float:
    try:
        return math.pow(2, exponent)
    except OverflowError:
        return math.inf


def _exp(exponent: float) -> float:
    try:
        return math.exp(exponent)
    except OverflowError:  # a sentence of some hundred tokens: more than a number holds
        return math.inf
