"""Metrics as pure functions, their intervals, and paired tests.

>>> import numpy as np
>>> scores = np.log([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]])
>>> items = ScoredItems(scores, gold=np.array([[1.0, 0, 0], [1.0, 0, 0]]))
>>> get("accuracy")(items)
0.5
"""

from __future__ import annotations

from seesay.metrics.accuracy import ACCURACY
from seesay.metrics.average_precision import AVERAGE_PRECISION
from seesay.metrics.base import FloatArray, Metric, ScoredItems, chance, spread
from seesay.metrics.bootstrap import Interval, Resamples
from seesay.metrics.brier import BRIER
from seesay.metrics.calibration_error import CALIBRATION_ERROR
from seesay.metrics.group_score import GROUP_SCORE, IMAGE_SCORE, TEXT_SCORE
from seesay.metrics.jensen_shannon import JENSEN_SHANNON
from seesay.metrics.macro_f1 import MACRO_F1, MACRO_F1_SPACE
from seesay.metrics.majority_accuracy import MAJORITY_ACCURACY, SHARED_ACCURACY
from seesay.metrics.mean_score import MEAN_SCORE
from seesay.metrics.mirror_consistency import MIRROR_CONSISTENCY
from seesay.metrics.paired import holm, mcnemar, paired_bootstrap, sign_flip
from seesay.metrics.rank_correlation import KENDALL, SPEARMAN
from seesay.metrics.relaxed_accuracy import RELAXED_ACCURACY
from seesay.metrics.true_confidence import TRUE_CONFIDENCE
from seesay.metrics.vocabulary_accuracy import VOCABULARY_ACCURACY
from seesay.metrics.vocabulary_average_precision import VOCABULARY_AVERAGE_PRECISION
from seesay.plugins import Addresses, Plugin, collect
from seesay.registry import load_address, unknown

METRICS: dict[str, Metric[ScoredItems]] = {
    metric.name: metric
    for metric in (
        ACCURACY,
        RELAXED_ACCURACY,
        MAJORITY_ACCURACY,
        SHARED_ACCURACY,
        TRUE_CONFIDENCE,
        MACRO_F1,
        MACRO_F1_SPACE,
        AVERAGE_PRECISION,
        VOCABULARY_ACCURACY,
        VOCABULARY_AVERAGE_PRECISION,
        JENSEN_SHANNON,
        SPEARMAN,
        KENDALL,
        BRIER,
        CALIBRATION_ERROR,
        MIRROR_CONSISTENCY,
        TEXT_SCORE,
        IMAGE_SCORE,
        GROUP_SCORE,
        MEAN_SCORE,
    )
}


def names() -> list[str]:
    """Every metric's name: the core's, then those that plug-ins bring."""
    return [*METRICS, *(name for name in collect(_brought) if name not in METRICS)]


def get(name: str) -> Metric[ScoredItems]:
    """The metric of that name."""
    if name in METRICS:
        return METRICS[name]
    addresses = collect(_brought)
    if name not in addresses:
        raise unknown("metric", name, names(), "seesay tasks")
    metric: Metric[ScoredItems] = load_address(addresses[name])
    return metric


def _brought(plugin: Plugin) -> Addresses:
    return plugin.metrics


__all__ = [
    "METRICS",
    "FloatArray",
    "Interval",
    "Metric",
    "Resamples",
    "ScoredItems",
    "chance",
    "get",
    "holm",
    "mcnemar",
    "names",
    "paired_bootstrap",
    "sign_flip",
    "spread",
]
