"""The whole evaluation of captions: every metric, their average, intervals and paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seesay import __version__
from seesay.captions.coco.bleu import bleu, precision
from seesay.captions.coco.cider import DocumentFrequency, cider_d
from seesay.captions.coco.corpus import CaptionCorpus
from seesay.captions.coco.meteor import MeteorResources, meteor
from seesay.captions.coco.rouge import rouge
from seesay.metrics.base import FloatArray, Measurement, Metric
from seesay.metrics.bootstrap import Resamples
from seesay.metrics.paired import Difference, paired_bootstrap, sign_flip

FUSION = "average fusion"


def evaluate(
    corpus: CaptionCorpus,
    resources: MeteorResources | None,
    frequency: DocumentFrequency | None = None,
    jobs: int = 1,
) -> list[Measurement]:
    """BLEU-1 to 4, METEOR, ROUGE-L, CIDEr-D, their average, and unigram precision.

    Without `resources`, neither METEOR nor the average.
    """
    blues = bleu(corpus)
    words = precision(corpus)
    rest = [rouge(corpus), cider_d(corpus, frequency)]
    if resources is None:
        return [*blues, *rest, words]
    best = meteor(corpus, resources, jobs)
    name = FUSION if resources.complete else f"{FUSION} with {best.name}"
    return [*blues, best, *rest, fuse([blues[-1], best, *rest], name), words]


def fuse(parts: Sequence[Measurement], name: str = FUSION) -> Measurement:
    """The plain mean of figures, as one figure: of BLEU-4, METEOR, ROUGE-L and CIDEr-D it is the
    average fusion.

    The mean is taken of the corpus figures, so that a resample of captions moves all parts
    together.
    """
    ends = np.cumsum([part.statistics.shape[1] for part in parts])[:-1].tolist()

    def value(sums: FloatArray) -> FloatArray:
        columns = np.split(sums, ends, axis=-1)
        return np.asarray(
            np.mean([part.metric.value(c) for part, c in zip(parts, columns, strict=True)], axis=0)
        )

    def stats(corpus: CaptionCorpus) -> FloatArray:
        return np.hstack([part.metric.stats(corpus) for part in parts])

    metric = Metric(name, f"The mean of {', '.join(part.name for part in parts)}.", stats, value)
    return Measurement(metric, np.hstack([part.statistics for part in parts]))


@dataclass(frozen=True)
class PairedTest:
    """Two systems by one metric: the difference with its interval, and the p-value of the sign-flip
    test."""

    name: str
    difference: Difference
    p_signflip: float


def compare(
    a: Sequence[Measurement], b: Sequence[Measurement], objects: Sequence[str], resamples: Resamples
) -> list[PairedTest]:
    """Paired tests of two systems on the same captions' references, metric by metric."""
    tests = []
    for ours, theirs in zip(a, b, strict=True):
        left = ours.statistics[None]
        right = theirs.statistics[None]
        difference = paired_bootstrap(left, right, resamples, ours.metric.value)
        p = sign_flip(
            left, right, objects, ours.metric.value, flips=resamples.resamples, seed=resamples.seed
        )
        tests.append(PairedTest(ours.name, difference, p))
    return tests


def signature(
    corpus: CaptionCorpus,
    resources: MeteorResources | None,
    frequency: DocumentFrequency | None,
    resamples: int,
    seed: int,
) -> str:
    """How the numbers were made, in one line."""
    counts = {len(references) for references in corpus.references}
    if len(counts) == 1:
        references = str(counts.pop())
    else:
        references = f"{min(counts)}-{max(counts)}"
    if frequency:
        document = f"given:{frequency.images}"
    else:
        document = f"references:{len(corpus)}"
    matchers = resources.modules if resources else "none"
    return (
        f"tok:ptb-3.4.1-lc-nopunct|nrefs:{references}|bleu:coco|meteor:1.5-{matchers}|rouge:l-1.2|"
        f"cider:d-df={document}|fusion:mean(bleu4,meteor,rougeL,ciderD)|boot:{resamples}-seed{seed}|seesay:{__version__}"
    )
