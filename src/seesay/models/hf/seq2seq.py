"""Encoder-decoder models: the log-probability of the answer given the question.

Style `qa` asks as UnifiedQA was trained (Khashabi et al. 2020, and the README of
github.com/allenai/unifiedqa): the text with a blank, a backslash and an n (no line break), then the
lettered options, all in lower case. Style `infill` asks as T5 was pre-trained: the slot is a
sentinel, and the decoder writes what belongs there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.modeling_outputs import BaseModelOutput

from seesay.errors import UserError
from seesay.grouping import chunks
from seesay.models.base import GREEDY, Reply, Sampling
from seesay.models.batches import CHARS_PER_TOKEN, batches_by_budget
from seesay.models.chat import user_turn
from seesay.models.hf.base import TransformersModel
from seesay.models.hf.encoding import first_token
from seesay.models.hf.generation import generate_replies
from seesay.models.hf.loading import Checkpoint
from seesay.models.hf.logits import logits_at, ranks
from seesay.models.hf.tokenization import refuse_same_tokens, unknown_ids, unwritable
from seesay.models.multiple_choice import with_options
from seesay.questions import SLOT, Prompt, Scores, after_shots, resolve_separator

SENTINEL = "<extra_id_0>"

Ids = tuple[int, ...]
Prefix = tuple[int, Ids]
"""A question's number, and the tokens of an answer but the last."""


class EncoderDecoderModel(TransformersModel):
    """A model that reads the question with its encoder and writes the answer with its decoder."""

    family = "encoder-decoder"

    def __init__(
        self,
        name: str,
        checkpoint: Checkpoint,
        *,
        style: str = "qa",
        batch_size: int | None = None,
    ) -> None:
        super().__init__(name, checkpoint, batch_size=batch_size)
        self.scope = f"answer-{style}"
        self.letters_options = style == "qa"
        self._style = style
        config = self._network.config
        start = config.decoder_start_token_id
        if start is None:
            start = config.pad_token_id
        if start is None:
            raise UserError(
                f"The configuration of '{name}' does not say what its decoder starts with."
            )
        self._first = [int(start)]
        if style == "infill":
            # the decoder repeats the sentinel before it writes what belongs there
            self._first.append(self._sentinel_id())

    def _sentinel_id(self) -> int:
        sentinel = self._tokenizer.convert_tokens_to_ids(SENTINEL)
        if sentinel in (None, self._tokenizer.unk_token_id):
            raise UserError(
                f"The tokenizer of '{self.name}' has no {SENTINEL}: it cannot be asked in the "
                "style 'infill'."
            )
        return int(sentinel)

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches of questions of similar length."""

        def length(prompt: Prompt) -> int:
            return len(self._question(prompt))

        def order(prompt: Prompt) -> tuple[int, str]:
            return length(prompt), prompt.text

        return batches_by_budget(prompts, self._budget.planned, length, order)

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability, length and, for an option of one token, vocabulary rank."""
        return self._budget.fit(lambda tokens: self._answer(prompts, tokens))

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        """What the decoder writes when the encoder reads the question."""
        inputs = self.question_inputs(prompts)
        return generate_replies(self._network, self._tokenizer, inputs, sampling)

    @property
    def network(self) -> Any:
        """The network, for training."""
        return self._network

    def question_inputs(self, prompts: Sequence[Prompt]) -> dict[str, torch.Tensor]:
        """Return what the encoder reads where the answer is to be written."""
        texts = []
        for prompt in prompts:
            turn = user_turn(prompt.question_text, prompt.instructions)
            texts.append(after_shots(prompt.shots, turn))
        encoded = self._encode_questions(texts)
        return {name: encoded[name] for name in ("input_ids", "attention_mask")}

    def tokenize_answers(self, answers: Sequence[str]) -> dict[str, torch.Tensor]:
        """Return the tokens of written answers, each with its end, padded on the right."""
        encoded = self._tokenize_texts(answers, padding=True, return_tensors="pt")
        tokens = encoded.to(self._network.device)
        return {name: tokens[name] for name in ("input_ids", "attention_mask")}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The encoder's state at the first token."""
        return self._encode(texts, first_token(self._network.get_encoder()))

    def _question(self, prompt: Prompt) -> str:
        text = resolve_separator(prompt.text, None)
        if self._style == "infill":
            return text.replace(SLOT, SENTINEL)
        return with_options(text, prompt.options)

    def _encode_questions(self, texts: Sequence[str]) -> Any:
        """Return the questions' tokens, padded on the right, and the mask that hides the padding
        from encoder and decoder."""
        encoded = self._tokenize_texts(texts, padding=True, return_tensors="pt")
        self._refuse_too_long(encoded["input_ids"])
        return encoded.to(self._network.device)

    def _tokenize(self, option: str) -> Ids:
        text = option.lower() if self._style == "qa" else option
        ids = tuple(self._tokenize_texts(text, add_special_tokens=False)["input_ids"])
        if not ids or not unknown_ids(self._tokenizer).isdisjoint(ids):
            raise unwritable(self.name, option)
        return ids

    def _answer(self, prompts: Sequence[Prompt], budget: int) -> list[Scores]:
        longest = max((len(self._question(prompt)) for prompt in prompts), default=0)
        size = max(1, budget // (longest // CHARS_PER_TOKEN + 1))
        results: list[Scores] = []
        for batch in chunks(prompts, size):
            # answers are short beside questions: the decoder takes four times as many rows
            results += self._decode(batch, 4 * size)
        return results

    def _decode(self, prompts: Sequence[Prompt], size: int) -> list[Scores]:
        """Return the scores of each prompt's options; questions and the prefixes that answers share
        are computed once."""
        tokenized = [[self._tokenize(option) for option in prompt.options] for prompt in prompts]
        prefixes: set[Prefix] = set()
        for row, options in enumerate(tokenized):
            refuse_same_tokens(self.name, prompts[row].options, options)
            prefixes |= {(row, option[:-1]) for option in options}
        scores: dict[tuple[int, Ids], tuple[float, int]] = {}
        with torch.inference_mode():
            encoded = self._encode_questions([self._question(prompt) for prompt in prompts])
            mask = encoded["attention_mask"]
            for prompt, ids in zip(prompts, encoded["input_ids"].tolist(), strict=True):
                self._note_unknown(prompt, ids)
            encoder = self._network.get_encoder()
            states = encoder(input_ids=encoded["input_ids"], attention_mask=mask).last_hidden_state
            for batch in chunks(sorted(prefixes), size):
                for (row, prefix), logits in zip(
                    batch, self._prefix_logits(batch, states, mask), strict=True
                ):
                    options = [option for option in tokenized[row] if option[:-1] == prefix]
                    for option, score in _option_scores(options, logits).items():
                        scores[row, option] = score
        results = []
        for row, options in enumerate(tokenized):
            of_options = [scores[row, option] for option in options]
            results.append(
                Scores(
                    logp=tuple(logp for logp, _ in of_options),
                    tokens=tuple(map(len, options)),
                    chars=tuple(map(len, prompts[row].options)),
                    rank=tuple(rank for _, rank in of_options),
                )
            )
        return results

    def _prefix_logits(
        self,
        batch: Sequence[Prefix],
        states: torch.Tensor,
        mask: torch.Tensor,
    ) -> list[torch.Tensor]:
        """Return, for each prefix after its question, the logits at every position that predicts a
        token of an answer."""
        first = self._first
        longest = max(len(prefix) for _, prefix in batch)
        # Padding is on the right, where a causal decoder does not see it: any token will do.
        padded = [[*first, *prefix, *[0] * (longest - len(prefix))] for _, prefix in batch]
        questions = self._tensor([row for row, _ in batch])
        # The positions that predict the answer's tokens: the last of `first`, and each token of
        # the prefix.
        lengths = [len(prefix) + 1 for _, prefix in batch]
        cells = [
            (row, len(first) - 1 + step)
            for row, length in enumerate(lengths)
            for step in range(length)
        ]
        rows, columns = map(self._tensor, zip(*cells, strict=True))
        inputs = {
            "encoder_outputs": BaseModelOutput(last_hidden_state=states[questions]),
            "attention_mask": mask[questions],
            "decoder_input_ids": self._tensor(padded),
            "use_cache": False,
        }
        logits = logits_at(self._network, inputs, rows, columns)
        return list(torch.split(logits, lengths))


def _option_scores(options: Sequence[Ids], logits: torch.Tensor) -> dict[Ids, tuple[float, int]]:
    """Return the log-probability of options that share all tokens but the last, and the rank of
    those of one token (else 0); the logits have a row for each token."""
    logps = logits.log_softmax(-1)
    scores = {}
    for option in options:
        tokens = torch.tensor(option, device=logits.device)
        rank = ranks(logits[0], tokens)[0] if len(option) == 1 else 0
        scores[option] = float(logps[range(len(option)), tokens].sum()), rank
    return scores
