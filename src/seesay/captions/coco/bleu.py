"""BLEU as the COCO evaluation counts it, and unigram precision.

The method is that of Papineni et al. (2002); the smoothing constants are the evaluation's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np

from seesay.captions.coco.corpus import CaptionCorpus
from seesay.captions.coco.ngrams import ORDERS, Ints, changes
from seesay.metrics.base import FloatArray, Measurement, Metric, measure

# COCO's constants, added above and below each fraction: without a single n-gram it is nearly 0 and
# not a division by zero. They show in the digits of short captions.
_TINY = 1e-15
_SMALL = 1e-9


def statistics(corpus: CaptionCorpus) -> FloatArray:
    """Return one row of counts per caption.

    The columns are clipped matches of order 1 to 4, n-grams of order 1 to 4, the length, and the
    length of the closest reference.
    """
    n = len(corpus)
    lengths = corpus.words.lengths[:n]
    rows = np.zeros((n, 2 * ORDERS + 2))
    for k, pair in enumerate(corpus.gram_pairs):
        captions = pair.hypotheses
        # Papineni et al., section 2.1: a gram counts at most as often as in one reference.
        clipped = np.minimum(captions.count, pair.largest_counts)
        rows[:, k] = np.bincount(captions.text, clipped, minlength=n)
        rows[:, ORDERS + k] = np.maximum(0, lengths - k)
    rows[:, -2] = lengths
    rows[:, -1] = _closest_lengths(corpus)
    return rows


def _closest_lengths(corpus: CaptionCorpus) -> Ints:
    """Return for each caption the length of the reference closest in length.

    Of two equally close it is the shorter one.
    """
    lengths, reference_lengths = np.split(corpus.words.lengths, [len(corpus)])
    gap = np.abs(reference_lengths - lengths[corpus.owner])
    nearest = np.lexsort((reference_lengths, gap, corpus.owner))
    firsts = changes(corpus.owner[nearest])
    return np.asarray(reference_lengths[nearest][firsts])


def pooled(order: int, sums: FloatArray) -> FloatArray:
    """Return BLEU-`order` of each row of summed statistics."""
    matches = sums[..., :order]
    grams = sums[..., ORDERS : ORDERS + order]
    precisions = (matches + _TINY) / (grams + _SMALL)
    mean = np.prod(precisions, axis=-1) ** (1 / order)
    length = sums[..., -2]
    reference_length = sums[..., -1]
    ratio = (length + _TINY) / (reference_length + _SMALL)
    # An empty caption's ratio is tiny; `where` evaluates the exponential for every row.
    with np.errstate(over="ignore"):
        brevity = np.where(ratio < 1, np.exp(1 - 1 / ratio), 1.0)
    return np.asarray(mean * brevity)


BLEU = tuple(
    Metric(
        f"BLEU-{order}",
        f"Shared n-grams of 1 to {order} words, with a brevity penalty.",
        statistics,
        partial(pooled, order),
    )
    for order in range(1, ORDERS + 1)
)


def bleu(corpus: CaptionCorpus) -> list[Measurement]:
    """Return BLEU-1 to BLEU-4, of the corpus and of each caption."""
    return measure(BLEU, corpus)


def unigram_precision(
    hypothesis: str,
    references: Sequence[str],
    *,
    clipped: bool = False,
) -> float:
    """Return the share of a caption's words that occur in any reference.

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
    largest: Counter[str] = Counter()
    for reference in references:
        largest |= Counter(reference.split())
    matched = 0
    for word, count in words.items():
        if clipped:
            matched += min(count, largest[word])
        elif word in largest:
            matched += count
    return matched / words.total()


def _words(corpus: CaptionCorpus) -> FloatArray:
    """Return one row per caption: its words that occur in any reference, and all its words."""
    n = len(corpus)
    unigrams = corpus.gram_pairs[0]
    captions = unigrams.hypotheses
    in_references = captions.count * (unigrams.largest_counts > 0)
    common = np.bincount(captions.text, in_references, minlength=n)
    return np.column_stack([common, corpus.words.lengths[:n]]).astype(np.float64)


PRECISION = Metric(
    "unigram precision",
    "The share of words that occur in any reference.",
    _words,
    lambda sums: np.asarray(sums[..., 0] / np.maximum(sums[..., 1], 1.0)),
)


def precision(corpus: CaptionCorpus) -> Measurement:
    """Return unigram precision over all words of the corpus, and of each caption."""
    return measure([PRECISION], corpus)[0]
