"""The three abilities a model may have, each a small protocol: to answer, to score, to encode.

A family implements what it can. `plan` is apart from `answer` so that a run can be resumed: the makeup of a
batch depends on the prompts alone, so a batch computed again after a crash gives the same digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from seesay.questions import Prompt, Scores


@runtime_checkable
class CanAnswer(Protocol):
    """Gives every option of a prompt a log-probability."""

    @property
    def name(self) -> str:
        """The model as the user named it."""

    @property
    def family(self) -> str:
        """How it answers: masked, causal, encoder-decoder, completions, chat, baseline…"""

    @property
    def fingerprint(self) -> str:
        """A digest that changes when the weights, the tokeniser or a setting that shapes the answers changes."""

    @property
    def scope(self) -> str:
        """What is scored: `sentence`, `option`, `slot`, `answer` or `choice`; part of the signature."""

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Indices of the prompts in batches, each prompt once; the same prompts give the same batches."""

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The scores of one batch, in order."""


@dataclass(frozen=True, slots=True)
class TokenScores:
    """A text's tokens with the log-probability of each; a first token without context has none and is left out.

    A text that the model cannot score has no tokens, and `left_out` says why.
    """

    tokens: tuple[str, ...]
    logp: tuple[float, ...]
    left_out: str = ""


@runtime_checkable
class CanScore(Protocol):
    """Gives texts a log-probability, token by token: perplexity and P-vectors stand on it."""

    def score(
        self, texts: Iterable[str], *, end: bool | None = None, stride: int | None = None
    ) -> Iterator[TokenScores]:
        """Token log-probabilities, text by text, in order.

        `end`: with or without the end-of-sentence token; by default as the model itself writes texts. `stride`: by how
        many tokens the window moves over a text that is longer than it; by default half of the window.
        """


@dataclass(frozen=True, slots=True)
class Filled:
    """Sentences with each of some words in their gap (words × sentences): log-probabilities, and tokens scored."""

    logp: NDArray[np.float64]
    tokens: NDArray[np.int64]


@runtime_checkable
class CanFill(Protocol):
    """Scores many words in the same gaps faster than sentence by sentence."""

    def score_filled(self, gaps: Sequence[tuple[str, str]], words: Sequence[str]) -> Filled:
        """Every word between what stands before and after every gap."""


@runtime_checkable
class CanEncode(Protocol):
    """Turns texts into vectors: linear probes and categories stand on it."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text."""
