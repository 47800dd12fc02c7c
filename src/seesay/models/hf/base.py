"""What the three families of transformers' models share: a network, a tokenizer, and a budget of tokens per batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.batches import halve_until_it_fits
from seesay.models.hf.checkpoint_keys import note_unused
from seesay.models.hf.encoding import Reader, Vectors, encode_texts
from seesay.models.hf.loading import Checkpoint

T = TypeVar("T")


class TransformersModel(Model):
    """Subclasses say how prompts become inputs of the network."""

    default_budget = 1024
    """Tokens that the network reads at a time, unless the user says otherwise or memory runs out."""

    def __init__(self, name: str, checkpoint: Checkpoint, *, batch_size: int | None = None) -> None:
        if not checkpoint.tokenizer.is_fast:
            raise UserError(f"'{name}' has only a slow tokenizer, which does not say where its tokens are in the text.")
        self.name = self._loaded_as = name
        self.fingerprint = checkpoint.fingerprint
        self._network, self._tokenizer = checkpoint.model, checkpoint.tokenizer
        self._budget = batch_size or self.default_budget
        self._planned = 2 * self._budget  # stays as it is when the budget is halved: plans must not change
        note_unused(self, name, checkpoint.unused)

    def pieces(self, words: Sequence[str]) -> list[int]:
        """The number of tokens of each word after a space."""
        return list(map(len, self._tokenizer([f" {word}" for word in words], add_special_tokens=False)["input_ids"]))

    def _in_memory(self, compute: Callable[[int], T]) -> T:
        result, self._budget = halve_until_it_fits(compute, self._budget)
        return result

    def _first_states(self, states: Reader, texts: Sequence[str]) -> Vectors:
        """The state at the first token of every text, by a function that gives it to token ids."""
        return self._in_memory(
            lambda budget: encode_texts(self.name, self._network, self._tokenizer, states, texts, budget)
        )

    def _tensor(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.long, device=self._network.device)
