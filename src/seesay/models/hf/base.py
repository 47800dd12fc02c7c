"""What models of transformers share: a tokenizer, and mostly a network with a budget of tokens per
batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.batches import (
    TokenBudget,
    batches_of_equal_length,
    compute_batches,
    max_positions,
)
from seesay.models.hf.checkpoint_keys import note_unused
from seesay.models.hf.encoding import Reader
from seesay.models.hf.layers import count_layers
from seesay.models.hf.loading import Checkpoint
from seesay.models.hf.tokenization import (
    TokenizedOption,
    has_unknown,
    tokenize,
    tokenize_options,
)
from seesay.questions import Prompt

Vectors = NDArray[np.float32]


class TokenizerModel(Model):
    """A model that reads texts as the tokens of a tokenizer of transformers."""

    needs_offsets = True
    """Whether the tokenizer must say where its tokens are in a text, as only fast ones do."""

    def __init__(self, name: str, fingerprint: str, tokenizer: Any) -> None:
        if self.needs_offsets and not tokenizer.is_fast:
            raise UserError(
                f"'{name}' has only a slow tokenizer, which does not say where its tokens are in "
                "the text."
            )
        self.name = name
        self.fingerprint = fingerprint
        self._tokenizer = tokenizer

    def pieces(self, words: Sequence[str]) -> list[int] | None:
        """The number of tokens of each word after a space."""
        texts = [f" {word}" for word in words]
        encoded = self._tokenize_texts(texts, add_special_tokens=False)["input_ids"]
        return list(map(len, encoded))

    def _tokenize_texts(self, texts: str | Sequence[str], **arguments: Any) -> Any:
        """Return what the tokenizer makes of texts, or one sentence that says why it cannot."""
        return tokenize(self.name, self._tokenizer, texts, **arguments)

    def _tokenize_options(
        self, prompts: Sequence[Prompt], **arguments: bool
    ) -> list[list[TokenizedOption]]:
        """Return the options of each prompt as tokens of its sentence; note where the rest of the
        sentence has words that the tokenizer cannot write."""
        rows = tokenize_options(self.name, self._tokenizer, prompts, **arguments)
        for prompt, row in zip(prompts, rows, strict=True):
            self._note_unknown(prompt, chain(*row[0].around))
        return rows

    def _note_unknown(self, prompt: Prompt, ids: Iterable[int]) -> None:
        """Note once in a run that a question has words that the tokenizer cannot write."""
        finding = f"The tokenizer of '{self.name}' cannot write some words of the questions"
        if any(note.startswith(finding) for note in self._notes or ()):
            return
        if has_unknown(self._tokenizer, ids):
            self.note(
                f"{finding} (they become an unknown token), as in {prompt.question_text!r}: the "
                "model does not see what is asked about."
            )

    def _refuse_too_long(self, sentences: Iterable[Sequence[Any]], more: int = 0) -> None:
        """Refuse a sentence that, with so many more tokens, is longer than the model can read."""
        tokens = max(map(len, sentences), default=0) + more
        limit = self._max_tokens()
        if limit is not None and tokens > limit:
            raise UserError(
                f"A text of {tokens:,} tokens is longer than the {limit:,} that '{self.name}' can "
                "read."
            )

    def _max_tokens(self) -> int | None:
        """The length of a sentence at most; None where there is no limit."""
        raise NotImplementedError


class TransformersModel(TokenizerModel):
    """A network in this process. Subclasses say how prompts become its inputs."""

    default_budget = 1024
    """Tokens that the network reads at a time, unless the user says otherwise or memory runs
    out."""

    def __init__(
        self,
        name: str,
        checkpoint: Checkpoint,
        *,
        batch_size: int | None = None,
    ) -> None:
        super().__init__(name, checkpoint.fingerprint, checkpoint.tokenizer)
        self.parameters = checkpoint.parameters
        self._network = checkpoint.model
        self._budget = TokenBudget(batch_size or self.default_budget)
        note_unused(self, name, checkpoint.unused)

    def layer_count(self) -> int | None:
        """As the network's configuration says."""
        return count_layers(self._network)

    def _encode(
        self,
        texts: Sequence[str],
        vectors: Reader,
        *,
        features: torch.Tensor | None = None,
        **padding: Any,
    ) -> Vectors:
        """One row per text; texts of one length are read together, so that none needs padding.
        `features` has a row for each text, which the network is shown."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        encoded = self._tokenize_texts(list(texts), **padding)
        sentences = [tuple(ids) for ids in encoded["input_ids"]]
        self._refuse_too_long(sentences)
        if not all(sentences):
            raise UserError(f"'{self.name}' finds no token in an empty text.")

        def read(members: Sequence[int]) -> Vectors:
            inputs = [self._tensor([sentences[i] for i in members])]
            if features is not None:
                inputs.append(features[list(members)])
            rows: Vectors = vectors(*inputs).float().cpu().numpy()
            return rows

        def read_all(tokens: int) -> list[Vectors]:
            return compute_batches(batches_of_equal_length(sentences, tokens), read)

        with torch.inference_mode():
            return np.stack(self._budget.fit(read_all))

    def _max_tokens(self) -> int | None:
        return max_positions(self._network)

    def _tensor(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.long, device=self._network.device)
