"""Captions against references, as the COCO evaluation scores them, with intervals and tests."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from seesay.captions.coco.cider import DocumentFrequency
from seesay.captions.coco.corpus import CaptionCorpus
from seesay.captions.coco.evaluate import compare, evaluate, signature
from seesay.captions.coco.meteor import MeteorResources, load
from seesay.captions.defaults import RESAMPLES
from seesay.captions.pairs import (
    CaptionSet,
    CaptionSource,
    ReferenceSource,
    load_captions,
    load_references,
    pair,
)
from seesay.captions.scoring.records import TextComparison, TextRecord, make_records, system_names
from seesay.errors import UserError
from seesay.metrics.base import Measurement
from seesay.metrics.bootstrap import Resamples, too_few
from seesay.metrics.paired import holm
from seesay.processors import count_processors
from seesay.quantities import quantity

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SystemCaptions:
    """One system's tokenised captions and what they score."""

    name: str
    corpus: CaptionCorpus
    measurements: list[Measurement]
    """The figures of all metrics, with the statistics of each caption."""


@dataclass(frozen=True)
class CaptionScores:
    """The figures of one or two systems."""

    systems: list[SystemCaptions]
    images: list[str]
    """The images that every system has a caption of."""
    records: list[TextRecord]
    """The figures of all systems with their intervals."""
    comparisons: list[TextComparison]
    """Paired tests of two systems; none of one."""
    left_out: list[str]
    """Which rows could not be used, in a sentence each."""
    signature: str

    @property
    def figures(self) -> dict[str, TextRecord]:
        """The first system's figures by the name of the metric."""
        name = self.systems[0].name
        return {record.metric: record for record in self.records if record.model == name}

    def rows(self) -> Iterator[dict[str, object]]:
        """Return one row per system and caption: its tokens and its own scores."""
        for system in self.systems:
            for i, image in enumerate(self.images):
                row: dict[str, object] = {
                    "model": system.name,
                    "image_id": image,
                    "tokens": system.corpus.hypotheses[i],
                }
                for measurement in system.measurements:
                    row[measurement.name] = float(measurement.scores[i])
                yield row

    def document_frequency(self) -> DocumentFrequency:
        """Count in how many images' references each n-gram occurs.

        It serves to score other captions by the same idf.
        """
        return DocumentFrequency.of(self.systems[0].corpus.references)


# It has a keyword for each option of `seesay score captions`.
def score_captions(  # noqa: PLR0913
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
    """Score captions by BLEU, METEOR, ROUGE-L, CIDEr-D and their average, with 95 % intervals.

    Captions and references are files (COCO's JSON, JSON lines, plain text) or in memory: by image
    id, or in order. With `versus`, a second system, paired tests are added. METEOR needs its own
    data, in the folder `meteor` or where `pycocoevalcap` has them; `jobs` processes compute it (0:
    one per processor). `document_frequency` replaces the references' own for CIDEr-D. `notify` is
    called before work that takes a while.
    """
    reference_set = load_references(references)
    sources = [source for source in (hypotheses, versus) if source is not None]
    caption_sets = [load_captions(source) for source in sources]
    if len({captions.plain for captions in caption_sets}) > 1:
        raise UserError(
            "Both systems' captions must be plain text, or neither: plain text has no image ids."
        )
    images, left_out = _pair_all(caption_sets, reference_set)
    resources = _load_meteor(meteor, notify) if use_meteor else None
    if isinstance(document_frequency, Path):
        document_frequency = DocumentFrequency.load(document_frequency)
    systems = []
    reference_texts = [reference_set.texts[image] for image in images]
    for name, captions in zip(system_names(sources), caption_sets, strict=True):
        texts = [captions.texts[image][0] for image in images]
        _note_empty(name, texts)
        corpus = CaptionCorpus.tokenized(texts, reference_texts)
        measurements = evaluate(corpus, resources, document_frequency, jobs or count_processors())
        systems.append(SystemCaptions(name, corpus, measurements))
    line = signature(systems[0].corpus, resources, document_frequency, resamples, seed)
    # All figures share their resamples of images, so that differences of systems are paired.
    resampled = Resamples(images, resamples, seed)
    records = []
    for system in systems:
        records += make_records("captions", system.name, system.measurements, resampled, line)
    return CaptionScores(
        systems=systems,
        images=images,
        records=records,
        comparisons=compare_systems(
            [(system.name, system.measurements) for system in systems], images, resampled, line
        ),
        left_out=left_out,
        signature=line,
    )


def _note_empty(system: str, texts: Sequence[str]) -> None:
    """Warn of captions without a word: the system said nothing, which counts."""
    count = sum(not text.strip() for text in texts)
    if count:
        log.warning(
            "%s: %s without a word; they count, with no word right.",
            system,
            f"{count:,} of {quantity(len(texts), 'caption')}",
        )


def _pair_all(
    caption_sets: list[CaptionSet],
    references: CaptionSet,
) -> tuple[list[str], list[str]]:
    """Return the images that all systems and the references have, and what was left out."""
    pairs = [pair(captions, references) for captions in caption_sets]
    images = [
        image for image in pairs[0][0] if all(image in captions.texts for captions in caption_sets)
    ]
    # A bad row of the references would be reported once for each system.
    left_out = dict.fromkeys(chain.from_iterable(rows for _, rows in pairs))
    return images, list(left_out)


def _load_meteor(folder: Path | None, notify: Callable[[str], None] | None) -> MeteorResources:
    """Load METEOR's data, and warn if they give only a lesser variant."""
    resources = load(folder, notify)
    if not resources.complete:
        log.warning(
            "METEOR's data are incomplete, so the reduced variant METEOR(%s) is computed. Install "
            "them with `pip install --no-deps pycocoevalcap`, or give their folder with --meteor.",
            resources.modules,
        )
    return resources


def compare_systems(
    systems: Sequence[tuple[str, list[Measurement]]],
    images: list[str],
    resamples: Resamples,
    line: str,
    task: str = "captions",
) -> list[TextComparison]:
    """Return the paired tests of two systems, given by name and figures; none of one.

    The p-values are adjusted over the metrics.
    """
    if len(systems) == 1:
        return []
    (name_a, measurements_a), (name_b, measurements_b) = systems
    tests = compare(measurements_a, measurements_b, images, resamples)
    adjusted = holm([test.p_signflip for test in tests])
    comparisons = []
    for test, p_holm in zip(tests, adjusted.tolist(), strict=True):
        figures = asdict(test.difference)
        p_bootstrap = figures.pop("p")
        comparison = TextComparison(
            task=task,
            metric=test.name,
            a=name_a,
            b=name_b,
            **figures,
            p_bootstrap=p_bootstrap,
            p_signflip=test.p_signflip,
            p_holm=p_holm,
            n=len(images),
            objects=len(images),
            too_few=too_few(len(images)),
            signature_a=line,
            signature_b=line,
        )
        comparisons.append(comparison)
    return comparisons
