"""BLEU as the COCO evaluation counts it (Papineni et al., 2002, with its own constants), and unigram precision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np

from seesay.metrics.base import FloatArray, Measurement, Metric, measure
from seesay.metrics.captions.corpus import CaptionCorpus
from seesay.metrics.captions.ngrams import ORDERS, lookup

_TINY, _SMALL = 1e-15, 1e-9
"""Added above and below each fraction: no n-gram at all gives nearly 0, not a division by zero."""


def statistics(corpus: CaptionCorpus) -> FloatArray:
    """One row per caption: clipped matches of order 1 to 4, n-grams of order 1 to 4, length, closest reference length.

    Of two references equally close the shorter one counts.
    """
    n = len(corpus)
    lengths = corpus.grams.lengths
    rows = np.zeros((n, 2 * ORDERS + 2))
    for k, table in enumerate(corpus.grams.tables):
        kinds = np.int64(max(1, table.kinds))
        split = int(np.searchsorted(table.text, n))
        image = corpus.owner[table.text[split:] - n]
        key = image * kinds + table.gram[split:]
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        ceiling = np.maximum.reduceat(table.count[split:][order], starts) if len(starts) else np.zeros(0)
        queries = table.text[:split] * kinds + table.gram[:split]
        most = lookup(key[order][starts], ceiling.astype(np.float64), queries)
        clipped = np.minimum(table.count[:split], most)
        rows[:, k] = np.bincount(table.text[:split], clipped, minlength=n)
        rows[:, ORDERS + k] = np.maximum(0, lengths[:n] - k)
    rows[:, -2] = lengths[:n]
    gap = np.abs(lengths[n:] - lengths[:n][corpus.owner])
    nearest = np.lexsort((lengths[n:], gap, corpus.owner))
    firsts = np.flatnonzero(np.diff(corpus.owner[nearest], prepend=-1))
    rows[:, -1] = lengths[n:][nearest][firsts]
    return rows


def pooled(order: int, sums: FloatArray) -> FloatArray:
    """BLEU-`order` of each row of summed statistics."""
    matches, grams = sums[..., :order], sums[..., ORDERS : ORDERS + order]
    precision = np.prod((matches + _TINY) / (grams + _SMALL), axis=-1) ** (1 / order)
    ratio = (sums[..., -2] + _TINY) / (sums[..., -1] + _SMALL)
    with np.errstate(over="ignore"):
        brevity = np.where(ratio < 1, np.exp(1 - 1 / ratio), 1.0)
    return np.asarray(precision * brevity)


BLEU = tuple(
    Metric(f"BLEU-{order}", f"Shared n-grams of 1 to {order} words, with a brevity penalty.", statistics, value)
    for order in range(1, ORDERS + 1)
    for value in [partial(pooled, order)]
)


def bleu(corpus: CaptionCorpus) -> list[Measurement]:
    """BLEU-1 to BLEU-4, of the corpus and of each caption."""
    return measure(BLEU, corpus)


def unigram_precision(hypothesis: str, references: Sequence[str], *, clipped: bool = False) -> float:
    """The share of a caption's words that occur in any reference.

    Clipped, a word counts at most as often as in the reference that has it most often (the modified precision of
    Papineni et al., 2002, section 2.1).

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
    matched = sum(min(count, most[word]) if clipped else count for word, count in words.items() if word in most)
    return matched / words.total()


def _words(corpus: CaptionCorpus) -> FloatArray:
    """One row per caption: its words that occur in any reference, and all its words."""
    rows = []
    for caption, references in zip(corpus.hypotheses, corpus.references, strict=True):
        words, known = caption.split(), {word for reference in references for word in reference.split()}
        rows.append((sum(word in known for word in words), len(words)))
    return np.array(rows, dtype=np.float64)


PRECISION = Metric(
    "unigram precision", "The share of words that occur in any reference.", _words,
    lambda sums: np.asarray(sums[..., 0] / np.maximum(sums[..., 1], 1.0)),
)  # fmt: skip


def precision(corpus: CaptionCorpus) -> Measurement:
    """Unigram precision over all words of the corpus, and of each caption."""
    return measure([PRECISION], corpus)[0]
