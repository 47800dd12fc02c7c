"""Captions against references, as the COCO evaluation scores them, with intervals and paired
tests."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from seesay.captions.coco.cider import DocumentFrequency
from seesay.captions.coco.corpus import CaptionCorpus
from seesay.captions.coco.evaluate import compare, evaluate, signature
from seesay.captions.coco.meteor import load
from seesay.captions.defaults import RESAMPLES
from seesay.captions.pairs import (
    CaptionSource,
    ReferenceSource,
    load_captions,
    load_references,
    pair,
)
from seesay.captions.scoring.records import TextComparison, TextRecord, make_records, system_names
from seesay.errors import UserError
from seesay.metrics.base import Measurement
from seesay.metrics.bootstrap import Resamples
from seesay.metrics.paired import holm

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SystemCaptions:
    """One system's tokenised captions and what they score."""

    name: str
    corpus: CaptionCorpus
    measurements: list[Measurement]


@dataclass(frozen=True)
class CaptionScores:
    """The figures of one or two systems; `left_out` says in a sentence each which rows could not be
    used."""

    systems: list[SystemCaptions]
    images: list[str]
    records: list[TextRecord]
    comparisons: list[TextComparison]
    left_out: list[str]
    signature: str

    @property
    def figures(self) -> dict[str, TextRecord]:
        """The first system's figures by the name of the metric."""
        return {
            record.metric: record for record in self.records if record.model == self.systems[0].name
        }

    def rows(self) -> Iterator[dict[str, object]]:
        """One row per system and caption: its tokens and its own scores."""
        for system in self.systems:
            for i, image in enumerate(self.images):
                scores = {each.name: float(each.scores[i]) for each in system.measurements}
                yield {
                    "model": system.name,
                    "image_id": image,
                    "tokens": system.corpus.hypotheses[i],
                    **scores,
                }

    def document_frequency(self) -> DocumentFrequency:
        """In how many images' references each n-gram occurs, for scoring other captions by the same
        idf."""
        return DocumentFrequency.of(self.systems[0].corpus.references)


def score_captions(
    hypotheses: CaptionSource,
    references: ReferenceSource,
    *,
    versus: CaptionSource | None = None,
    use_meteor: bool = True,
    meteor: Path | None = None,
    document_frequency: DocumentFrequency | Path | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    jobs: int = 0,
    notify: Callable[[str], None] | None = None,
) -> CaptionScores:
    """BLEU, METEOR, ROUGE-L, CIDEr-D and their average, with 95 % intervals.

    Captions and references are files (COCO's JSON, JSON lines, plain text) or in memory: by image
    id, or in order. With `versus`, a second system, paired tests are added. METEOR needs its own
    data, in the folder `meteor` or where `pycocoevalcap` has them; `jobs` processes compute it (0:
    one per processor). `document_frequency` replaces the references' own for CIDEr-D. `notify` is
    called before work that takes a while.
    """
    reference_set = load_references(references)
    sources = [source for source in (hypotheses, versus) if source is not None]
    captions = [load_captions(source) for source in sources]
    if len({each.plain for each in captions}) > 1:
        raise UserError(
            "Both systems' captions must be plain text, or neither: plain text has no image ids."
        )
    pairs = [pair(each, reference_set) for each in captions]
    images = [image for image in pairs[0][0] if all(image in each.texts for each in captions)]
    resources = load(meteor, notify) if use_meteor else None
    if resources is not None and not resources.complete:
        log.warning(
            "METEOR's data are incomplete, so the reduced variant METEOR(%s) is computed. Install "
            "them with "
            "`pip install --no-deps pycocoevalcap`, or give their folder with --meteor.",
            resources.modules,
        )
    if isinstance(document_frequency, Path):
        document_frequency = DocumentFrequency.load(document_frequency)
    systems = []
    reference_texts = [reference_set.texts[image] for image in images]
    for name, each in zip(system_names(sources), captions, strict=True):
        corpus = CaptionCorpus.tokenized(
            [each.texts[image][0] for image in images], reference_texts
        )
        measurements = evaluate(corpus, resources, document_frequency, jobs or os.cpu_count() or 1)
        systems.append(SystemCaptions(name, corpus, measurements))
    line = signature(systems[0].corpus, resources, document_frequency, resamples, seed)
    drawn = Resamples(images, resamples, seed)
    return CaptionScores(
        systems,
        images,
        [
            record
            for each in systems
            for record in make_records("captions", each.name, each.measurements, drawn, line)
        ],
        _comparisons(systems[0], systems[1], images, drawn, line) if len(systems) > 1 else [],
        list(dict.fromkeys(row for _, left_out in pairs for row in left_out)),
        line,
    )


def _comparisons(
    a: SystemCaptions, b: SystemCaptions, images: list[str], drawn: Resamples, line: str
) -> list[TextComparison]:
    tests = compare(a.measurements, b.measurements, images, drawn)
    adjusted = holm([test.p_signflip for test in tests])
    comparisons = []
    for test, p_holm in zip(tests, adjusted.tolist(), strict=True):
        figures = asdict(test.difference)
        p_bootstrap = figures.pop("p")
        comparisons.append(
            TextComparison(
                task="captions",
                metric=test.name,
                a=a.name,
                b=b.name,
                **figures,
                p_bootstrap=p_bootstrap,
                p_signflip=test.p_signflip,
                p_holm=p_holm,
                n=len(images),
                signature_a=line,
                signature_b=line,
            )
        )
    return comparisons
