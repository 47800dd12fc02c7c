"""How long work reports its progress."""

from __future__ import annotations

from collections.abc import Callable

ProgressCallback = Callable[[int, int], None]
"""Called with how many units are newly done, and how many there are in all."""

StageProgress = Callable[[str, int, int], None]
"""The same for work in stages: called with the name of the stage first."""
