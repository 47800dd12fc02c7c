"""The model contract: what a model says of itself, and what it may be able to do.

A model implements what it can of `answer`, `score`, `encode` and `generate`; everything else has a default. Models of
other packages subclass `Model` too, and get everything that ours get.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.questions import Prompt, Scores, Task

log = logging.getLogger(__name__)

BATCH = 64  # prompts


@dataclass(frozen=True, slots=True)
class TokenScores:
    """A text's tokens with the log-probability of each; a first token without context has none and is left out.

    A text that the model cannot score has no tokens, and `left_out` says why.
    """

    tokens: tuple[str, ...]
    logp: tuple[float, ...]
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Filled:
    """Sentences with each of some words in their gap (words × sentences): log-probabilities, and tokens scored."""

    logp: NDArray[np.float64]
    tokens: NDArray[np.int64]


class Model:
    """Anything that can answer, score, encode or generate. Subclasses set the fields and implement what they can."""

    name: str
    """The model as the user named it."""

    family: str
    """How it answers: masked, causal, encoder-decoder, completions, chat, baseline…"""

    fingerprint: str
    """A digest that changes when the weights, the tokenizer or a setting that shapes the answers changes."""

    scope: str = "option"
    """What is scored: `sentence`, `option`, `slot`, `answer` or `choice`; part of the signature."""

    accepts: frozenset[str] = frozenset({"text"})
    """What a prompt may hold: text, and `pictures` for a model that looks at them."""

    probe: str | None = None
    """The name that trained probes share whatever their seed; None for a model that is no probe."""

    probe_seed: int | None = None
    """The seed that a probe was trained with."""

    _notes: dict[str, None] | None = None

    @property
    def abilities(self) -> frozenset[str]:
        """Which of `answer`, `score`, `encode` and `generate` this model implements."""
        kind = type(self)
        implemented = {
            "answer": kind.answer is not Model.answer,
            "score": kind.score is not Model.score,
            "encode": kind.encode is not Model.encode,
            "generate": kind.generate is not Model.generate,
        }
        return frozenset(name for name, own in implemented.items() if own)

    def prepare(self, task: Task) -> None:
        """Called with the whole task before its prompts are asked."""

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Indices of the prompts in batches, each prompt once.

        Batches depend on the prompts alone, so that a resumed run computes the same batches and the same digits.
        """
        return [list(range(i, min(i + BATCH, len(prompts)))) for i in range(0, len(prompts), BATCH)]

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The scores of every option of one batch of prompts, in order."""
        raise self._cannot("answer questions")

    def score(
        self, texts: Iterable[str], *, end: bool | None = None, stride: int | None = None
    ) -> Iterator[TokenScores]:
        """Token log-probabilities, text by text, in order.

        `end`: with or without the end-of-sentence token; by default as the model itself writes texts. `stride`: by how
        many tokens the window moves over a text that is longer than it; by default half of the window.
        """
        raise self._cannot("score texts")

    def score_filled(self, gaps: Sequence[tuple[str, str]], words: Sequence[str]) -> Filled:
        """Every word in every gap, which is given as what stands before and after it.

        By default text by text, the words of one gap together, so that a causal model reads what is before it once.
        """
        scored = list(self.score(before + word + after for before, after in gaps for word in words))
        reason = next((scores.left_out for scores in scored if scores.left_out), None)
        if reason:
            raise UserError(f"A context cannot be scored: {reason}. Leave out captions of that kind.")
        shape = (len(gaps), len(words))
        logp = np.array([sum(scores.logp) for scores in scored], dtype=np.float64).reshape(shape).T
        return Filled(logp, np.array([len(scores.tokens) for scores in scored], dtype=np.int64).reshape(shape).T)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector per text."""
        raise self._cannot("encode texts")

    def generate(self, prompts: Sequence[Prompt]) -> list[str]:
        """One free answer per prompt."""
        raise self._cannot("generate text")

    def knows(self, word: str) -> bool:
        """Whether the word is in the model's vocabulary; models of word pieces know every word."""
        return True

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """How `score` reads texts (end token, window, stride), for a signature; empty where there is nothing to say."""
        return ""

    def note(self, text: str) -> None:
        """Tell the user something that belongs to the figures too: it is logged now and kept with the run."""
        if self._notes is None:
            self._notes = {}
        if text not in self._notes:
            self._notes[text] = None
            log.warning("%s", text)

    def notes(self, answered: Sequence[Scores] = ()) -> list[str]:
        """What a reader of the run should know; `answered` holds every score of the run, of this process or before."""
        return list(self._notes or ())

    def clear_notes(self) -> None:
        """Forget the notes: they have been kept with a run."""
        self._notes = None

    def _cannot(self, what: str) -> UserError:
        return UserError(f"'{self.name}' cannot {what}.")


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
