"""Defaults that functions and commands share.

Nothing is imported: the help of a command shows them at once.
"""

from __future__ import annotations

RESAMPLES = 1_000
"""Resamples behind intervals and p-values: fewer than elsewhere, because corpora are large."""

WEIGHT = 2.5
"""The w of relevance: CLIPScore's, which stretches the cosines of its CLIP to about 0 to 1."""
