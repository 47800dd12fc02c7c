"""Spatial relations in a corpus: contexts, P-vectors, and what they are tested on."""

from __future__ import annotations

from enum import StrEnum


class ContextPart(StrEnum):
    """Which captions the contexts are taken from."""

    ALL = "all"
    TRAIN = "train"
    HELD_OUT = "held-out"


class PerplexityLevel(StrEnum):
    """What perplexity is averaged over.

    The published matrix averages over tokens (appendix A, equation 6), the paper's equation over
    sentences (equation 12).
    """

    TOKEN = "token"
    SENTENCE = "sentence"
