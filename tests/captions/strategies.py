"""Texts that try the metrics."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        "a",
        "the",
        "dog",
        "dogs",
        "runs",
        "running",
        "ran",
        "in",
        "park",
        "big",
        "large",
        "two",
        "of",
        ".",
        "'s",
        "<b>",
        "é",
    ]
)
SENTENCES = st.lists(WORDS, max_size=8).map(" ".join)
FULL = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
PAIRS = st.tuples(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3))
CORPORA = st.lists(PAIRS, min_size=1, max_size=5)
