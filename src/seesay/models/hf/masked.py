"""Masked language models: the option's log-probability in the slot, seeing both sides.

An option of several tokens is written left to right: token i is predicted with the option's earlier tokens in place
and its later ones masked (the within-word correction of Kauf & Ivanova 2023, section 3; without it, the later pieces of
a word give the earlier ones away).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import Model, TokenScores
from seesay.models.encoders.base import encode_texts, first_token
from seesay.models.hf.batching import bundles, by_budget, equal_lengths, halving, must_fit, positions
from seesay.models.hf.logits import logits_at, ranks
from seesay.models.hf.tokenization import Spelling, spell
from seesay.questions import Prompt, Scores

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

AUTO_BUDGET = 1024


class Gap(NamedTuple):
    """A sentence with masks in it, and which of them is asked."""

    ids: tuple[int, ...]
    position: int


class Filled(NamedTuple):
    """A token in a gap: its log-probability, and how many of the vocabulary score at least as high."""

    logp: float
    rank: int


class Masked(Model):
    """Any fill-mask architecture."""

    family = "masked"
    scope = "slot"

    def __init__(
        self,
        name: str,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        fingerprint: str,
        *,
        batch_size: int | None = None,
    ) -> None:
        if tokenizer.mask_token_id is None:
            raise UserError(f"The tokeniser of '{name}' has no mask token: it cannot fill a slot.")
        self.name, self.fingerprint = name, fingerprint
        self._model, self._tokenizer = model.eval(), tokenizer
        self._budget = batch_size or AUTO_BUDGET
        self._batch_size = 2 * self._budget

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches of prompts of like length: only sentences of one length are read together."""
        order = sorted(range(len(prompts)), key=lambda i: (len(prompts[i].text), prompts[i].text, i))
        return by_budget(prompts, order, self._batch_size, lambda prompt: len(prompt.text))

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability, length and vocabulary rank of every option."""
        spelt = spell(self._tokenizer, prompts)
        filled = self._fill([(s.ids, s.start, s.stop) for row in spelt for s in row])
        results = iter(filled)
        return [_scores(prompt, row, [next(results) for _ in row]) for prompt, row in zip(prompts, spelt, strict=True)]

    def score(
        self, texts: Iterable[str], *, end: bool | None = None, stride: int | None = None
    ) -> Iterator[TokenScores]:
        """Pseudo-log-likelihood: every word taken out in its turn, its pieces written left to right."""
        if end or stride is not None:
            raise UserError(
                f"'{self.name}' is a masked model: it scores no end-of-sentence token and moves no window over a text, "
                "so leave --eos and --stride out."
            )
        most = positions(self._model)
        for some in bundles(texts, 16):
            encoded = self._tokenizer(some)
            for index, ids in enumerate(encoded["input_ids"]):
                if most is not None and len(ids) > most:
                    reason = f"{len(ids):,} tokens, more than the {most:,} that '{self.name}' can read"
                    yield TokenScores((), (), reason)
                    continue
                words = encoded.word_ids(index)
                spans: dict[int, list[int]] = {}
                for position, word in enumerate(words):
                    if word is not None:
                        spans.setdefault(word, []).append(position)
                filled = self._fill([(tuple(ids), at[0], at[-1] + 1) for at in spans.values()])
                tokens = [ids[position] for at in spans.values() for position in at]
                yield TokenScores(
                    tuple(self._tokenizer.convert_ids_to_tokens(tokens)), tuple(f.logp for word in filled for f in word)
                )

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """How `score` reads texts, for a signature."""
        return "eos:no|window:none"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The last layer's state at the first token."""
        states = first_token(self._model.base_model)
        rows, self._budget = encode_texts(self.name, self._model, self._tokenizer, states, texts, self._budget)
        return rows

    def _fill(self, words: Sequence[tuple[tuple[int, ...], int, int]]) -> list[list[Filled]]:
        """Each word (a sentence's tokens, and where in it the word starts and stops) written token by token."""
        mask = int(self._tokenizer.mask_token_id)
        steps = [
            [(Gap((*ids[:i], *[mask] * (stop - i), *ids[stop:]), i), ids[i]) for i in range(start, stop)]
            for ids, start, stop in words
        ]
        wanted: dict[Gap, set[int]] = {}
        for step in steps:
            for gap, token in step:
                wanted.setdefault(gap, set()).add(token)
        found, self._budget = halving(lambda budget: self._ask(wanted, budget), self._budget)
        return [[found[gap, token] for gap, token in step] for step in steps]

    def _ask(self, wanted: Mapping[Gap, set[int]], budget: int) -> dict[tuple[Gap, int], Filled]:
        """What the model gives each wanted token in its gap; equal sentences are read once."""
        import torch

        gaps = list(wanted)
        must_fit(self.name, self._model, max((len(gap.ids) for gap in gaps), default=0))
        found: dict[tuple[Gap, int], Filled] = {}
        with torch.inference_mode():
            for members in equal_lengths([gap.ids for gap in gaps], budget):
                batch = [gaps[i] for i in members]
                columns = torch.tensor([gap.position for gap in batch], device=self._model.device)
                rows = torch.arange(len(batch), device=self._model.device)
                inputs = {"input_ids": torch.tensor([gap.ids for gap in batch], device=self._model.device)}
                logits = logits_at(self._model, inputs, rows, columns)
                normaliser = logits.logsumexp(-1)
                for line, gap in enumerate(batch):
                    tokens = sorted(wanted[gap])
                    chosen = torch.tensor(tokens, device=logits.device)
                    logps = (logits[line, chosen] - normaliser[line]).tolist()
                    for token, logp, rank in zip(tokens, logps, ranks(logits[line], chosen), strict=True):
                        found[gap, token] = Filled(logp, rank)
        return found


def _scores(prompt: Prompt, row: Sequence[Spelling], filled: Sequence[Sequence[Filled]]) -> Scores:
    return Scores(
        logp=tuple(sum(f.logp for f in word) for word in filled),
        tokens=tuple(s.stop - s.start for s in row),
        chars=tuple(len(option) for option in prompt.options),
        rank=tuple(word[0].rank if len(word) == 1 else 0 for word in filled),
    )
