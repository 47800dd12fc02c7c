"""Mirror consistency: a question about a pair and its mirror image are answered alike.

Who says that A is larger than B says that B is smaller than A, whichever of the two is right.
"""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import BoolArray, FloatArray, ScoredItems, mean_metric


def mirror_consistency(items: ScoredItems) -> FloatArray:
    """1 where the mirror image gets the mirrored answer, NaN where it was not asked.

    The mirror image is the question's twin. Labels stand in an order of which the mirror image is
    the reverse: larger, smaller; above, level, below. Ties share the credit, and no answer agrees
    with nothing.
    """
    if items.twin is None:
        return np.full(len(items), np.nan)
    mirrored = items.twin[:, ::-1]
    has_twin = ~np.isnan(mirrored).all(axis=1)
    picks = _share_of_picks(items.top)
    agreement = (picks * _share_of_picks(_top(mirrored))).sum(axis=1)
    return np.where(has_twin, agreement, np.nan)


def _top(scores: FloatArray) -> BoolArray:
    """Return which labels share the top score; none of an item without scores or answer."""
    known = np.where(np.isnan(scores), -np.inf, scores)
    best = known.max(axis=1, keepdims=True)
    return np.asarray((known == best) & np.isfinite(best))


def _share_of_picks(top: BoolArray) -> FloatArray:
    """Return how likely each label is picked, where ties are broken at random."""
    return np.asarray(top / np.maximum(top.sum(axis=1, keepdims=True), 1))


MIRROR_CONSISTENCY = mean_metric(
    "mirror_consistency",
    "How often a pair asked the other way round gets the mirrored answer, right or wrong.",
    mirror_consistency,
    binary=True,
)
