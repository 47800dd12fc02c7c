"""METEOR 1.5 (Denkowski and Lavie, 2014): statistics of the best alignment, and the figure pooled from them."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from functools import partial
from operator import itemgetter, mul

import numpy as np

from seesay.metrics.base import FloatArray, Measurement, Metric, ratio
from seesay.metrics.captions.corpus import CaptionCorpus
from seesay.metrics.captions.meteor.alignment import WEIGHTS, RawMatch, align
from seesay.metrics.captions.meteor.matches import Hypothesis, Matcher, Text
from seesay.metrics.captions.meteor.normalize import normalize
from seesay.metrics.captions.meteor.resources import MeteorResources

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
"""The English ranking parameters: weight of recall, shape and size of the fragmentation penalty, content words."""

COLUMNS = 23
"""METEOR's own order: length of hypothesis and reference, function words of both; then for each matcher the content
words of both and the function words of both that it matched; chunks; matched words of both. A single chunk that covers
both texts whole is not fragmented: it counts as no chunk, in the caption and in the corpus."""


def statistics(corpus: CaptionCorpus, resources: MeteorResources, jobs: int = 1) -> FloatArray:
    """METEOR's statistics of each caption against the reference that gives it the best score, the first of equals.

    With several `jobs`, processes share the captions where the system can fork; the result is the same.
    """
    work = _Work(corpus, resources)
    if jobs < 2 or len(corpus) < 2 * _CHUNK or "fork" not in multiprocessing.get_all_start_methods():
        return work.rows(range(len(corpus)))
    parts = [range(start, min(start + _CHUNK, len(corpus))) for start in range(0, len(corpus), _CHUNK)]
    with multiprocessing.get_context("fork").Pool(jobs, _inherit, (work,)) as pool:
        return np.concatenate(pool.map(_part, parts, chunksize=1))


class _Work:
    """What every process needs: forked, it is not copied."""

    def __init__(self, corpus: CaptionCorpus, resources: MeteorResources) -> None:
        self._texts = [normalize(text, resources.prefixes) for text in corpus.hypotheses]
        self._texts += [normalize(text, resources.prefixes) for refs in corpus.references for text in refs]
        self._first = np.cumsum([len(corpus), *(len(refs) for refs in corpus.references)]).tolist()
        self._functional = resources.function_words
        self._matcher = Matcher(resources, self._texts)

    def rows(self, captions: range) -> FloatArray:
        """The statistics of some of the captions."""
        texts, matcher = self._texts, self._matcher
        rows = np.zeros((len(captions), COLUMNS))
        for row, i in zip(rows, captions, strict=True):
            references = [matcher.text(j, texts[j]) for j in range(self._first[i], self._first[i + 1])]
            row[:] = _best(matcher, self._functional, matcher.hypothesis(i, texts[i]), references)
        return rows


_CHUNK = 500
_inherited: list[_Work] = []


def _inherit(work: _Work) -> None:
    _inherited[:] = [work]


def _part(captions: range) -> FloatArray:
    return _inherited[0].rows(captions)


def _best(
    matcher: Matcher, functional: frozenset[str], hypothesis: Hypothesis, references: Sequence[Text]
) -> Sequence[float]:
    """The statistics against the best reference. Those that could not win, however they align, are not aligned."""
    ours = [word in functional for word in hypothesis.text.words]
    candidates = []
    for place, reference in enumerate(references):
        theirs = [word in functional for word in reference.words]
        matches = matcher.matches(hypothesis, reference)
        candidates.append((_ceiling(matches, ours, theirs), -place, matches, theirs))
    candidates.sort(key=itemgetter(0, 1), reverse=True)
    best: Sequence[float] = ()
    highest = (-1.0, 0)
    for ceiling, order, matches, theirs in candidates:
        if ceiling < highest[0]:
            break
        row = _compare(matches, ours, theirs)
        if (_score(row), order) > highest:
            best, highest = row, (_score(row), order)
    return best


def _ceiling(matches: Sequence[Sequence[RawMatch]], ours: list[bool], theirs: list[bool]) -> float:
    """A bound on the score: each word matched as well as any match does it, all in one chunk."""
    left, right = [0.0] * len(ours), [0.0] * len(theirs)
    for row in matches:
        for j, size, i, length, module in row:
            weight = WEIGHTS[module]
            for word in range(i, i + length):
                if left[word] < weight:
                    left[word] = weight
            for word in range(j, j + size):
                if right[word] < weight:
                    right[word] = weight
    precision, recall = _share(left, ours), _share(right, theirs)
    if not precision or not recall:
        return 0.0
    covered = (len(left) - left.count(0.0) + len(right) - right.count(0.0)) / 2
    penalty = 0.0 if all(left) and all(right) else GAMMA * (1 / covered) ** BETA
    return precision * recall / (ALPHA * precision + (1 - ALPHA) * recall) * (1 - penalty) + 1e-9


def _share(weights: list[float], functional: list[bool]) -> float:
    importance = [1 - DELTA if function else DELTA for function in functional]
    return sum(map(mul, weights, importance)) / sum(importance) if importance else 0.0


def _compare(matches: Sequence[Sequence[RawMatch]], ours: list[bool], theirs: list[bool]) -> list[float]:
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


def _score(row: Sequence[float]) -> float:
    """`pooled` for one caption, without arrays: it runs once a reference."""
    if not row[21]:
        return 0.0
    sides = []
    for side in (0, 1):
        matched = sum(
            weight * (DELTA * row[4 + 4 * module + side] + (1 - DELTA) * row[6 + 4 * module + side])
            for module, weight in enumerate(WEIGHTS)
        )
        length = DELTA * (row[side] - row[2 + side]) + (1 - DELTA) * row[2 + side]
        sides.append(matched / length)
    precision, recall = sides
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    fragmentation = row[20] / ((row[21] + row[22]) / 2)
    return float(mean * (1 - GAMMA * fragmentation**BETA))


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
