"""CIDEr-D and CIDEr (Vedantam et al., 2015): n-grams shared with the references.

Rare n-grams weigh more.

CIDEr-D clips a caption's counts at the reference's and punishes a difference in length with a
Gaussian. The COCO evaluation's length counts bigrams, not words; it is kept.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from seesay.captions.coco.corpus import CaptionCorpus, GramPair
from seesay.captions.coco.ngrams import ORDERS, Ints, lookup
from seesay.data.lines import read_errors
from seesay.errors import UserError
from seesay.files import read_json, refuse_newer, write_text
from seesay.metrics.base import FloatArray, Measurement, mean_metric, ratio

log = logging.getLogger(__name__)

FORMAT = 1
SIGMA = 6.0
"""The width of CIDEr-D's length penalty."""
MOST = 10.0
"""The score of a caption that equals its references."""
MOST_IMAGES = 1 << 53
"""The largest count: up to here a float holds every whole number."""


@dataclass(frozen=True)
class DocumentFrequency:
    """In how many images' references each n-gram occurs."""

    images: int
    """The number of all images."""
    counts: Mapping[str, int]
    """The number of images by n-gram, its words joined by blanks."""

    @classmethod
    def of(cls, references: Sequence[Sequence[str]]) -> DocumentFrequency:
        """Count the n-grams of tokenised references, at most once for each image."""
        counts: dict[str, int] = {}
        for texts in references:
            for gram in set(chain.from_iterable(map(_grams, texts))):
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
            valid = images > 0 and all(map(_is_count, (images, *counts.values())))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"{path} is not a table of document frequencies: expected 'images' and 'counts'."
            ) from error
        if not valid:
            raise UserError(
                f"{path} is not a table of document frequencies: a count is not a whole number."
            )
        return cls(images, counts)


def _is_count(value: object) -> bool:
    """Return whether a value of a file is a number of images."""
    # Not isinstance: True is an int, and no count.
    return type(value) is int and 0 <= value <= MOST_IMAGES


def _grams(text: str) -> Iterator[str]:
    """Return the n-grams of order 1 to `ORDERS` of a text."""
    words = text.split()
    for order in range(1, ORDERS + 1):
        for start in range(len(words) - order + 1):
            yield " ".join(words[start : start + order])


def cider_d(
    corpus: CaptionCorpus,
    frequency: DocumentFrequency | None = None,
    sigma: float = SIGMA,
) -> Measurement:
    """Return CIDEr-D of each caption; the corpus figure is their mean.

    Without `frequency`, documents are counted from the references.
    """
    return _measurement("CIDEr-D", corpus, frequency, sigma)


def cider(corpus: CaptionCorpus, frequency: DocumentFrequency | None = None) -> Measurement:
    """Return CIDEr of each caption; the corpus figure is their mean.

    Cosines are plain, neither clipped nor punished for length, times 10 as CIDEr-D's are.
    """
    return _measurement("CIDEr", corpus, frequency, None)


def _measurement(
    name: str,
    corpus: CaptionCorpus,
    frequency: DocumentFrequency | None,
    sigma: float | None,
) -> Measurement:
    """Return the metric with its scores; without `sigma` it is plain CIDEr."""
    meaning = "Similarity of n-grams to the references, rare ones weighing more."
    scores = partial(_scores, frequency=frequency, sigma=sigma)
    metric = replace(mean_metric(name, meaning, scores, undefined=0.0), most=MOST)
    return Measurement(metric, metric.stats(corpus))


def _scores(
    corpus: CaptionCorpus,
    frequency: DocumentFrequency | None,
    sigma: float | None,
) -> FloatArray:
    """Return the score of each caption (Vedantam et al., 2015, equations 1 to 3)."""
    n = len(corpus)
    images = n if frequency is None else frequency.images
    if images == 1:
        log.warning(
            "CIDEr of one image is 0: every document frequency is 1 of 1; use a table made from "
            "more images."
        )
    similarity = np.zeros(len(corpus.owner))
    for order, pair in enumerate(corpus.gram_pairs, 1):
        if frequency:
            grams = corpus.grams.spell(order)
            counts = [frequency.counts.get(gram, 0) for gram in grams]
            documents: FloatArray = np.asarray(counts, np.float64)
        else:
            documents = _count_documents(pair)
        # The idf of equation 1; a gram of no document counts as one of a single document.
        rarity = np.log(float(images)) - np.log(np.maximum(1.0, documents))
        similarity += _cosines(pair, rarity, corpus.owner, n, clip=sigma is not None)
    if sigma is not None:
        similarity *= _length_penalty(corpus, sigma)
    # The mean over references and over orders, which weigh the same, times 10.
    sums = np.bincount(corpus.owner, similarity, minlength=n)
    references = np.bincount(corpus.owner, minlength=n)
    return np.asarray(MOST * sums / (ORDERS * references))


def _count_documents(pair: GramPair) -> FloatArray:
    """Return for each gram in how many images' references it occurs."""
    grams = pair.references.gram[pair.image_rows]
    documents = np.bincount(grams, minlength=len(pair.references.place))
    return documents.astype(np.float64)


def _cosines(
    pair: GramPair,
    rarity: FloatArray,
    owner: Ints,
    captions: int,
    *,
    clip: bool,
) -> FloatArray:
    """Return for each reference the cosine of its tf-idf vector with its caption's."""
    hypotheses = pair.hypotheses
    references = pair.references
    weight = references.count * rarity[references.gram]
    caption_weight = hypotheses.count * rarity[hypotheses.gram]
    squares = np.bincount(references.text, weight**2, minlength=len(owner))
    caption_squares = np.bincount(hypotheses.text, caption_weight**2, minlength=captions)
    norm = np.sqrt(squares)
    norm *= np.sqrt(caption_squares)[owner]
    shared = lookup(pair.hypothesis_key, caption_weight, pair.reference_key)
    if clip:
        # CIDEr-D's defence against gaming: to repeat a gram of the reference gains nothing.
        shared = np.minimum(shared, weight)
    dot = np.bincount(references.text, shared * weight, minlength=len(owner))
    return ratio(dot.astype(np.float64), norm, undefined=0.0)


def _length_penalty(corpus: CaptionCorpus, sigma: float) -> FloatArray:
    """Return for each reference the penalty of its caption's length.

    It is the Gaussian of the difference, counted in bigrams as the COCO evaluation does.
    """
    bigrams = np.maximum(0, corpus.words.lengths - 1)
    caption_bigrams, reference_bigrams = np.split(bigrams, [len(corpus)])
    difference = caption_bigrams[corpus.owner] - reference_bigrams
    return np.asarray(np.exp(-(difference**2) / (2 * sigma**2)))
