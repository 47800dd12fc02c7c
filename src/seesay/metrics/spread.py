"""The spread of a figure over templates."""

from __future__ import annotations

import numpy as np

from seesay.metrics.base import FloatArray


def spread(values: FloatArray | list[float]) -> float | None:
    """The sample standard deviation (n − 1), as Hagström & Johansson 2022 report; None for a single template.

    >>> spread([0.25, 0.5, 0.75])
    0.25
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
