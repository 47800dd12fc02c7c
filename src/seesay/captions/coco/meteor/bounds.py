"""The most that captions can score against their references, before any alignment is searched for."""

from __future__ import annotations

import numpy as np

from seesay.captions.coco.meteor.alignment import WEIGHTS
from seesay.captions.coco.meteor.matches import Matches
from seesay.captions.coco.ngrams import Ints, expand, lookup
from seesay.metrics.base import BoolArray, FloatArray, ratio

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
"""The English ranking parameters: weight of recall, shape and size of the fragmentation penalty, content words."""


class _Side:
    """One side of each pair of texts: the share of it that can be matched, and what that falls into.

    A stretch is a run of words that can be matched and may belong to one chunk; no chunk is in two of them.
    """

    def __init__(self, text: Ints, pairs: int, functional: BoolArray, best: FloatArray, linked: BoolArray) -> None:
        covered = best > 0
        begins = covered & ~linked
        importance = np.where(functional, 1 - DELTA, DELTA)
        weight = best * importance
        self.words = np.bincount(text, covered, minlength=pairs).astype(np.int64)
        self.complete = self.words == np.bincount(text, minlength=pairs)
        self.stretches = np.bincount(text[begins], minlength=pairs)
        self._total, self._matched = (
            np.bincount(text, each, minlength=pairs).astype(np.float64) for each in (importance, weight)
        )
        stretch = np.bincount((np.cumsum(begins) - 1)[covered], weight[covered])
        smallest_first = np.lexsort((stretch, text[begins]))
        self._sums = np.concatenate([[0.0], np.cumsum(stretch[smallest_first])])
        self._first = np.cumsum(self.stretches) - self.stretches

    def share(self, lost: int) -> FloatArray:
        """The share that can be matched without the smallest stretches."""
        last = self._first + np.minimum(lost, self.stretches)
        return ratio(self._matched - (self._sums[last] - self._sums[self._first]), self._total, undefined=0.0)


def ceilings(matches: Matches) -> FloatArray:
    """For each reference a bound on the score: each word matched as well as any match does it, in as few chunks.

    Words that no pair of matches joins are in different chunks; fewer chunks are had only by giving up a stretch.
    """
    pairs = len(matches.owner)
    lengths = matches.ours.lengths[matches.owner]
    copies = expand(matches.ours.starts[matches.owner], lengths)  # each reference has a copy of its hypothesis
    pair = matches.theirs.text[matches.word]
    at = (np.cumsum(lengths) - lengths)[pair] + matches.hypothesis
    width = np.int64(matches.ours.lengths.max(initial=0) + 1)
    ends = (matches.word + matches.size) * width + matches.hypothesis + matches.hypothesis_size
    ends.sort()
    meets = lookup(ends, np.ones(len(ends)), matches.word * width + matches.hypothesis) * matches.place > 0
    weights = np.asarray(WEIGHTS)[matches.module]
    theirs, ours = (
        _Side(text, pairs, functional, *_covered(len(text), start, size, weights, meets))
        for text, functional, start, size in (
            (matches.theirs.text, matches.theirs.functional, matches.word, matches.size),
            (np.repeat(np.arange(pairs), lengths), matches.ours.functional[copies], at, matches.hypothesis_size),
        )
    )
    return np.minimum(_bound(ours, theirs, ours), _bound(ours, theirs, theirs)) + 1e-9


def _covered(
    words: int, start: Ints, size: Ints, weights: FloatArray, meets: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """The best weight of a match on each word, and whether it may continue the chunk of the word before it."""
    best, linked = np.zeros(words), np.zeros(words, bool)
    word = expand(start, size)
    np.maximum.at(best, word, np.repeat(weights, size))
    linked[word[word != np.repeat(start, size)]] = True
    linked[start[meets]] = True
    return best, linked


def _bound(ours: _Side, theirs: _Side, side: _Side) -> FloatArray:
    """The best over the number of stretches on that side that are given up."""
    bound = np.zeros(len(side.words))
    for lost in range(int(side.stretches.max(initial=0))):
        chunks = np.maximum(0, side.stretches - lost)
        precision, recall = (each.share(lost if each is side else 0) for each in (ours, theirs))
        mean = ratio(precision * recall, ALPHA * precision + (1 - ALPHA) * recall, undefined=0.0)
        fragments = chunks / np.maximum(1, (ours.words + theirs.words - lost) / 2)
        if not lost:
            fragments[(chunks == 1) & ours.complete & theirs.complete] = 0.0
        bound = np.maximum(bound, np.where(chunks > 0, mean * (1 - GAMMA * fragments**BETA), 0.0))
    return bound
