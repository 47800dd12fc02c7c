"""What the three families of transformers' models share: a network, a tokenizer, and a budget of
tokens per batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.batches import (
    batches_of_equal_length,
    compute_batches,
    halve_until_it_fits,
    max_positions,
)
from seesay.models.hf.checkpoint_keys import note_unused
from seesay.models.hf.encoding import Reader
from seesay.models.hf.loading import Checkpoint

T = TypeVar("T")
Vectors = NDArray[np.float32]


class TransformersModel(Model):
    """Subclasses say how prompts become inputs of the network."""

    default_budget = 1024
    """Tokens that the network reads at a time, unless the user says otherwise or memory runs
    out."""

    needs_offsets = True
    """Whether the tokenizer must say where its tokens are in a text, as only fast ones do."""

    def __init__(self, name: str, checkpoint: Checkpoint, *, batch_size: int | None = None) -> None:
        if self.needs_offsets and not checkpoint.tokenizer.is_fast:
            raise UserError(
                f"'{name}' has only a slow tokenizer, which does not say where its tokens are in "
                "the text."
            )
        self.name = self._loaded_as = name
        self.fingerprint = checkpoint.fingerprint
        self._network = checkpoint.model
        self._tokenizer = checkpoint.tokenizer
        self._budget = batch_size or self.default_budget
        # stays as it is when the budget is halved: plans must not change
        self._planned = 2 * self._budget
        note_unused(self, name, checkpoint.unused)

    def pieces(self, words: Sequence[str]) -> list[int] | None:
        """The number of tokens of each word after a space."""
        return list(
            map(
                len,
                self._tokenizer([f" {word}" for word in words], add_special_tokens=False)[
                    "input_ids"
                ],
            )
        )

    def _in_memory(self, compute: Callable[[int], T]) -> T:
        result, self._budget = halve_until_it_fits(compute, self._budget)
        return result

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
        sentences = [tuple(ids) for ids in self._tokenizer(list(texts), **padding)["input_ids"]]
        self._refuse_too_long(sentences)
        if not all(sentences):
            raise UserError(f"'{self.name}' finds no token in an empty text.")

        def read(members: Sequence[int]) -> Vectors:
            ids = self._tensor([sentences[i] for i in members])
            shown = () if features is None else (features[list(members)],)
            rows: Vectors = vectors(ids, *shown).float().cpu().numpy()
            return rows

        with torch.inference_mode():
            rows = self._in_memory(
                lambda budget: compute_batches(batches_of_equal_length(sentences, budget), read)
            )
        return np.stack(rows)

    def _refuse_too_long(self, sentences: Iterable[Sequence[Any]], more: int = 0) -> None:
        """Refuse a sentence that, with so many more tokens, is longer than the model can read."""
        tokens = max(map(len, sentences), default=0) + more
        most = self._max_tokens()
        if most is not None and tokens > most:
            raise UserError(
                f"A text of {tokens:,} tokens is longer than the {most:,} that '{self.name}' can "
                "read."
            )

    def _max_tokens(self) -> int | None:
        return max_positions(self._network)

    def _tensor(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.long, device=self._network.device)
