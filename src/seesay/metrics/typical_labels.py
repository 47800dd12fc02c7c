"""Typical labels: what remains of a distribution when its unlikely labels are dropped (ViPhy's
published pipeline).

The published files come out only in single precision, so the rules compute in it. The published
code keeps a label that reaches a minimum; the paper's text asks for more than the minimum: each
rule has both, the second as `strict`.
"""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import BoolArray, FloatArray

FIRST_MINIMUM = 0.1
MINIMUM_BY_COUNT = {3: 0.2, 2: 0.3}
SIZE_MAJORITY = 0.7
SPACE_MINIMUM = 0.2
SPACE_MINIMUM_OF_TWO = 0.3


def typical_labels(probabilities: FloatArray, *, strict: bool = False) -> FloatArray:
    """The rule for colours: rows (n, L) renormalised over their typical labels, 0 elsewhere.

    The minimum is 0.1 at first, then depends on how many labels remain: 0.1 for four or more, 0.2
    for three, 0.3 for two. A row where no label reaches the first minimum stays as it is.

    >>> typical_labels(np.array([[0.5, 0.3, 0.15, 0.05], [0.75, 0.25, 0.0, 0.0]])).round(3).tolist()
    [[0.625, 0.375, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """
    values = np.asarray(probabilities, dtype=np.float32)
    current, kept = _keep(values, _reaches(values, np.float32(FIRST_MINIMUM), strict))
    minimum_by_count = np.full(values.shape[1] + 1, FIRST_MINIMUM, dtype=np.float32)
    for count, minimum in MINIMUM_BY_COUNT.items():
        minimum_by_count[count : count + 1] = minimum
    while True:
        remain = kept & _reaches(current, minimum_by_count[kept.sum(axis=1), None], strict)
        changed = (remain != kept).any(axis=1) & remain.any(axis=1)
        if not changed.any():
            return np.where(kept.any(axis=1, keepdims=True), current, values)
        current[changed], kept[changed] = _keep(current[changed], remain[changed])


def typical_space_labels(probabilities: FloatArray, *, strict: bool = False) -> FloatArray:
    """The rule for above, similar level and below: keep 0.2 and more; where two remain, 0.3 and
    more of the two.

    A row that keeps all three says nothing: the published data set leaves it out, which is the
    task's concern.
    """
    values = np.asarray(probabilities, dtype=np.float32)
    current, kept = _keep(values, _reaches(values, np.float32(SPACE_MINIMUM), strict))
    two = kept.sum(axis=1) == 2
    enough = _reaches(current[two], np.float32(SPACE_MINIMUM_OF_TWO), strict)
    current[two], _ = _keep(current[two], kept[two] & enough)
    return current


def typical_size_labels(probabilities: FloatArray, *, strict: bool = False) -> FloatArray:
    """The rule for larger and smaller: a label with 0.7 or more is typical; a row without one
    becomes 0."""
    values = np.asarray(probabilities, dtype=np.float32)
    return _keep(values, _reaches(values, np.float32(SIZE_MAJORITY), strict))[0]


def _reaches(values: FloatArray, minimum: FloatArray | np.float32, strict: bool) -> BoolArray:
    return np.asarray(values > minimum if strict else values >= minimum)


def _keep(current: FloatArray, kept: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Drop what is not kept and renormalise; a row that keeps nothing becomes 0."""
    held = np.where(kept, current, np.float32(0))
    total = held.sum(axis=1, keepdims=True)
    return np.divide(held, total, out=held, where=total > 0), kept
