"""What the caption metrics share: captions beside their references, and how a figure is pooled from captions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seesay.metrics.captions.ngrams import Grams, Ints, count_grams
from seesay.metrics.captions.tokenize import Tokenizer
from seesay.questions import UserError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """One metric on one system's captions.

    `statistics` has a row a caption; their sum is all that the corpus figure needs (`pool` takes rows of such sums), so
    a bootstrap is one matrix product.
    """

    name: str
    scores: Floats
    statistics: Floats
    pool: Callable[[Floats], Floats]

    @property
    def value(self) -> float:
        """The figure of the whole corpus."""
        return float(self.pool(self.statistics.sum(axis=0, keepdims=True))[0])


def mean_of(name: str, scores: Floats) -> Measured:
    """A metric whose corpus figure is the mean over captions."""
    return Measured(
        name, scores, np.column_stack([scores, np.ones(len(scores))]), lambda sums: sums[..., 0] / sums[..., 1]
    )


@dataclass(frozen=True)
class Corpus:
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
    def tokenized(cls, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> Corpus:
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
