"""Rate limits, kept in the memory of the process: enough against guessing and runaway scripts on one server."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_MOST_KEYS = 20_000


@dataclass(frozen=True, slots=True)
class Rate:
    """So many at once, and so many a second after that."""

    burst: float
    per_second: float


PERSON = Rate(burst=120, per_second=10)
"""Requests of one annotator: far more than a hand can make."""
STRANGER = Rate(burst=30, per_second=0.5)
"""Requests of one address that name no valid link or session."""
LOGIN = Rate(burst=8, per_second=0.1)
"""Passwords tried from one address."""
ARRIVAL = Rate(burst=300, per_second=5)
"""New people of one address: a whole class may sit behind it."""


class Limiter:
    """A token bucket for each key; the keys unused for longest are forgotten first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[tuple[Rate, str], tuple[float, float]] = OrderedDict()

    def allows(self, rate: Rate, key: str) -> bool:
        """Take one from the key's bucket, if there is one."""
        now = self._clock()
        level, then = self._buckets.pop((rate, key), (rate.burst, now))
        level = min(rate.burst, level + (now - then) * rate.per_second)
        self._buckets[rate, key] = (level - 1 if level >= 1 else level, now)
        while len(self._buckets) > _MOST_KEYS:
            self._buckets.popitem(last=False)
        return level >= 1
