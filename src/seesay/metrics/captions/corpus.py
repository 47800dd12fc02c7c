"""What the caption metrics share: tokenised captions beside their references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seesay.errors import UserError
from seesay.metrics.captions.ngrams import Grams, Ints, count_grams
from seesay.metrics.captions.tokenize import Tokenizer


@dataclass(frozen=True)
class CaptionCorpus:
    """Tokenised captions of one system, each with one or more tokenised references."""

    hypotheses: Sequence[str]
    references: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        if len(self.hypotheses) != len(self.references):
            raise UserError(f"{len(self.hypotheses)} captions stand against {len(self.references)} sets of references.")
        if not len(self.hypotheses):
            raise UserError("There is no caption to score.")
        for i, references in enumerate(self.references):
            if not references:
                raise UserError(f"Caption {i + 1} has no reference: give each at least one.")

    @classmethod
    def tokenized(cls, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> CaptionCorpus:
        """From raw text."""
        tokenize = Tokenizer()
        return cls([tokenize(text) for text in hypotheses], [[tokenize(text) for text in refs] for refs in references])

    def __len__(self) -> int:
        return len(self.hypotheses)

    @cached_property
    def owner(self) -> Ints:
        """The caption that each reference, in order, belongs to."""
        return np.repeat(np.arange(len(self)), [len(references) for references in self.references])

    @cached_property
    def grams(self) -> Grams:
        """N-grams of the captions, then of all references."""
        flat = [reference for references in self.references for reference in references]
        return count_grams([*self.hypotheses, *flat])
