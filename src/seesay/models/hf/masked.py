"""Masked language models: the option's log-probability in the slot, given both sides of it.

An option of several tokens is predicted left to right: token i with the option's earlier tokens in
place and its later ones masked (the within-word correction of Kauf & Ivanova 2023, section 3;
without it, the later pieces of a word give the earlier ones away). For an option o of tokens
t_1 … t_n between the texts b and a, its score is

    Σ_i log P(t_i | b, t_1 … t_i-1, [MASK] × (n - i + 1), a),

and the pseudo-log-likelihood of a text is the same sum over all of its words, one after the other.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from seesay.condition import PictureKind, StandIn
from seesay.digests import file_digest
from seesay.errors import UserError
from seesay.models.base import TEXT, Model, TokenScores, summed_scores
from seesay.models.batches import (
    batches_by_budget,
    batches_of_equal_length,
    text_batches,
)
from seesay.models.hf.base import TransformersModel
from seesay.models.hf.encoding import first_token
from seesay.models.hf.layers import layer_logits
from seesay.models.hf.loading import Checkpoint
from seesay.models.hf.logits import logits_at, normalisers, ranks
from seesay.models.hf.tokenization import refuse_same_tokens, unknown_ids, unwritable
from seesay.models.wrapped import under_condition
from seesay.questions import SLOT, Prompt, Scores

TEXTS = 16  # scored together


class SlotReader:
    """How a network reads sentences. Architectures that see more than tokens have readers of their
    own."""

    accepts: frozenset[str] = TEXT
    sees_text = False
    """Whether the network is also given the sentence as a text, with `[MASK]` in its slot."""
    sees_regions = False
    """Whether it sees what an object detector found in a picture, and not its pixels."""
    stand_in_note = ""
    """What is noted of a model that is shown a picture of this `{kind}` beside every question; ""
    for a reader that can show none."""

    def __init__(self, network: Any) -> None:
        self.network = network

    def showing(self, stand_in: StandIn) -> SlotReader:
        """Return this reader, which shows a picture beside every text that has none."""
        raise NotImplementedError

    def logits(
        self,
        ids: torch.Tensor,
        rows: torch.Tensor,
        columns: torch.Tensor,
        texts: Sequence[str],
        picture: str | None,
    ) -> torch.Tensor:
        """Return the vocabulary's logits at (row, column) of sentences of one length, all about one
        picture or none."""
        return logits_at(self.network, {"input_ids": ids}, rows, columns)

    def layer_logits(
        self,
        ids: torch.Tensor,
        rows: torch.Tensor,
        columns: torch.Tensor,
        texts: Sequence[str],
        picture: str | None,
    ) -> Iterator[torch.Tensor]:
        """Give the logits that the head reads out of each layer, for networks that see nothing but
        tokens."""
        if type(self).logits is not SlotReader.logits:
            raise UserError(
                "A network that sees more than text cannot be read layer by layer: leave out "
                "--layers."
            )
        return layer_logits(self.network, {"input_ids": ids}, rows, columns)

    def first_states(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the last layer's state at the first token of each sentence, read without a
        picture."""
        return first_token(self.network.base_model)(ids)


class MaskedSlot(NamedTuple):
    """A sentence with masks in it, which of them is to be predicted, and what else the network
    sees."""

    ids: tuple[int, ...]
    position: int
    text: str
    picture: str | None


class TokenScore(NamedTuple):
    """A token's log-probability in a slot, and how many of the vocabulary score at least as
    high."""

    logp: float
    rank: int


Step = tuple[MaskedSlot, int]
"""A slot, and the token that is to be predicted in it."""

SlotScores = dict[Step, TokenScore]
"""The scores of tokens in slots."""


class MaskedModel(TransformersModel):
    """Any fill-mask architecture, read by the reader that it needs."""

    family = "masked"
    scope = "slot"
    _adaptation = ""

    def __init__(
        self,
        name: str,
        checkpoint: Checkpoint,
        *,
        reader: SlotReader | None = None,
        batch_size: int | None = None,
    ) -> None:
        super().__init__(name, checkpoint, batch_size=batch_size)
        self._reader = reader or SlotReader(checkpoint.model)
        self.accepts = self._reader.accepts
        if self._tokenizer.mask_token_id is None:
            raise UserError(f"The tokenizer of '{name}' has no mask token: it cannot fill a slot.")

    def note_adaptation(self, text: str) -> None:
        """Note how the network is read, in place of how it was read before."""
        self._notes = dict(self._notes or {})
        self._notes.pop(self._adaptation, None)
        self._adaptation = f"'{self.name}': {text}."
        self.note(self._adaptation, lasting=True)

    def with_picture(self, stand_in: StandIn) -> Model:
        """This model, shown a picture beside every question that has none."""
        if not self._reader.stand_in_note:
            return super().with_picture(stand_in)
        shown = copy.copy(self)
        shown._reader = self._reader.showing(stand_in)
        shown.note_adaptation(shown._reader.stand_in_note.format(kind=stand_in.kind))
        digest = None
        # a blank picture is made of no file
        is_of_file = self._reader.sees_regions and stand_in.kind is not PictureKind.BLANK
        if is_of_file and stand_in.regions is not None:
            digest = file_digest(stand_in.regions)
        return under_condition(
            shown,
            picture=stand_in.kind,
            picture_seed=stand_in.drawn_with,
            regions=digest,
        )

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches of prompts of similar length and about one picture: only such sentences are read
        together."""

        def length(prompt: Prompt) -> int:
            return len(prompt.text)

        def order(prompt: Prompt) -> tuple[str, int, str]:
            return prompt.picture or "", length(prompt), prompt.text

        return batches_by_budget(prompts, self._budget.planned, length, order)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability, length and vocabulary rank of every option."""
        return self._answers(prompts, layered=False)[0]

    def answer_layers(self, prompts: Sequence[Prompt]) -> list[list[Scores]]:
        """Log-probability, length and rank of every option, as the head reads them out of each
        layer."""
        return self._answers(prompts, layered=True)

    def _answers(self, prompts: Sequence[Prompt], *, layered: bool) -> list[list[Scores]]:
        options = self._option_steps(prompts)
        steps = [step for option in options for step in option]
        layers = self._score_steps(steps, layered=layered)
        return [_sum_scores(prompts, options, scores) for scores in layers]

    def _option_steps(self, prompts: Sequence[Prompt]) -> list[list[Step]]:
        """Return what is predicted of each option: its tokens in the slot, or word by word a whole
        sentence."""
        slotted = [prompt for prompt in prompts if not prompt.is_sentence]
        rows = iter(self._tokenize_options(slotted))
        options: list[list[Step]] = []
        for prompt in prompts:
            if prompt.is_sentence:
                # an option that is a sentence has no slot around it: it is scored as a text
                encoded = self._tokenize_texts(list(prompt.options), return_offsets_mapping=True)
                self._validate_sentences(prompt, encoded["input_ids"])
                for i, text in enumerate(prompt.options):
                    options.append(self._text_steps(encoded, i, text, prompt.picture))
            else:
                for option in next(rows):
                    span = range(option.start, option.stop)
                    options.append(
                        self._word_steps(option.ids, span, prompt.question_text, prompt.picture)
                    )
        return options

    def _validate_sentences(self, prompt: Prompt, ids: Sequence[Sequence[int]]) -> None:
        """Refuse sentences that the tokenizer cannot write or tell apart."""
        unknown = unknown_ids(self._tokenizer)
        for text, sentence in zip(prompt.options, ids, strict=True):
            if not unknown.isdisjoint(sentence):
                raise unwritable(self.name, text)
        refuse_same_tokens(self.name, prompt.options, list(map(tuple, ids)))

    def _text_steps(
        self,
        encoded: Any,
        index: int,
        text: str,
        picture: str | None = None,
    ) -> list[Step]:
        """Return the steps of an encoded text: its words, each masked in turn."""
        words: dict[int, list[int]] = {}
        for position, word in enumerate(encoded.word_ids(index)):
            # special tokens belong to no word, and are not predicted
            if word is not None:
                words.setdefault(word, []).append(position)
        ids = tuple(encoded["input_ids"][index])
        offsets = encoded["offset_mapping"][index]
        steps: list[Step] = []
        for positions in words.values():
            span = range(positions[0], positions[-1] + 1)
            begin = offsets[span[0]][0]
            end = offsets[span[-1]][1]
            around = f"{text[:begin]}{SLOT}{text[end:]}"
            steps += self._word_steps(ids, span, around, picture)
        return steps

    def _word_steps(
        self,
        ids: tuple[int, ...],
        span: range,
        text: str,
        picture: str | None,
    ) -> list[Step]:
        """Return the tokens of a word left to right, each with itself and the later ones masked;
        `text` and `picture` are what else the network may see."""
        mask = int(self._tokenizer.mask_token_id)
        # equal slots are read once, so that a text which nobody sees must not tell them apart
        seen_text = text if self._reader.sees_text else ""
        steps = []
        for i in span:
            masks = [mask] * (span.stop - i)
            masked_ids = (*ids[:i], *masks, *ids[span.stop :])
            steps.append((MaskedSlot(masked_ids, i, seen_text, picture), ids[i]))
        return steps

    def score(
        self,
        texts: Iterable[str],
        *,
        end: bool | None = None,
        stride: int | None = None,
    ) -> Iterator[TokenScores]:
        """Pseudo-log-likelihood: each word is masked in turn, its pieces predicted left to
        right."""
        if end or stride is not None:
            raise UserError(
                f"'{self.name}' is a masked model: it scores no end-of-sentence token and moves no "
                "window over a text, so leave --eos and --stride out."
            )
        for batch in text_batches(texts, TEXTS):
            encoded = self._tokenize_texts(batch, return_offsets_mapping=True)
            for index, text in enumerate(batch):
                yield self._score_text(encoded, index, text)

    def _score_text(
        self,
        encoded: Any,
        index: int,
        text: str,
    ) -> TokenScores:
        # A text that is too long is left out and named, and not cut: each word is predicted from
        # both sides, so that a part of a text has other scores than the whole.
        tokens = len(encoded["input_ids"][index])
        limit = self._max_tokens()
        if limit is not None and tokens > limit:
            reason = f"{tokens:,} tokens, more than the {limit:,} that '{self.name}' can read"
            return TokenScores((), (), reason)
        steps = self._text_steps(encoded, index, text)
        (scores,) = self._score_steps(steps)
        offsets = encoded["offset_mapping"][index]
        return TokenScores(
            tuple(self._tokenizer.convert_ids_to_tokens([token for _, token in steps])),
            tuple(scores[step].logp for step in steps),
            spans=tuple(tuple(offsets[slot.position]) for slot, _ in steps),
        )

    def describe_scoring(self, end: bool | None = None, stride: int | None = None) -> str:
        """Texts are read whole, without an end token; pseudo-log-likelihood, pieces of a word left
        to right."""
        return "eos:no|window:none|pll:within-word-l2r"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The last layer's state at the first token."""
        return self._encode(texts, self._reader.first_states)

    def _score_steps(self, steps: Sequence[Step], *, layered: bool = False) -> list[SlotScores]:
        """Return the score of every step: by the network, or by the head from each layer."""
        # Most options of a prompt share their slot: the sentence is read once for all of them.
        targets: dict[MaskedSlot, set[int]] = {}
        for slot, token in steps:
            targets.setdefault(slot, set()).add(token)
        return self._budget.fit(lambda tokens: self._predict(targets, tokens, layered))

    def _predict(
        self,
        targets: Mapping[MaskedSlot, set[int]],
        budget: int,
        layered: bool,
    ) -> list[SlotScores]:
        """Return the score of each target token in its slot, by layer; equal sentences are read
        once."""
        self._refuse_too_long(slot.ids for slot in targets)
        # a batch is about one picture, which the network sees once
        by_picture: dict[str | None, list[MaskedSlot]] = {}
        for slot in targets:
            by_picture.setdefault(slot.picture, []).append(slot)
        layers: list[SlotScores] = [{}]
        with torch.inference_mode():
            for picture, slots in by_picture.items():
                for members in batches_of_equal_length([slot.ids for slot in slots], budget):
                    batch = [slots[i] for i in members]
                    for layer, logits in enumerate(self._logits(batch, picture, layered)):
                        if layer == len(layers):
                            layers.append({})
                        layers[layer] |= _target_scores(batch, logits, targets)
        return layers

    def _logits(
        self,
        batch: Sequence[MaskedSlot],
        picture: str | None,
        layered: bool,
    ) -> Iterator[torch.Tensor]:
        """Give the logits of slots in sentences of one length, all about one picture or none; of
        each layer in turn."""
        rows = torch.arange(len(batch), device=self._network.device)
        columns = self._tensor([slot.position for slot in batch])
        ids = self._tensor([slot.ids for slot in batch])
        texts = [slot.text for slot in batch]
        if layered:
            yield from self._reader.layer_logits(ids, rows, columns, texts, picture)
        else:
            yield self._reader.logits(ids, rows, columns, texts, picture)


def _target_scores(
    batch: Sequence[MaskedSlot], logits: torch.Tensor, targets: Mapping[MaskedSlot, set[int]]
) -> SlotScores:
    """Return the scores of each slot's target tokens, one row of logits per slot."""
    # log softmax at the targets alone: logit minus the log of the normaliser
    normaliser = normalisers(logits)
    scores: SlotScores = {}
    for line, slot in enumerate(batch):
        tokens = sorted(targets[slot])
        ids = torch.tensor(tokens, device=logits.device)
        logps = (logits[line, ids] - normaliser[line]).tolist()
        token_ranks = ranks(logits[line], ids)
        for token, logp, rank in zip(tokens, logps, token_ranks, strict=True):
            scores[slot, token] = TokenScore(logp, rank)
    return scores


def _sum_scores(
    prompts: Sequence[Prompt], options: Iterable[Sequence[Step]], scores: SlotScores
) -> list[Scores]:
    """Return the scores of each prompt, from the steps of the options of all of them."""
    remaining = iter(options)
    results = []
    for prompt in prompts:
        logps = []
        option_ranks = []
        for _ in prompt.options:
            tokens = [scores[step] for step in next(remaining)]
            logps.append([token.logp for token in tokens])
            # an option of several tokens has no rank among the vocabulary's
            option_ranks.append(tokens[0].rank if len(tokens) == 1 else 0)
        results.append(summed_scores(logps, map(len, prompt.options), option_ranks))
    return results
