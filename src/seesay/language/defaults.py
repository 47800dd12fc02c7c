"""Defaults that functions and commands share.

Nothing is imported: the help of a command shows them at once.
"""

from __future__ import annotations

HELD_OUT = 0.1
"""The share of pictures whose captions are held out."""

NGRAM_ORDER = 3
NGRAM_SMALLEST_COUNT = 20
"""How often a word must occur: a rarer one is the unknown word."""

MIN_CONTEXTS = 100
"""Contexts that a relation needs to get a column (and a row)."""

MAX_CONTEXTS = 500
"""Contexts of a relation that are scored at most."""

CLUSTERS = 30
"""k of k-means, as published."""

RESTARTS = 1_000
"""Restarts of k-means."""
