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
    typical = _reaches(values, np.float32(FIRST_MINIMUM), strict)
    current = _renormalise(values, typical)
    minimum_by_count = np.full(
        values.shape[1] + 1,
        FIRST_MINIMUM,
        dtype=np.float32,
    )
    for count, minimum in MINIMUM_BY_COUNT.items():
        # a slice, since a row of two labels has no minimum for three
        minimum_by_count[count : count + 1] = minimum
    # dropping a label raises the shares of the others, and fewer labels have a higher minimum:
    # rows are looked at again until nothing changes
    while True:
        minima = minimum_by_count[typical.sum(axis=1), None]
        remaining = typical & _reaches(current, minima, strict)
        changed = (remaining != typical).any(axis=1) & remaining.any(axis=1)
        if not changed.any():
            return np.where(
                typical.any(axis=1, keepdims=True),
                current,
                values,
            )
        current[changed] = _renormalise(current[changed], remaining[changed])
        typical[changed] = remaining[changed]


def typical_space_labels(probabilities: FloatArray, *, strict: bool = False) -> FloatArray:
    """The rule for above, similar level and below: keep 0.2 and more; where two remain, 0.3 and
    more of the two.

    A row that keeps all three says nothing: the published data set leaves it out, which is the
    task's concern.
    """
    values = np.asarray(probabilities, dtype=np.float32)
    typical = _reaches(values, np.float32(SPACE_MINIMUM), strict)
    current = _renormalise(values, typical)
    two = typical.sum(axis=1) == 2
    enough = _reaches(
        current[two],
        np.float32(SPACE_MINIMUM_OF_TWO),
        strict,
    )
    current[two] = _renormalise(current[two], typical[two] & enough)
    return current


def typical_size_labels(probabilities: FloatArray, *, strict: bool = False) -> FloatArray:
    """The rule for larger and smaller: a label with 0.7 or more is typical; a row without one
    becomes 0."""
    values = np.asarray(probabilities, dtype=np.float32)
    return _renormalise(values, _reaches(values, np.float32(SIZE_MAJORITY), strict))


def _reaches(values: FloatArray, minimum: FloatArray | np.float32, strict: bool) -> BoolArray:
    if strict:
        return np.asarray(values > minimum)
    return np.asarray(values >= minimum)


def _renormalise(values: FloatArray, typical: BoolArray) -> FloatArray:
    """Return the values as shares of the typical ones; a row without any becomes 0."""
    shares = np.where(typical, values, np.float32(0))
    total = shares.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(shares, total, out=shares, where=total > 0))
