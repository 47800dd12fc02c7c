"""Masked language models: the option's log-probability in the slot, given both sides of it.

An option of several tokens is predicted left to right: token i with the option's earlier tokens in place and its later
ones masked (the within-word correction of Kauf & Ivanova 2023, section 3; without it, the later pieces of a word give
the earlier ones away).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import TokenScores, summed_scores
from seesay.models.hf.base import TransformersModel
from seesay.models.hf.batching import (
    batches_by_budget,
    batches_of_equal_length,
    max_positions,
    refuse_too_long,
    text_batches,
)
from seesay.models.hf.loading import Checkpoint
from seesay.models.hf.logits import logits_at, ranks
from seesay.models.hf.tokenization import tokenize_options
from seesay.questions import Prompt, Scores

TEXTS = 16  # scored together


class MaskedSlot(NamedTuple):
    """A sentence with masks in it, and which of them is to be predicted."""

    ids: tuple[int, ...]
    position: int


class TokenScore(NamedTuple):
    """A token's log-probability in a slot, and how many of the vocabulary score at least as high."""

    logp: float
    rank: int


class MaskedModel(TransformersModel):
    """Any fill-mask architecture."""

    family = "masked"
    scope = "slot"

    def __init__(self, name: str, checkpoint: Checkpoint, *, batch_size: int | None = None) -> None:
        super().__init__(name, checkpoint, batch_size=batch_size)
        if self._tokenizer.mask_token_id is None:
            raise UserError(f"The tokenizer of '{name}' has no mask token: it cannot fill a slot.")

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches of prompts of similar length: only sentences of one length are read together."""
        order = sorted(range(len(prompts)), key=lambda i: (len(prompts[i].text), prompts[i].text, i))
        return batches_by_budget(prompts, order, self._planned, lambda prompt: len(prompt.text))

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability, length and vocabulary rank of every option."""
        rows = tokenize_options(self._tokenizer, prompts)
        words = iter(self._score_words([(option.ids, option.start, option.stop) for row in rows for option in row]))
        scores = []
        for prompt in prompts:
            options = [next(words) for _ in prompt.options]
            logps = [[token.logp for token in option] for option in options]
            single_ranks = [option[0].rank if len(option) == 1 else 0 for option in options]
            scores.append(summed_scores(logps, map(len, prompt.options), single_ranks))
        return scores

    def score(
        self, texts: Iterable[str], *, end: bool | None = None, stride: int | None = None
    ) -> Iterator[TokenScores]:
        """Pseudo-log-likelihood: each word is masked in turn, its pieces predicted left to right."""
        if end or stride is not None:
            raise UserError(
                f"'{self.name}' is a masked model: it scores no end-of-sentence token and moves no window over a text, "
                "so leave --eos and --stride out."
            )
        limit = max_positions(self._network)
        for batch in text_batches(texts, TEXTS):
            encoded = self._tokenizer(batch)
            for index, ids in enumerate(encoded["input_ids"]):
                if limit is not None and len(ids) > limit:
                    yield TokenScores(
                        (), (), f"{len(ids):,} tokens, more than the {limit:,} that '{self.name}' can read"
                    )
                    continue
                spans: dict[int, list[int]] = {}
                for position, word in enumerate(encoded.word_ids(index)):
                    if word is not None:
                        spans.setdefault(word, []).append(position)
                words = self._score_words([(tuple(ids), span[0], span[-1] + 1) for span in spans.values()])
                tokens = [ids[position] for span in spans.values() for position in span]
                yield TokenScores(
                    tuple(self._tokenizer.convert_ids_to_tokens(tokens)),
                    tuple(token.logp for word in words for token in word),
                )

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """Texts are read whole, without an end token."""
        return "eos:no|window:none"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The last layer's state at the first token."""
        return self._first_states(self._network.base_model, texts)

    def _score_words(self, words: Sequence[tuple[tuple[int, ...], int, int]]) -> list[list[TokenScore]]:
        """The tokens of each word, which is given as a sentence's tokens and where in it the word starts and stops."""
        mask = int(self._tokenizer.mask_token_id)
        steps = [
            [(MaskedSlot((*ids[:i], *[mask] * (stop - i), *ids[stop:]), i), ids[i]) for i in range(start, stop)]
            for ids, start, stop in words
        ]
        targets: dict[MaskedSlot, set[int]] = {}
        for step in steps:
            for slot, token in step:
                targets.setdefault(slot, set()).add(token)
        scores = self._in_memory(lambda budget: self._predict(targets, budget))
        return [[scores[slot, token] for slot, token in step] for step in steps]

    def _predict(self, targets: Mapping[MaskedSlot, set[int]], budget: int) -> dict[tuple[MaskedSlot, int], TokenScore]:
        """The score of each target token in its slot; equal sentences are read once."""
        slots = list(targets)
        refuse_too_long(self.name, self._network, max((len(slot.ids) for slot in slots), default=0))
        scores: dict[tuple[MaskedSlot, int], TokenScore] = {}
        with torch.inference_mode():
            for members in batches_of_equal_length([slot.ids for slot in slots], budget):
                batch = [slots[i] for i in members]
                columns = self._tensor([slot.position for slot in batch])
                rows = torch.arange(len(batch), device=self._network.device)
                inputs = {"input_ids": self._tensor([slot.ids for slot in batch])}
                logits = logits_at(self._network, inputs, rows, columns)
                normaliser = logits.logsumexp(-1)
                for line, slot in enumerate(batch):
                    tokens = sorted(targets[slot])
                    chosen = torch.tensor(tokens, device=logits.device)
                    logps = (logits[line, chosen] - normaliser[line]).tolist()
                    for token, logp, rank in zip(tokens, logps, ranks(logits[line], chosen), strict=True):
                        scores[slot, token] = TokenScore(logp, rank)
        return scores
