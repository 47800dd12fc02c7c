"""METEOR 1.5 (Denkowski and Lavie, 2014): statistics of the best alignment, and the figure pooled from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seesay.metrics.captions.corpus import Corpus, Floats, Measured
from seesay.metrics.captions.meteor.alignment import WEIGHTS, align
from seesay.metrics.captions.meteor.matches import Matcher, Text
from seesay.metrics.captions.meteor.normalize import normalize
from seesay.metrics.captions.meteor.resources import Resources

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
"""The English ranking parameters: weight of recall, shape and size of the fragmentation penalty, content words."""

COLUMNS = 23
"""METEOR's own order: length of hypothesis and reference, function words of both; then for each matcher the content
words of both and the function words of both that it matched; chunks; matched words of both."""


def statistics(corpus: Corpus, resources: Resources) -> Floats:
    """METEOR's statistics of each caption against the reference that gives it the best score, the first of equals."""
    texts = [normalize(text, resources.prefixes) for text in corpus.hypotheses]
    owners = len(texts)
    texts += [normalize(text, resources.prefixes) for references in corpus.references for text in references]
    matcher = Matcher(resources, texts)
    rows = np.zeros((owners, COLUMNS))
    number = owners
    for i, references in enumerate(corpus.references):
        hypothesis = matcher.text(i, texts[i])
        best, highest = [0.0] * COLUMNS, -1.0
        for _ in references:
            row = _compare(matcher, resources.function_words, hypothesis, matcher.text(number, texts[number]))
            score = _score(row)
            if score > highest:
                best, highest = row, score
            number += 1
        rows[i] = best
    return rows


def _compare(matcher: Matcher, function_words: frozenset[str], hypothesis: Text, reference: Text) -> list[float]:
    chosen, chunks = align(matcher.matches(hypothesis, reference), len(hypothesis.words))
    ours = [word in function_words for word in hypothesis.words]
    theirs = [word in function_words for word in reference.words]
    row = [0.0] * COLUMNS
    row[0:4] = len(ours), len(theirs), sum(ours), sum(theirs)
    row[20] = chunks
    for match in chosen:
        at = 4 + 4 * match.module
        for i in range(match.hypothesis, match.hypothesis + match.hypothesis_size):
            row[at + 2 * ours[i]] += 1
        for j in range(match.reference, match.reference + match.reference_size):
            row[at + 1 + 2 * theirs[j]] += 1
        row[21] += match.hypothesis_size
        row[22] += match.reference_size
    return row


def _score(row: Sequence[float]) -> float:
    """`pooled` for one caption, without arrays: it runs once a reference."""
    if not row[20]:
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
    if row[20] == 1 and row[21] == row[0] and row[22] == row[1]:
        return mean
    return mean * (1 - GAMMA * (row[20] / ((row[21] + row[22]) / 2)) ** BETA)


def pooled(sums: Floats) -> Floats:
    """METEOR of each row of summed statistics. A single chunk that covers both texts whole is not fragmented."""
    sides = []
    for side in (0, 1):
        content = sums[..., 4 + side : 20 : 4]
        function = sums[..., 6 + side : 20 : 4]
        matched = (DELTA * content + (1 - DELTA) * function) @ np.asarray(WEIGHTS)
        length = DELTA * (sums[..., side] - sums[..., 2 + side]) + (1 - DELTA) * sums[..., 2 + side]
        sides.append(_ratio(matched, length))
    precision, recall = sides
    mean = _ratio(precision * recall, ALPHA * precision + (1 - ALPHA) * recall)
    chunks, ours, theirs = sums[..., 20], sums[..., 21], sums[..., 22]
    whole = (chunks == 1) & (ours == sums[..., 0]) & (theirs == sums[..., 1])
    fragmentation = np.where(whole, 0.0, _ratio(chunks, (ours + theirs) / 2))
    return np.asarray(mean * (1 - GAMMA * fragmentation**BETA))


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(below, dtype=np.float64), where=below != 0)


def meteor(corpus: Corpus, resources: Resources) -> Measured:
    """METEOR of the corpus and of each caption; a lesser variant is named by its matchers."""
    rows = statistics(corpus, resources)
    name = "METEOR" if resources.complete else f"METEOR({resources.modules})"
    return Measured(name, pooled(rows), rows, pooled)
