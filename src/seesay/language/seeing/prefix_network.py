"""From a picture's features to embeddings that a language model reads before a text."""

from __future__ import annotations

import torch
from torch.nn import functional


class PrefixProjector(torch.nn.Module):
    """Features, brought to one scale, through one hidden layer to so many embeddings.

    Each embedding is as long as the language model's own are on average (`scale`): a frozen model
    has met no others.
    """

    scale: torch.Tensor

    def __init__(
        self,
        features: int,
        hidden: int,
        tokens: int,
        width: int,
    ) -> None:
        super().__init__()
        self.tokens = tokens
        self.width = width
        self.inner = torch.nn.Linear(features, hidden)
        self.outer = torch.nn.Linear(hidden, tokens * width)
        self.register_buffer("scale", torch.ones(()))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return the embeddings: pictures x tokens x width."""
        inputs = functional.layer_norm(features, features.shape[-1:])
        hidden = functional.gelu(self.inner(inputs))
        embeddings = self.outer(hidden).view(-1, self.tokens, self.width)
        return functional.layer_norm(embeddings, (self.width,)) * self.scale


class PictureEmbeddings(torch.nn.Module):
    """A language model's embeddings, with those of pictures as tokens behind the vocabulary.

    A picture is then a few more token ids, and everything that reads ids can read it.
    """

    def __init__(self, words: torch.nn.Embedding) -> None:
        super().__init__()
        self.words = words
        self.vocabulary = words.num_embeddings
        self.pictures = torch.zeros(0, words.embedding_dim)
        """One row per token of a picture."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the embeddings of ids; the first behind the vocabulary is a picture's first."""
        is_word = ids < self.vocabulary
        embeddings: torch.Tensor = self.words(ids.where(is_word, 0))
        if is_word.all():
            return embeddings
        rows = self.pictures.to(embeddings)
        places = (ids - self.vocabulary).clamp(min=0)
        return torch.where(is_word[..., None], embeddings, rows[places])
