"""ROUGE-L as the COCO evaluation counts it (Lin, 2004): best precision and best recall, over the
references apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seesay.captions.coco.corpus import CaptionCorpus
from seesay.metrics.base import FloatArray, Measurement, mean_metric

BETA = 1.2


def word_places(words: Sequence[str]) -> dict[str, int]:
    """Where each word stands, as a bit per place."""
    places: dict[str, int] = {}
    for i, word in enumerate(words):
        places[word] = places.get(word, 0) | 1 << i
    return places


def longest_common_subsequence(places: dict[str, int], length: int, right: Sequence[str]) -> int:
    """Its length, one bit per word of a text (Hyyrö, 2004): a row of the table is one addition of
    integers."""
    full = (1 << length) - 1
    row = full
    for word in right:
        here = places.get(word)
        if here:
            matched = row & here
            row = (row + matched | row - matched) & full
    return length - row.bit_count()


def rouge_l(hypothesis: str, references: Sequence[str], beta: float = BETA) -> float:
    """F of longest common subsequences for one tokenised caption, recall weighing β² times as much
    as precision.

    An empty text is one empty token, as the COCO evaluation has it.
    """
    words = hypothesis.split(" ")
    places = word_places(words)
    precision = recall = 0.0
    for reference in references:
        other = reference.split(" ")
        common = longest_common_subsequence(places, len(words), other)
        precision = max(precision, common / len(words))
        recall = max(recall, common / len(other))
    if not precision or not recall:
        return 0.0
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


def rouge(corpus: CaptionCorpus) -> Measurement:
    """ROUGE-L of each caption; the corpus figure is their mean."""
    return Measurement(ROUGE_L, ROUGE_L.stats(corpus))


def _scores(corpus: CaptionCorpus) -> FloatArray:
    return np.asarray(
        [rouge_l(*texts) for texts in zip(corpus.hypotheses, corpus.references, strict=True)]
    )


ROUGE_L = mean_metric(
    "ROUGE-L", "Longest common subsequence with the references.", _scores, undefined=0.0
)
