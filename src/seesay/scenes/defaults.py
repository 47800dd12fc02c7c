"""Defaults that functions and commands share.

Nothing is imported here, so that the help of a command shows them at once.
"""

from __future__ import annotations

OBJECTS = (5, 9)
"""The fewest and the most objects of a scene."""

ADJECTIVE = "big"
THRESHOLD = "rh-r"

PUBLISHED = 1478
"""Pixels per side of the published pictures."""

TEST_ITEMS = 2_000
"""Items of a hard test, as published, and of tests that are generated to look at."""

EXAMPLES = 6
"""Pictures that show what a reasoner attends to."""

RESAMPLES = 200
"""Resampled clusters of judgements, for the interval of a fitted threshold."""
