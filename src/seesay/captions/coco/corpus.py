"""What the caption metrics share: tokenised captions beside their references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

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
    """One caption per image."""
    references: Sequence[Sequence[str]]
    """The references of each caption."""

    def __post_init__(self) -> None:
        if len(self.hypotheses) != len(self.references):
            raise UserError(
                f"There are {len(self.hypotheses)} captions but {len(self.references)} sets of "
                "references: give one set for each caption."
            )
        if not len(self.hypotheses):
            raise UserError("There is no caption to score.")
        for i, references in enumerate(self.references):
            if not references:
                raise UserError(f"Caption {i + 1} has no reference: give each at least one.")

    @classmethod
    def tokenized(
        cls,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str]],
    ) -> CaptionCorpus:
        """Tokenise raw text."""
        return cls(
            [tokenize(text) for text in hypotheses],
            [list(map(tokenize, texts)) for texts in references],
        )

    def __len__(self) -> int:
        return len(self.hypotheses)

    @cached_property
    def owner(self) -> Ints:
        """The caption that each reference, in order, belongs to."""
        counts = [len(references) for references in self.references]
        return np.repeat(np.arange(len(self)), counts)

    @cached_property
    def texts(self) -> list[str]:
        """The captions, then all references in order."""
        return [*self.hypotheses, *chain.from_iterable(self.references)]

    @cached_property
    def words(self) -> Words:
        """Words of the captions, then of all references."""
        return number_words(self.texts)

    @cached_property
    def grams(self) -> Grams:
        """N-grams of the captions, then of all references."""
        return count_grams(self.words)

    @cached_property
    def gram_pairs(self) -> list[GramPair]:
        """For each order the n-grams of the captions, and of all references."""
        return [GramPair(table, self.owner, len(self)) for table in self.grams.tables]


class GramPair:
    """The n-grams of one order: of captions and of references, with keys of gram and image.

    Both keys are sorted, because rows are sorted by gram and then by text.
    """

    def __init__(
        self,
        table: GramCounts,
        owner: Ints,
        images: int,
    ) -> None:
        is_caption = table.text < images
        captions = table.take(is_caption)
        references = table.take(~is_caption)
        # References are numbered from 0 on, as captions are.
        references.text[:] -= images
        self.hypotheses = captions
        self.references = references
        kinds = np.int64(images)
        self.hypothesis_key = captions.gram * kinds + captions.text
        self.reference_key = references.gram * kinds + owner[references.text]

    @cached_property
    def image_rows(self) -> Ints:
        """Where among the references' rows each pair of gram and image begins."""
        return np.flatnonzero(changes(self.reference_key))

    @cached_property
    def largest_counts(self) -> FloatArray:
        """For each of the captions' rows the most that one of its references has of the gram."""
        starts = self.image_rows
        if not len(starts):
            return np.zeros(len(self.hypothesis_key))
        largest = np.maximum.reduceat(self.references.count, starts).astype(np.float64)
        return lookup(self.reference_key[starts], largest, self.hypothesis_key)
