"""METEOR 1.5 (Denkowski and Lavie, 2014).

Each caption has the statistics of its best alignment; the corpus figure is pooled from them.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from seesay.captions.coco.corpus import CaptionCorpus
from seesay.captions.coco.meteor.alignment import WEIGHTS, RawMatch, align
from seesay.captions.coco.meteor.matches import Matcher
from seesay.captions.coco.meteor.normalize import normalize_all
from seesay.captions.coco.meteor.resources import MeteorResources
from seesay.captions.coco.ngrams import changes
from seesay.metrics.base import FloatArray, Measurement, Metric, ratio

# The English ranking parameters of METEOR 1.5.
ALPHA = 0.85
"""The weight of recall."""
BETA = 0.2
"""The shape of the fragmentation penalty."""
GAMMA = 0.6
"""The size of the fragmentation penalty."""
DELTA = 0.75
"""The weight of content words; function words have the remainder."""
COLUMNS = 23
"""The number of statistics, which are in METEOR's own order.

Length of hypothesis and reference, function words of both; then for each matcher the content words
of both and the function words of both that it matched; chunks; matched words of both. A single
chunk that covers both texts whole is not fragmented: it counts as no chunk, in the caption and in
the corpus.
"""
_MATCHERS = slice(4, 20)
_CHUNKS = 20
_HYPOTHESIS_MATCHES = 21
_REFERENCE_MATCHES = 22
_PAIRS = 200_000
"""Pairs of a word of a caption and a word of its references in one part.

It bounds the memory, and lets several cores end together.
"""


def statistics(
    corpus: CaptionCorpus,
    resources: MeteorResources,
    jobs: int = 1,
) -> FloatArray:
    """Return METEOR's statistics of each caption against its best reference.

    That is the one that gives the best score, the first of equals.

    With several `jobs`, processes share the captions where the system can fork; the result is the
    same.
    """
    work = _Work(corpus, resources)
    parts = work.parts()
    if jobs < 2 or len(parts) < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return np.concatenate([work.rows(part) for part in parts])
    with multiprocessing.get_context("fork").Pool(jobs, _inherit, (work,)) as pool:
        return np.concatenate(pool.map(_inherited_rows, parts, chunksize=1))


class _Work:
    """What every process needs: forked, it is not copied."""

    def __init__(
        self,
        corpus: CaptionCorpus,
        resources: MeteorResources,
    ) -> None:
        words = normalize_all(corpus.texts, resources.prefixes)
        self._matcher = Matcher(resources, words, corpus.owner)
        caption_lengths, reference_lengths = np.split(words.lengths, [len(corpus)])
        reference_words = np.bincount(corpus.owner, reference_lengths, minlength=len(corpus))
        self._pairs = caption_lengths * reference_words

    def parts(self) -> list[range]:
        """Return the captions in parts of a bounded number of pairs of words."""
        part = (np.cumsum(self._pairs) // _PAIRS).astype(np.int64)
        starts = np.flatnonzero(changes(part)).tolist()
        return [range(start, stop) for start, stop in pairwise([*starts, len(self._pairs)])]

    def rows(self, captions: range) -> FloatArray:
        """Return the statistics of some of the captions."""
        matches = self._matcher.matches(captions)
        hypotheses = matches.hypotheses.split(matches.hypotheses.functional.tolist())
        references = matches.references.split(matches.references.functional.tolist())
        owners = matches.owner.tolist()
        compared = [
            _compare(row, hypotheses[caption], reference)
            for row, caption, reference in zip(matches.rows(), owners, references, strict=True)
        ]
        rows = np.array(compared)
        # By caption, the best first; lexsort is stable, so of equals the first reference counts.
        order = np.lexsort((-pooled(rows), matches.owner))
        best = order[changes(matches.owner[order])]
        return rows[best]


_inherited: list[_Work] = []
"""The work of a forked process.

It is set when the process starts: to send it with each part would copy it.
"""


def _inherit(work: _Work) -> None:
    _inherited[:] = [work]


def _inherited_rows(captions: range) -> FloatArray:
    return _inherited[0].rows(captions)


def _compare(
    matches: Sequence[Sequence[RawMatch]],
    hypothesis: list[bool],
    reference: list[bool],
) -> list[float]:
    """Return the statistics of a caption and a reference.

    A text is a list that says which of its words are function words.
    """
    alignment, chunks = align(matches, len(hypothesis))
    row = [0.0] * COLUMNS
    row[:4] = len(hypothesis), len(reference), sum(hypothesis), sum(reference)
    for match in alignment:
        column = _MATCHERS.start + 4 * match.module
        for i in range(match.hypothesis, match.hypothesis + match.hypothesis_size):
            row[column + 2 * hypothesis[i]] += 1
        for j in range(match.reference, match.reference + match.reference_size):
            row[column + 1 + 2 * reference[j]] += 1
        row[_HYPOTHESIS_MATCHES] += match.hypothesis_size
        row[_REFERENCE_MATCHES] += match.reference_size
    if chunks != 1 or row[_HYPOTHESIS_MATCHES:] != row[:2]:
        row[_CHUNKS] = chunks
    return row


def pooled(sums: FloatArray) -> FloatArray:
    """Return METEOR of each row of summed statistics."""
    precision = _weigh_side(sums, 0)
    recall = _weigh_side(sums, 1)
    # F = P · R / (α · P + (1 − α) · R), less the penalty γ · (chunks / matches)^β.
    mean = ratio(precision * recall, ALPHA * precision + (1 - ALPHA) * recall, undefined=0.0)
    matches = (sums[..., _HYPOTHESIS_MATCHES] + sums[..., _REFERENCE_MATCHES]) / 2
    fragmentation = ratio(sums[..., _CHUNKS], matches, undefined=0.0)
    return np.asarray(mean * (1 - GAMMA * fragmentation**BETA))


def _weigh_side(sums: FloatArray, side: int) -> FloatArray:
    """Return the precision (side 0: hypothesis) or the recall (side 1: reference).

    Matched words count by the matcher's weight, content words by δ and function words by 1 − δ.
    """
    matchers = sums[..., _MATCHERS]
    content = matchers[..., side::4]
    function = matchers[..., 2 + side :: 4]
    matched = (DELTA * content + (1 - DELTA) * function) @ np.asarray(WEIGHTS)
    function_words = sums[..., 2 + side]
    content_words = sums[..., side] - function_words
    length = DELTA * content_words + (1 - DELTA) * function_words
    return ratio(matched, length, undefined=0.0)


def meteor(
    corpus: CaptionCorpus,
    resources: MeteorResources,
    jobs: int = 1,
) -> Measurement:
    """Return METEOR of the corpus and of each caption.

    A lesser variant is named by its matchers.
    """
    name = "METEOR" if resources.complete else f"METEOR({resources.modules})"
    meaning = "Best alignment with a reference by words, stems, synonyms and paraphrases."
    metric = Metric(name, meaning, partial(statistics, resources=resources, jobs=jobs), pooled)
    return Measurement(metric, metric.stats(corpus))
