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
    """Return BLEU-1 to 4, METEOR, ROUGE-L, CIDEr-D, their average, and unigram precision.

    Without `resources`, neither METEOR nor the average.
    """
    bleus = bleu(corpus)
    unigrams = precision(corpus)
    longest = rouge(corpus)
    consensus = cider_d(corpus, frequency)
    if resources is None:
        return [*bleus, longest, consensus, unigrams]
    alignment = meteor(corpus, resources, jobs)
    # A lesser METEOR gives another average, which must not pass for the published one.
    name = FUSION if resources.complete else f"{FUSION} with {alignment.name}"
    fusion = fuse([bleus[-1], alignment, longest, consensus], name)
    return [*bleus, alignment, longest, consensus, fusion, unigrams]


def fuse(parts: Sequence[Measurement], name: str = FUSION) -> Measurement:
    """Return the plain mean of figures, as one figure.

    Of BLEU-4, METEOR, ROUGE-L and CIDEr-D it is the average fusion (Li et al., 2018).

    The mean is taken of the corpus figures, so that a resample of captions moves all parts
    together.
    """
    widths = [part.statistics.shape[1] for part in parts]
    ends = np.cumsum(widths)[:-1].tolist()

    def value(sums: FloatArray) -> FloatArray:
        columns = np.split(sums, ends, axis=-1)
        values = [
            part.metric.value(part_sums) for part, part_sums in zip(parts, columns, strict=True)
        ]
        return np.asarray(np.mean(values, axis=0))

    def stats(corpus: CaptionCorpus) -> FloatArray:
        return np.hstack([part.metric.stats(corpus) for part in parts])

    names = ", ".join(part.name for part in parts)
    most = float(np.mean([part.metric.most for part in parts]))
    metric = Metric(name, f"The mean of {names}.", stats, value, most=most)
    return Measurement(metric, np.hstack([part.statistics for part in parts]))


@dataclass(frozen=True)
class PairedTest:
    """Two systems by one metric.

    Their difference has an interval by the bootstrap; the p-value is the sign-flip test's.
    """

    name: str
    difference: Difference
    p_signflip: float


def compare(
    a: Sequence[Measurement],
    b: Sequence[Measurement],
    objects: Sequence[str],
    resamples: Resamples,
) -> list[PairedTest]:
    """Return paired tests of two systems on the same references, metric by metric."""
    tests = []
    for first, second in zip(a, b, strict=True):
        value = first.metric.value
        # The tests take several groups of statistics; captions are one.
        first_statistics = first.statistics[None]
        second_statistics = second.statistics[None]
        difference = paired_bootstrap(
            first_statistics, second_statistics, resamples, value, most=first.metric.most
        )
        p = sign_flip(
            first_statistics,
            second_statistics,
            objects,
            value,
            flips=resamples.resamples,
            seed=resamples.seed,
        )
        tests.append(PairedTest(first.name, difference, p))
    return tests


def signature(
    corpus: CaptionCorpus,
    resources: MeteorResources | None,
    frequency: DocumentFrequency | None,
    resamples: int,
    seed: int,
) -> str:
    """Say in one line how the numbers were made."""
    counts = {len(references) for references in corpus.references}
    if len(counts) == 1:
        references = str(counts.pop())
    else:
        references = f"{min(counts)}-{max(counts)}"
    if frequency:
        documents = f"given:{frequency.images}"
    else:
        documents = f"references:{len(corpus)}"
    # without METEOR there is no average either
    meteor = [f"meteor:1.5-{resources.modules}"] if resources else []
    fusion = ["fusion:mean(bleu4,meteor,rougeL,ciderD)"] if resources else []
    parts = [
        "tok:ptb-3.4.1-lc-nopunct",
        f"nrefs:{references}",
        "bleu:coco",
        *meteor,
        "rouge:l-1.2",
        f"cider:d-df={documents}",
        *fusion,
        f"boot:{resamples}-seed{seed}",
        f"seesay:{__version__}",
    ]
    return "|".join(parts)
