"""Expected calibration error (Guo et al. 2017, section 2): when a model gives its choice 80 %, is
it right 80 % of the time? Choices are put into bins by their probability; in each bin the mean
probability is compared with the share that is right."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray, Metric, ScoredItems, ratio
from seesay.metrics.relaxed_accuracy import top_credit

BINS = 15
EDGE = 1e-9
"""A probability this close to the upper edge of a bin is in it, whatever its last digit."""


def statistics(items: ScoredItems) -> FloatArray:
    """For each bin, whether the item is in it, with which probability, and whether it is right."""
    confidence = items.probabilities.max(axis=1)
    upper_edges = np.ceil(confidence * BINS - EDGE).astype(int)
    bins = np.clip(upper_edges - 1, 0, BINS - 1)
    stats = np.zeros((len(items), 3, BINS))
    rows = np.arange(len(items))
    stats[rows, 0, bins] = 1.0
    stats[rows, 1, bins] = confidence
    stats[rows, 2, bins] = top_credit(items)
    return stats.reshape(len(items), 3 * BINS)


def expected_calibration_error(sums: FloatArray) -> FloatArray:
    """Σ |right − probability| over the bins, per item."""
    by_bin = sums.reshape(*sums.shape[:-1], 3, BINS)
    count, confidence, right = np.moveaxis(by_bin, -2, 0)
    # a bin's gap weighs by its items: |mean - mean| · n is the gap of the sums
    gaps = np.abs(right - confidence).sum(axis=-1)
    return ratio(gaps, count.sum(axis=-1), undefined=np.nan)


CALIBRATION_ERROR: Metric[ScoredItems] = Metric(
    "expected_calibration_error",
    "How far the probability of the chosen option is from how often it is right, on average over "
    "15 bins: 0 is best.",
    statistics,
    expected_calibration_error,
    lower_is_better=True,
    is_distance=True,
)
