"""How long work reports its progress."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

ProgressCallback = Callable[[int, int], None]
"""Called with how many units are newly done, and how many there are in all."""

StageProgress = Callable[[str, int, int], None]
"""Called, for work in stages, with the name of the stage, how many of its units are newly done, and
how many there are in all."""

ProgressBars = Callable[[str, str], AbstractContextManager[ProgressCallback]]
"""Given a title and a unit, a context in which progress is shown."""


def no_progress(title: str, unit: str) -> AbstractContextManager[ProgressCallback]:
    """Progress that nobody watches."""
    return nullcontext(lambda done, total: None)


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(12.3), duration(150), duration(8000)
    ('12 s', '2 min 30 s', '2 h 13 min')
    """
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    if minutes:
        return f"{minutes} min {seconds_left} s"
    return f"{seconds_left} s"
