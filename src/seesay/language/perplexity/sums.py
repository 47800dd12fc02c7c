"""Perplexity at token and at sentence level (Ghanimifard & Dobnik 2019, appendix A).

Probabilities are always summed as logarithms: a product of them would underflow.

A corpus is reduced to a few sums, so that files of any length need no memory: perplexities and bits
follow from them. Log-probabilities are natural.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PerplexitySums:
    """The sums over sentences that perplexities are computed from.

    The sums of two parts add up to those of the whole.

    >>> sums = text_sums("a b", [math.log(1 / 2), math.log(1 / 4)])
    >>> sums += text_sums("c", [math.log(1 / 8)])
    >>> round(sums.token_perplexity, 12), round(sums.sentence_perplexity, 12)
    (4.0, 8.0)
    """

    logp: float = 0.0
    tokens: int = 0
    sentences: int = 0
    words: int = 0
    characters: int = 0

    def __add__(self, other: PerplexitySums) -> PerplexitySums:
        return PerplexitySums(
            self.logp + other.logp,
            self.tokens + other.tokens,
            self.sentences + other.sentences,
            self.words + other.words,
            self.characters + other.characters,
        )

    @property
    def token_perplexity(self) -> float:
        """exp(−Σ_d log P(W_d) / Σ_d N_d), over all tokens of all sentences."""
        # Appendix A, equation 6; the base of the logarithm cancels out.
        return _exp(-self.logp / self.tokens)

    @property
    def word_perplexity(self) -> float:
        """exp(−Σ_d log P(W_d) / Σ_d N_d), where N_d counts the words between spaces of a sentence,
        whatever tokens a model makes of them.

        What a model scores beside the words (an end of sentence) is part of log P(W_d), and no
        word.

        >>> sums = text_sums("a tabby", [math.log(1 / 2), math.log(1 / 4), math.log(1 / 2)])
        >>> round(sums.word_perplexity, 12), round(sums.token_perplexity, 4)
        (4.0, 2.5198)
        """
        return _exp(-self.logp / self.words)

    @property
    def sentence_perplexity(self) -> float:
        """2^(−(1/|S|) Σ_s log2 P(s)): every sentence has the same weight, whatever its length."""
        # Appendix A, equations 9 and 12.
        return _exp(-self.logp / self.sentences)

    @property
    def bits_per_sentence(self) -> float:
        """The exponent of the sentence perplexity.

        It stays readable where the perplexity overflows.
        """
        return _bits(self.logp, self.sentences)

    @property
    def bits_per_character(self) -> float:
        """Bits per character, comparable between models with different tokenizers."""
        return _bits(self.logp, self.characters)

    @property
    def bits_per_word(self) -> float:
        """Bits per word between spaces, comparable between models with different tokenizers."""
        return _bits(self.logp, self.words)


def text_sums(text: str, logp: Sequence[float]) -> PerplexitySums:
    """Return the sums of one sentence, from its tokens' log-probabilities.

    Words are separated by spaces.
    """
    return PerplexitySums(math.fsum(logp), len(logp), 1, len(text.split()), len(text))


def _bits(logp: float, count: int) -> float:
    """Return bits per unit from a natural log-probability."""
    return -logp / math.log(2) / count


def _exp(exponent: float) -> float:
    """Return the exponential; infinity where it overflows."""
    try:
        return math.exp(exponent)
    except OverflowError:
        # The perplexity of a sentence of several hundred tokens is larger than any float.
        return math.inf
