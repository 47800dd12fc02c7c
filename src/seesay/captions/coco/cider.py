"""CIDEr-D and CIDEr (Vedantam et al., 2015): n-grams shared with the references, rare ones weighing
more.

CIDEr-D clips a caption's counts at the reference's and punishes a difference in length with a
Gaussian. The COCO evaluation's length counts bigrams, not words; it is kept.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from seesay.captions.coco.corpus import CaptionCorpus
from seesay.captions.coco.ngrams import ORDERS, lookup
from seesay.data.lines import read_errors
from seesay.errors import UserError
from seesay.files import read_json, refuse_newer, write_text
from seesay.metrics.base import FloatArray, Measurement, mean_metric, ratio

log = logging.getLogger(__name__)

FORMAT = 1
SIGMA = 6.0
MOST_IMAGES = 1 << 53  # whole numbers that a float holds


@dataclass(frozen=True)
class DocumentFrequency:
    """In how many images' references each n-gram (words joined by blanks) occurs, and how many
    images there are."""

    images: int
    counts: Mapping[str, int]

    @classmethod
    def of(cls, references: Sequence[Sequence[str]]) -> DocumentFrequency:
        """Counted from tokenised references."""
        counts: dict[str, int] = {}
        for refs in references:
            for gram in {gram for ref in refs for gram in _grams(ref)}:
                counts[gram] = counts.get(gram, 0) + 1
        return cls(len(references), counts)

    def save(self, path: Path) -> None:
        """Write as JSON."""
        table = {"format": FORMAT, "images": self.images, "counts": self.counts}
        write_text(path, json.dumps(table, ensure_ascii=False))

    @classmethod
    def load(cls, path: Path) -> DocumentFrequency:
        """Read what `save` wrote."""
        try:
            with read_errors(path):
                saved = read_json(path)
            refuse_newer(saved, FORMAT, path)
            images = saved["images"]
            counts = saved["counts"]
            good = images > 0 and all(
                type(n) is int and 0 <= n <= MOST_IMAGES for n in (images, *counts.values())
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"{path} is not a table of document frequencies: expected 'images' and 'counts'."
            ) from error
        if not good:
            raise UserError(
                f"{path} is not a table of document frequencies: a count is not a whole number."
            )
        return cls(images, counts)


def _grams(text: str) -> list[str]:
    words = text.split()
    return [
        " ".join(words[i : i + k]) for k in range(1, ORDERS + 1) for i in range(len(words) - k + 1)
    ]


def cider_d(corpus: CaptionCorpus, frequency: DocumentFrequency | None = None) -> Measurement:
    """CIDEr-D of each caption; the corpus figure is their mean. Without `frequency`, counted from
    the references."""
    return _measurement("CIDEr-D", corpus, frequency, SIGMA)


def cider(corpus: CaptionCorpus, frequency: DocumentFrequency | None = None) -> Measurement:
    """CIDEr: plain cosines, neither clipped nor punished for length, times 10 as CIDEr-D is."""
    return _measurement("CIDEr", corpus, frequency, None)


def _measurement(
    name: str, corpus: CaptionCorpus, frequency: DocumentFrequency | None, sigma: float | None
) -> Measurement:
    meaning = "Similarity of n-grams to the references, rare ones weighing more."
    metric = mean_metric(
        name, meaning, partial(_scores, frequency=frequency, sigma=sigma), undefined=0.0
    )
    return Measurement(metric, metric.stats(corpus))


def _scores(
    corpus: CaptionCorpus, frequency: DocumentFrequency | None, sigma: float | None
) -> FloatArray:
    n = len(corpus)
    images = n if frequency is None else frequency.images
    if images == 1:
        log.warning(
            "CIDEr of one image is 0: every document frequency is 1 of 1; use a table made from "
            "more images."
        )
    total = np.zeros(len(corpus.owner))
    for k, pair in enumerate(corpus.gram_pairs):
        ours = pair.hypotheses
        theirs = pair.references
        if frequency:
            document = np.asarray(
                [frequency.counts.get(gram, 0) for gram in corpus.grams.spell(k + 1)], np.float64
            )
        else:
            document = np.bincount(
                theirs.gram[pair.image_rows], minlength=len(theirs.place)
            ).astype(np.float64)
        rarity = np.log(float(images)) - np.log(np.maximum(1.0, document))
        weight = theirs.count * rarity[theirs.gram]
        caption_weight = ours.count * rarity[ours.gram]
        norm = np.sqrt(np.bincount(theirs.text, weight**2, minlength=len(total)))
        norm *= np.sqrt(np.bincount(ours.text, caption_weight**2, minlength=n))[corpus.owner]
        shared = lookup(pair.hypothesis_key, caption_weight, pair.reference_key)
        clipped = shared if sigma is None else np.minimum(shared, weight)
        dot = np.bincount(theirs.text, clipped * weight, minlength=len(total)).astype(np.float64)
        total += ratio(dot, norm, undefined=0.0)
    if sigma is not None:
        bigrams = np.maximum(0, corpus.words.lengths - 1)
        difference = bigrams[:n][corpus.owner] - bigrams[n:]
        total *= np.exp(-(difference**2) / (2 * sigma**2))
    sums = np.bincount(corpus.owner, total, minlength=n)
    return np.asarray(10 * sums / (ORDERS * np.bincount(corpus.owner, minlength=n)))
