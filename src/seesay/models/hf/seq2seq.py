"""Encoder-decoder models: the log-probability of the answer given the question.

Style `qa` asks as UnifiedQA was trained (Khashabi et al. 2020, and the README of
github.com/allenai/unifiedqa): the text with a blank, a backslash and an n (no line break), then the
lettered options, all in lower case. Style `infill` asks as T5 was pre-trained: the slot is a
sentinel, and the decoder writes what belongs there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.modeling_outputs import BaseModelOutput

from seesay.errors import UserError
from seesay.models.base import GREEDY, Reply, Sampling
from seesay.models.batches import CHARS_PER_TOKEN, batches_by_budget, chunks
from seesay.models.chat import user_turn
from seesay.models.hf.base import TransformersModel
from seesay.models.hf.encoding import first_token
from seesay.models.hf.generation import generate_replies
from seesay.models.hf.loading import Checkpoint
from seesay.models.hf.logits import logits_at, ranks
from seesay.models.hf.tokenization import unwritable
from seesay.models.multiple_choice import with_options
from seesay.questions import SLOT, Prompt, Scores, after_shots, resolve_separator

SENTINEL = "<extra_id_0>"

Ids = tuple[int, ...]


class EncoderDecoderModel(TransformersModel):
    """A model that reads the question with its encoder and writes the answer with its decoder."""

    family = "encoder-decoder"

    def __init__(
        self, name: str, checkpoint: Checkpoint, *, style: str = "qa", batch_size: int | None = None
    ) -> None:
        super().__init__(name, checkpoint, batch_size=batch_size)
        self.scope = f"answer-{style}"
        self._style = style
        config = self._network.config
        tokenizer = self._tokenizer
        if config.decoder_start_token_id is None:
            start = config.pad_token_id
        else:
            start = config.decoder_start_token_id
        if start is None:
            raise UserError(
                f"The configuration of '{name}' does not say what its decoder starts with."
            )
        self._first = [int(start)]
        if style == "infill":
            sentinel = tokenizer.convert_tokens_to_ids(SENTINEL)
            if sentinel in (None, tokenizer.unk_token_id):
                raise UserError(
                    f"The tokenizer of '{name}' has no {SENTINEL}: it cannot be asked in the style "
                    "'infill'."
                )
            self._first.append(int(sentinel))

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches of questions of similar length."""

        def length(prompt: Prompt) -> int:
            return len(self._question(prompt))

        return batches_by_budget(
            prompts, self._planned, length, lambda prompt: (length(prompt), prompt.text)
        )

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Log-probability, length and, for an option of one token, vocabulary rank."""
        return self._in_memory(lambda budget: self._answer(prompts, budget))

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling = GREEDY
    ) -> list[tuple[Reply, ...]]:
        """What the decoder writes when the encoder reads the question."""
        texts = [after_shots(prompt.shots, user_turn(prompt.asked)) for prompt in prompts]
        inputs = dict(
            self._tokenizer(texts, padding=True, return_tensors="pt").to(self._network.device)
        )
        self._refuse_too_long(inputs["input_ids"])
        arguments = {name: inputs[name] for name in ("input_ids", "attention_mask")}
        return generate_replies(self._network, self._tokenizer, arguments, sampling)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The encoder's state at the first token."""
        return self._encode(texts, first_token(self._network.get_encoder()))

    def _question(self, prompt: Prompt) -> str:
        text = resolve_separator(prompt.text, None)
        if self._style == "infill":
            return text.replace(SLOT, SENTINEL)
        return with_options(text, prompt.options)

    def _tokenize(self, option: str) -> Ids:
        text = option.lower() if self._style == "qa" else option
        ids = tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"])
        if not ids or self._tokenizer.unk_token_id in ids:
            raise unwritable(self.name, option)
        return ids

    def _answer(self, prompts: Sequence[Prompt], budget: int) -> list[Scores]:
        longest = max((len(self._question(prompt)) for prompt in prompts), default=0)
        size = max(1, budget // (longest // CHARS_PER_TOKEN + 1))
        return [
            scores for batch in chunks(prompts, size) for scores in self._decode(batch, 4 * size)
        ]

    def _decode(self, prompts: Sequence[Prompt], size: int) -> list[Scores]:
        """The scores of each prompt's options; questions and the prefixes that answers share are
        computed once."""
        tokenized = [[self._tokenize(option) for option in prompt.options] for prompt in prompts]
        questions = [self._question(prompt) for prompt in prompts]
        device = self._network.device
        first = self._first
        scores: dict[tuple[int, Ids], tuple[float, int]] = {}
        with torch.inference_mode():
            encoded = self._tokenizer(questions, padding=True, return_tensors="pt").to(device)
            self._refuse_too_long(encoded["input_ids"])
            states = self._network.get_encoder()(
                input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"]
            ).last_hidden_state
            prefixes = sorted(
                {(row, option[:-1]) for row, options in enumerate(tokenized) for option in options}
            )
            for batch in chunks(prefixes, size):
                longest = max(len(prefix) for _, prefix in batch)
                inputs = torch.tensor(
                    [[*first, *prefix, *[0] * (longest - len(prefix))] for _, prefix in batch],
                    device=device,
                )
                source = torch.tensor([row for row, _ in batch], device=device)
                # The positions that predict the answer's tokens: the last of `first`, and each
                # token of the prefix.
                lengths = [len(prefix) + 1 for _, prefix in batch]
                cells = [
                    (row, len(first) - 1 + step)
                    for row, length in enumerate(lengths)
                    for step in range(length)
                ]
                rows, columns = (
                    torch.tensor(axis, device=device) for axis in zip(*cells, strict=True)
                )
                arguments = {
                    "encoder_outputs": BaseModelOutput(last_hidden_state=states[source]),
                    "attention_mask": encoded["attention_mask"][source],
                    "decoder_input_ids": inputs,
                    "use_cache": False,
                }
                logits = logits_at(self._network, arguments, rows, columns)
                by_prefix = zip(
                    batch, logits.split(lengths), logits.log_softmax(-1).split(lengths), strict=True
                )
                for (row, prefix), prefix_logits, logps in by_prefix:
                    for option in {o for o in tokenized[row] if o[:-1] == prefix}:
                        tokens = torch.tensor(option, device=device)
                        if len(option) == 1:
                            rank = ranks(prefix_logits[0], tokens)[0]
                        else:
                            rank = 0
                        scores[row, option] = (float(logps[range(len(option)), tokens].sum()), rank)
        return [
            Scores(
                logp=tuple(scores[row, option][0] for option in options),
                tokens=tuple(map(len, options)),
                chars=tuple(map(len, prompts[row].options)),
                rank=tuple(scores[row, option][1] for option in options),
            )
            for row, options in enumerate(tokenized)
        ]
