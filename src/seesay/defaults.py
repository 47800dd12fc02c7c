"""Defaults that functions and commands share. Nothing is imported: the help of a command shows them
at once."""

from __future__ import annotations

RESAMPLES = 10_000
"""Bootstrap resamples behind an interval, and shuffles behind a p-value."""

LEVEL = 0.95
"""The share of resamples that an interval covers."""

POWER = 0.8
"""The chance that a planned test shows a difference that is there."""

MAX_TOKENS = 64
"""Tokens of a generated answer at most."""

NO_PICTURE = "none"
"""What `--picture` calls questions that are asked without one."""

FEWEST_OBJECTS = 10
"""A figure of fewer objects is marked: its interval cannot be relied on."""

FEW_OBJECTS = 30
"""A figure of fewer objects has an interval that Student's t widens: percentiles are too narrow."""

LARGEST_SEED = 2**32 - 1
"""The largest seed that every generator in use takes (NumPy's legacy one takes no larger)."""

MARGIN = 0.02
"""Models whose headline figures differ by no more are alike, where a user wants to know no more."""
