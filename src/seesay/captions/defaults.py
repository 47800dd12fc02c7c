"""Defaults that functions and commands share.

Nothing is imported: the help of a command shows them at once.
"""

from __future__ import annotations

RESAMPLES = 1_000
"""Resamples behind intervals and p-values: fewer than elsewhere, because corpora are large."""
