"""METEOR 1.5 (Denkowski and Lavie, 2014): statistics of the best alignment, and the figure pooled
from them."""

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

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
"""The English ranking parameters: weight of recall, shape and size of the fragmentation penalty,
content words."""
COLUMNS = 23
"""METEOR's own order: length of hypothesis and reference, function words of both; then for each
matcher the content words of both and the function words of both that it matched; chunks; matched
words of both. A single chunk that covers both texts whole is not fragmented: it counts as no chunk,
in the caption and in the corpus."""


def statistics(corpus: CaptionCorpus, resources: MeteorResources, jobs: int = 1) -> FloatArray:
    """METEOR's statistics of each caption against the reference that gives it the best score, the
    first of equals.

    With several `jobs`, processes share the captions where the system can fork; the result is the
    same.
    """
    work = _Work(corpus, resources)
    parts = work.parts()
    if jobs < 2 or len(parts) < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return np.concatenate([work.rows(part) for part in parts])
    with multiprocessing.get_context("fork").Pool(jobs, _inherit, (work,)) as pool:
        return np.concatenate(pool.map(_part, parts, chunksize=1))


class _Work:
    """What every process needs: forked, it is not copied."""

    def __init__(self, corpus: CaptionCorpus, resources: MeteorResources) -> None:
        texts = [*corpus.hypotheses, *(text for row in corpus.references for text in row)]
        words = normalize_all(texts, resources.prefixes)
        self._matcher = Matcher(resources, words, corpus.owner)
        ours, theirs = np.split(words.lengths, [len(corpus)])
        self._pairs = ours * np.bincount(corpus.owner, theirs, minlength=len(corpus))

    def parts(self) -> list[range]:
        """The captions in parts of a bounded number of pairs of words."""
        starts = np.flatnonzero(
            changes((np.cumsum(self._pairs) // _PAIRS).astype(np.int64))
        ).tolist()
        return [range(start, stop) for start, stop in pairwise([*starts, len(self._pairs)])]

    def rows(self, captions: range) -> FloatArray:
        """The statistics of some of the captions."""
        matches = self._matcher.matches(captions)
        ours = matches.ours.split(matches.ours.functional.tolist())
        theirs = matches.theirs.split(matches.theirs.functional.tolist())
        pairs = zip(matches.rows(), matches.owner.tolist(), theirs, strict=True)
        rows = np.array(
            [_compare(found, ours[caption], reference) for found, caption, reference in pairs]
        )
        # by caption, the best first, then the first of equals
        order = np.lexsort((-pooled(rows), matches.owner))
        best = order[changes(matches.owner[order])]
        return rows[best]


_PAIRS = 200_000
"""Of words of a caption and of its references, in one part: it bounds the memory, and both cores
end together."""
_inherited: list[_Work] = []


def _inherit(work: _Work) -> None:
    _inherited[:] = [work]


def _part(captions: range) -> FloatArray:
    return _inherited[0].rows(captions)


def _compare(
    matches: Sequence[Sequence[RawMatch]], ours: list[bool], theirs: list[bool]
) -> list[float]:
    chosen, chunks = align(matches, len(ours))
    row = [0.0] * COLUMNS
    row[0:4] = len(ours), len(theirs), sum(ours), sum(theirs)
    for match in chosen:
        at = 4 + 4 * match.module
        for i in range(match.hypothesis, match.hypothesis + match.hypothesis_size):
            row[at + 2 * ours[i]] += 1
        for j in range(match.reference, match.reference + match.reference_size):
            row[at + 1 + 2 * theirs[j]] += 1
        row[21] += match.hypothesis_size
        row[22] += match.reference_size
    row[20] = 0 if chunks == 1 and row[21] == row[0] and row[22] == row[1] else chunks
    return row


def pooled(sums: FloatArray) -> FloatArray:
    """METEOR of each row of summed statistics."""
    sides = []
    for side in (0, 1):
        content = sums[..., 4 + side : 20 : 4]
        function = sums[..., 6 + side : 20 : 4]
        matched = (DELTA * content + (1 - DELTA) * function) @ np.asarray(WEIGHTS)
        length = DELTA * (sums[..., side] - sums[..., 2 + side]) + (1 - DELTA) * sums[..., 2 + side]
        sides.append(ratio(matched, length, undefined=0.0))
    precision, recall = sides
    mean = ratio(precision * recall, ALPHA * precision + (1 - ALPHA) * recall, undefined=0.0)
    fragmentation = ratio(sums[..., 20], (sums[..., 21] + sums[..., 22]) / 2, undefined=0.0)
    return np.asarray(mean * (1 - GAMMA * fragmentation**BETA))


def meteor(corpus: CaptionCorpus, resources: MeteorResources, jobs: int = 1) -> Measurement:
    """METEOR of the corpus and of each caption; a lesser variant is named by its matchers."""
    name = "METEOR" if resources.complete else f"METEOR({resources.modules})"
    meaning = "Best alignment with a reference by words, stems, synonyms and paraphrases."
    metric = Metric(name, meaning, partial(statistics, resources=resources, jobs=jobs), pooled)
    return Measurement(metric, metric.stats(corpus))
