"""What the caption metrics share: tokenised captions beside their references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seesay.captions.coco.ngrams import (
    GramCounts,
    Grams,
    Ints,
    Words,
    changes,
    count_grams,
    lookup,
    number_words,
)
from seesay.captions.coco.tokenize import tokenize
from seesay.errors import UserError
from seesay.metrics.base import FloatArray


@dataclass(frozen=True)
class CaptionCorpus:
    """Tokenised captions of one system, each with one or more tokenised references."""

    hypotheses: Sequence[str]
    references: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        if len(self.hypotheses) != len(self.references):
            raise UserError(
                f"{len(self.hypotheses)} captions stand against {len(self.references)} sets of "
                "references."
            )
        if not len(self.hypotheses):
            raise UserError("There is no caption to score.")
        for i, references in enumerate(self.references):
            if not references:
                raise UserError(f"Caption {i + 1} has no reference: give each at least one.")

    @classmethod
    def tokenized(
        cls, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
    ) -> CaptionCorpus:
        """From raw text."""
        return cls(
            [tokenize(text) for text in hypotheses],
            [[tokenize(text) for text in refs] for refs in references],
        )

    def __len__(self) -> int:
        return len(self.hypotheses)

    @cached_property
    def owner(self) -> Ints:
        """The caption that each reference, in order, belongs to."""
        return np.repeat(np.arange(len(self)), [len(references) for references in self.references])

    @cached_property
    def words(self) -> Words:
        """Words of the captions, then of all references."""
        return number_words(
            [*self.hypotheses, *(reference for row in self.references for reference in row)]
        )

    @cached_property
    def grams(self) -> Grams:
        """N-grams of the captions, then of all references."""
        return count_grams(self.words)

    @cached_property
    def gram_pairs(self) -> list[GramPair]:
        """For each order the n-grams of the captions, and of all references."""
        return [GramPair(table, self.owner, len(self)) for table in self.grams.tables]


class GramPair:
    """The n-grams of one order: of captions and of references, with keys of gram and image, in
    order."""

    def __init__(self, table: GramCounts, owner: Ints, images: int) -> None:
        caption = table.text < images
        self.hypotheses = table.take(caption)
        self.references = table.take(~caption)
        self.references.text[:] -= images
        self.hypothesis_key = self.hypotheses.gram * np.int64(images) + self.hypotheses.text
        self.reference_key = self.references.gram * np.int64(images) + owner[self.references.text]

    @cached_property
    def image_rows(self) -> Ints:
        """Where among the references' rows each pair of gram and image begins."""
        return np.flatnonzero(changes(self.reference_key))

    @cached_property
    def most(self) -> FloatArray:
        """For each of the captions' rows the most that one of its references has of the gram."""
        starts = self.image_rows
        if not len(starts):
            return np.zeros(len(self.hypothesis_key))
        most = np.maximum.reduceat(self.references.count, starts).astype(np.float64)
        return lookup(self.reference_key[starts], most, self.hypothesis_key)
