"""What every encoder does alike: tokens in, batches of one length, one float32 row a text out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import Model
from seesay.models.hf.batching import equal_lengths, halving, must_fit

if TYPE_CHECKING:
    import torch

    from seesay.models.hf.loading import Opened
    from seesay.models.options import ModelOptions

AUTO_BUDGET = 2048

Sentence = tuple[int, ...]
Rows = NDArray[np.float32]


class BatchEncoder(Model):
    """An encoder made of a tokeniser and a function from token ids, all of one length, to vectors.

    No batch holds padding, so no architecture can let it leak into a vector, and the batch size changes nothing.
    """

    def __init__(
        self,
        name: str,
        opened: Opened,
        vectors: Callable[[torch.Tensor], torch.Tensor],
        options: ModelOptions,
        *,
        pooling: str,
        padded_to: int | None = None,
    ) -> None:
        self.name, self.fingerprint = name, f"{opened.fingerprint}-{pooling}"
        self._model, self._tokenizer, self._vectors = opened.model, opened.tokenizer, vectors
        self._padding: dict[str, Any] = {"padding": "max_length", "max_length": padded_to} if padded_to else {}
        self._budget = options.batch_size or AUTO_BUDGET

    def encode(self, texts: Sequence[str]) -> Rows:
        """One row a text."""
        rows, self._budget = encode_texts(
            self.name, self._model, self._tokenizer, self._vectors, texts, self._budget, **self._padding
        )
        return rows


def encode_texts(
    name: str,
    model: Any,
    tokenizer: Any,
    vectors: Callable[[torch.Tensor], torch.Tensor],
    texts: Sequence[str],
    budget: int,
    **padding: Any,
) -> tuple[Rows, int]:
    """One row a text, and the budget of tokens that memory held."""
    if not texts:
        return np.zeros((0, 0), np.float32), budget
    sentences = [tuple(ids) for ids in tokenizer(list(texts), **padding)["input_ids"]]
    must_fit(name, model, max(map(len, sentences)))
    if not all(sentences):
        raise UserError(f"'{name}' reads nothing in an empty text.")
    return halving(lambda tokens: by_length(sentences, vectors, model.device, tokens), budget)


def by_length(
    sentences: Sequence[Sentence],
    vectors: Callable[[torch.Tensor], torch.Tensor],
    device: torch.device,
    budget: int,
) -> Rows:
    """The vectors of the sentences, those of one length read together, equal ones once."""
    import torch

    unique = list(dict.fromkeys(sentences))
    found: dict[Sentence, NDArray[np.float32]] = {}
    with torch.inference_mode():
        for members in equal_lengths(unique, budget):
            batch = [unique[i] for i in members]
            rows = vectors(torch.tensor(batch, device=device)).float().cpu().numpy()
            found.update(zip(batch, rows, strict=True))
    return np.stack([found[sentence] for sentence in sentences])


def complete(name: str, opened: Opened, *, part: str = "", spare: Sequence[str] = ()) -> Opened:
    """The model, if it lacks none of the weights that its vectors need: those under `part`, but for `spare` ones."""
    lacking = [key for key in opened.missing if key.startswith(part) and not any(word in key for word in spare)]
    if lacking:
        raise UserError(f"'{name}' lacks {len(lacking)} of its weights ({lacking[0]}, …): they would be random.")
    return opened


def first_token(model: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    """The last layer's state at the first token, as the published probe takes it (Singh et al. 2023, section 5)."""
    return lambda ids: model(input_ids=ids)[0][:, 0]
