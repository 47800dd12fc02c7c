"""Rate limits, held in the memory of each process.

That is enough against guessing and runaway scripts on one server.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Network, ip_address

_MAX_KEYS = 20_000
"""Buckets in memory: whoever has many addresses must not fill it."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A number of requests at once (`burst`), and per second after that."""

    burst: float
    per_second: float


PARTICIPANT_LIMIT = RateLimit(burst=120, per_second=10)
"""Requests of one participant: far more than anyone makes by hand."""
UNKNOWN_LIMIT = RateLimit(burst=30, per_second=0.5)
"""Requests from one address without a valid link or session."""
LOGIN_LIMIT = RateLimit(burst=8, per_second=0.1)
"""Login attempts from one address."""
JOIN_LIMIT = RateLimit(burst=300, per_second=0.2)
"""Visits of the join link from one address: a whole class may share it."""


class RateLimiter:
    """One token bucket per key; the least recently used keys are dropped first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[tuple[RateLimit, str], tuple[float, float]] = OrderedDict()

    def allows(self, limit: RateLimit, key: str) -> bool:
        """Take a token from the bucket of the key, if there is one."""
        now = self._clock()
        # Taken out and put back, the key is the most recently used.
        tokens, updated = self._buckets.pop((limit, key), (limit.burst, now))
        tokens = min(limit.burst, tokens + (now - updated) * limit.per_second)
        is_allowed = tokens >= 1
        if is_allowed:
            tokens -= 1
        self._buckets[limit, key] = (tokens, now)
        while len(self._buckets) > _MAX_KEYS:
            self._buckets.popitem(last=False)
        return is_allowed


def address_key(host: str) -> str:
    """Return what counts as one address: in IPv6 the network of 64 bits that one customer gets."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv4Address):
        return host
    # A socket that listens to both families names IPv4 clients by addresses of IPv6.
    return str(address.ipv4_mapped or IPv6Network((int(address), 64), strict=False))
