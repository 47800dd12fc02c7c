"""Connections that do not finish their request: they get a deadline, and make room for others.

A server that waits for every request to arrive is blocked by a few thousand connections that never
send one to its end. Here a request has to arrive within a time, an address holds a limited number
of connections, and where there are too many, the oldest that waits for its client is dropped: one
that sends nothing, or is kept alive between two requests. No server offers this by its own options
(docs/security.md), so an undocumented class of uvicorn is extended.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from seesay.judge.web.rate_limits import address_key


@dataclass
class ConnectionLimits:
    """The limits of one server, and its connections."""

    total: int = 2000
    per_address: int = 512
    receive_seconds: float = 20
    """How long a request may take to arrive."""
    send_seconds: float = 60
    """How long a client may take to read a part of the response."""
    connections: dict[LimitedProtocol, str] = field(default_factory=dict)
    """The address of each connection, the oldest first."""
    by_address: dict[str, dict[LimitedProtocol, None]] = field(default_factory=dict)
    """The connections of each address, the oldest first: a dictionary is a set that keeps order."""

    def admit(self, protocol: LimitedProtocol, address: str) -> bool:
        """Count a connection, dropping another one if there are too many.

        Returns False, and counts nothing, where all the others are at work.
        """
        neighbours = self.by_address.get(address, {})
        for limit, others in ((self.per_address, neighbours), (self.total, self.connections)):
            if len(others) >= limit:
                waiting = [other for other in others if not other.is_answering]
                if not waiting:
                    return False
                # One that never sent a request goes before one that is kept alive between two.
                never_sent = (other for other in waiting if other.cycle is None)
                next(never_sent, waiting[0]).drop()
        self.connections[protocol] = address
        self.by_address.setdefault(address, {})[protocol] = None
        return True

    def forget(self, protocol: LimitedProtocol) -> None:
        """No longer count a connection."""
        address = self.connections.pop(protocol, None)
        if address is not None:
            self.by_address[address].pop(protocol)
            if not self.by_address[address]:
                del self.by_address[address]


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 within the limits of its server."""

    limits: ConnectionLimits
    _deadline: asyncio.TimerHandle | None = None

    @property
    def is_answering(self) -> bool:
        """Return whether a whole request is here whose response is not complete."""
        at_work = self.cycle is not None and not self.cycle.response_complete
        return at_work and self.conn.their_state is not h11.SEND_BODY

    def drop(self) -> None:
        """Close the connection without waiting for its client."""
        self._stop_timer()
        self.limits.forget(self)
        if not self.transport.is_closing() or self.transport.get_write_buffer_size():
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        if self.limits.admit(self, address_key(host)):
            self._start_timer(self.limits.receive_seconds)
        else:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._check_request()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # A part of the next request is here already.
        if self.conn.trailing_data[0]:
            self._check_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop_timer()
        self._start_timer(self.limits.send_seconds)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self.limits.forget(self)
        super().connection_lost(exc)

    def _check_request(self) -> None:
        """Start the time of a request that has begun to arrive.

        What comes later does not prolong it: a byte a second would keep a connection for ever.
        """
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_timer()
        elif self._deadline is None and not self.transport.is_closing():
            self._start_timer(self.limits.receive_seconds)

    def _start_timer(self, seconds: float) -> None:
        self._deadline = self.loop.call_later(seconds, self.drop)

    def _stop_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def limited_protocol(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """Return the protocol of a server with these limits."""
    # A class of its own, since uvicorn makes the instances.
    return type("ServerProtocol", (LimitedProtocol,), {"limits": limits})


def allow_open_files(connections: int) -> int:
    """Raise the process's limit of open files as far as allowed.

    Returns how many connections fit: half of the files, since others are open too.
    """
    # Windows has no such limit.
    try:
        import resource
    except ImportError:
        return connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return connections
    if hard == resource.RLIM_INFINITY:
        files = 2 * connections
    else:
        files = min(2 * connections, hard)
    if soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return min(connections, max(soft, files) // 2)


def backlog_for(connections: int) -> int:
    """Return how many connections may wait to be accepted.

    asyncio accepts all of them at once, and goes on to the next ones while the first are on their
    way to `admit`, which drops others for them. If it runs out of files meanwhile, it accepts
    nobody for a second.
    """
    return max(connections // 8, 1)
