"""How well a caption fits its picture: the similarity of their vectors in one space.

The CS388 notes name relevance beside accuracy (section 4.2) and give no formula. This one is ours;
its shape is CLIPScore's (Hessel et al. 2021), w · max(cos(caption, picture), 0), for vectors of any
encoder that has both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from seesay.captions.defaults import WEIGHT
from seesay.metrics.base import FloatArray, Measurement, mean_metric


class VectorPairs(NamedTuple):
    """The vectors of captions and of their pictures, one row each, and w."""

    captions: FloatArray
    pictures: FloatArray
    weight: float


def relevance(
    captions: FloatArray,
    pictures: FloatArray,
    weight: float = WEIGHT,
) -> Measurement:
    """Return the relevance of each caption to its picture; the corpus figure is their mean.

    >>> both = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> relevance(both, np.array([[3.0, 4.0], [0.0, -1.0]])).scores.tolist()
    [1.5, 0.0]
    """
    pairs = VectorPairs(captions, pictures, weight)
    return Measurement(replace(RELEVANCE, most=weight), RELEVANCE.stats(pairs))


def _scores(pairs: VectorPairs) -> FloatArray:
    """Return w · max(cos, 0) of each pair; of a vector of zeros, which points nowhere, 0."""
    captions = np.asarray(pairs.captions, np.float64)
    pictures = np.asarray(pairs.pictures, np.float64)
    products = (captions * pictures).sum(axis=1)
    lengths = np.linalg.norm(captions, axis=1) * np.linalg.norm(pictures, axis=1)
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return np.asarray(pairs.weight * np.maximum(cosines, 0.0))


RELEVANCE = mean_metric(
    "relevance",
    "Similarity of caption and picture, w * max(cos, 0).",
    _scores,
    undefined=0.0,
)
