"""BLEU as the COCO evaluation counts it (Papineni et al., 2002, with its own constants), and
unigram precision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np

from seesay.captions.coco.corpus import CaptionCorpus
from seesay.captions.coco.ngrams import ORDERS
from seesay.metrics.base import FloatArray, Measurement, Metric, measure

_TINY, _SMALL = 1e-15, 1e-9
"""Added above and below each fraction: no n-gram at all gives nearly 0, not a division by zero."""


def statistics(corpus: CaptionCorpus) -> FloatArray:
    """One row per caption: clipped matches of order 1 to 4, n-grams of order 1 to 4, length,
    closest reference length.

    Of two references equally close the shorter one counts.
    """
    n = len(corpus)
    lengths = corpus.words.lengths
    rows = np.zeros((n, 2 * ORDERS + 2))
    for k, pair in enumerate(corpus.gram_pairs):
        rows[:, k] = np.bincount(
            pair.hypotheses.text, np.minimum(pair.hypotheses.count, pair.most), minlength=n
        )
        rows[:, ORDERS + k] = np.maximum(0, lengths[:n] - k)
    rows[:, -2] = lengths[:n]
    gap = np.abs(lengths[n:] - lengths[:n][corpus.owner])
    nearest = np.lexsort((lengths[n:], gap, corpus.owner))
    firsts = np.flatnonzero(np.diff(corpus.owner[nearest], prepend=-1))
    rows[:, -1] = lengths[n:][nearest][firsts]
    return rows


def pooled(order: int, sums: FloatArray) -> FloatArray:
    """BLEU-`order` of each row of summed statistics."""
    matches = sums[..., :order]
    grams = sums[..., ORDERS : ORDERS + order]
    precision = np.prod((matches + _TINY) / (grams + _SMALL), axis=-1) ** (1 / order)
    ratio = (sums[..., -2] + _TINY) / (sums[..., -1] + _SMALL)
    with np.errstate(over="ignore"):
        brevity = np.where(ratio < 1, np.exp(1 - 1 / ratio), 1.0)
    return np.asarray(precision * brevity)


BLEU = tuple(
    Metric(
        f"BLEU-{order}",
        f"Shared n-grams of 1 to {order} words, with a brevity penalty.",
        statistics,
        value,
    )
    for order in range(1, ORDERS + 1)
    for value in [partial(pooled, order)]
)


def bleu(corpus: CaptionCorpus) -> list[Measurement]:
    """BLEU-1 to BLEU-4, of the corpus and of each caption."""
    return measure(BLEU, corpus)


def unigram_precision(
    hypothesis: str, references: Sequence[str], *, clipped: bool = False
) -> float:
    """The share of a caption's words that occur in any reference.

    Clipped, a word counts at most as often as in the reference that has it most often (the modified
    precision of Papineni et al., 2002, section 2.1).

    >>> the = ["the cat is on the mat", "there is a cat on the mat"]
    >>> unigram_precision("the the the the the the the", the)
    1.0
    >>> unigram_precision("the the the the the the the", the, clipped=True) == 2 / 7
    True
    """
    words = Counter(hypothesis.split())
    if not words:
        return 0.0
    most: Counter[str] = Counter()
    for reference in references:
        most |= Counter(reference.split())
    matched = sum(
        min(count, most[word]) if clipped else count
        for word, count in words.items()
        if word in most
    )
    return matched / words.total()


def _words(corpus: CaptionCorpus) -> FloatArray:
    """One row per caption: its words that occur in any reference, and all its words."""
    n, (pair, *_) = len(corpus), corpus.gram_pairs
    common = np.bincount(pair.hypotheses.text, pair.hypotheses.count * (pair.most > 0), minlength=n)
    return np.column_stack([common, corpus.words.lengths[:n]]).astype(np.float64)


PRECISION = Metric(
    "unigram precision",
    "The share of words that occur in any reference.",
    _words,
    lambda sums: np.asarray(sums[..., 0] / np.maximum(sums[..., 1], 1.0)),
)


def precision(corpus: CaptionCorpus) -> Measurement:
    """Unigram precision over all words of the corpus, and of each caption."""
    return measure([PRECISION], corpus)[0]
