"""Scored items as Hypothesis draws them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from seesay.metrics import ScoredItems

# Eighths add and compare without rounding, and are few enough for ties to be common.
EIGHTHS = st.integers(-40, 0).map(lambda n: n / 8)


@st.composite
def items(
    draw: st.DrawFn,
    max_items: int = 6,
    max_labels: int = 6,
    gaps: bool = True,
    single: bool = False,
) -> ScoredItems:
    """Items with ties, labels that are not offered, impossible labels and one or more gold
    labels."""
    n, width = draw(st.integers(1, max_items)), draw(st.integers(2, max_labels))
    scores = np.array([[draw(EIGHTHS) for _ in range(width)] for _ in range(n)])
    gold = np.zeros((n, width))
    for row in range(n):
        chosen = draw(
            st.lists(
                st.integers(0, width - 1), min_size=1, max_size=1 if single else width, unique=True
            )
        )
        gold[row, chosen] = [draw(st.integers(1, 8)) / 8 for _ in chosen]
        if gaps:
            for label in range(width):
                kind = draw(
                    st.sampled_from(["finite", "finite", "finite", "impossible", "missing"])
                )
                if kind == "impossible":
                    scores[row, label] = -np.inf
                if kind == "missing" and not gold[row, label]:
                    scores[row, label] = np.nan
            if not np.isfinite(scores[row]).any():
                scores[row, chosen[0]] = 0.0
    return ScoredItems(scores, gold)


def random_items(seed: int, n: int = 50, width: int = 11, levels: int | None = None) -> ScoredItems:
    """Random items; few `levels` make many ties."""
    rng = np.random.default_rng(seed)
    scores = (
        rng.normal(size=(n, width))
        if levels is None
        else rng.integers(0, levels, (n, width)).astype(np.float64)
    )
    gold = rng.random((n, width)) * (rng.random((n, width)) < 0.3)
    gold[np.arange(n), rng.integers(0, width, n)] = 0.5
    return ScoredItems(scores, gold)
