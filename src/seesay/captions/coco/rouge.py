"""ROUGE-L as the COCO evaluation counts it (Lin, 2004).

The best precision and the best recall may come from different references.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seesay.captions.coco.corpus import CaptionCorpus
from seesay.metrics.base import FloatArray, Measurement, mean_metric

BETA = 1.2
"""How much more recall weighs than precision, squared: COCO's value."""


def word_places(words: Sequence[str]) -> dict[str, int]:
    """Return where each word stands, as a bit per place."""
    places: dict[str, int] = {}
    for i, word in enumerate(words):
        bits = places.get(word, 0)
        places[word] = bits | 1 << i
    return places


def longest_common_subsequence(
    places: dict[str, int],
    length: int,
    right: Sequence[str],
) -> int:
    """Return the length of the longest common subsequence.

    There is one bit per word of a text (Hyyrö, 2004), so that a row of the table is one addition of
    integers.
    """
    full = (1 << length) - 1
    row = full
    for word in right:
        bits = places.get(word)
        if bits:
            # The carry of the addition clears the lowest matching bit of each run of ones, which
            # is where the subsequence grows; a cleared bit is one word of it.
            matched = row & bits
            row = (row + matched | row - matched) & full
    return length - row.bit_count()


def rouge_l(
    hypothesis: str,
    references: Sequence[str],
    beta: float = BETA,
) -> float:
    """Return F of longest common subsequences for one tokenised caption.

    Recall weighs β² times as much as precision.

    An empty text is one empty token, as the COCO evaluation has it.
    """
    words = hypothesis.split(" ")
    places = word_places(words)
    precision = recall = 0.0
    for reference in references:
        reference_words = reference.split(" ")
        common = longest_common_subsequence(places, len(words), reference_words)
        precision = max(precision, common / len(words))
        recall = max(recall, common / len(reference_words))
    if not precision or not recall:
        return 0.0
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


def rouge(corpus: CaptionCorpus) -> Measurement:
    """Return ROUGE-L of each caption; the corpus figure is their mean."""
    return Measurement(ROUGE_L, ROUGE_L.stats(corpus))


def _scores(corpus: CaptionCorpus) -> FloatArray:
    """Return the score of each caption."""
    pairs = zip(corpus.hypotheses, corpus.references, strict=True)
    return np.asarray([rouge_l(hypothesis, references) for hypothesis, references in pairs])


ROUGE_L = mean_metric(
    "ROUGE-L",
    "Longest common subsequence with the references.",
    _scores,
    undefined=0.0,
)
