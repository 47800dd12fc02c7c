"""Middleware of every request: security headers, limited bodies, and same-origin forms."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seesay.judge.numbers import parse_whole
from seesay.judge.rejections import RequestRejectedError
from seesay.judge.web.rendering import error_response

MAX_BODY_BYTES = 64 * 1024
"""Bytes of a request's body that are read."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Never to another site; `no-referrer` would also hide the origin from this one.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class SecurityHeaders:
    """Strict headers on every response; only static files may be cached."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, send_with_headers)


class RequestGuard:
    """Rejects bodies above the limit and forms from another origin before they reach a handler."""

    def __init__(self, app: ASGIApp, public_url: str = "", max_bytes: int = MAX_BODY_BYTES) -> None:
        self.app = app
        self._public_host = _host(public_url)
        self.max_bytes = max_bytes
        self._too_large = RequestRejectedError(
            413, f"The request is larger than {max_bytes // 1024} KiB."
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        # Before a byte of the body is read.
        length = parse_whole(headers.get("content-length", "0"))
        if length is None or length > self.max_bytes:
            await error_response(scope["path"], self._too_large)(scope, receive, send)
            return
        origin = headers.get("origin")
        # Behind a proxy, `host` may be that of this machine and not the public one.
        own_hosts = {headers.get("host"), self._public_host or None}
        if scope["method"] not in ("GET", "HEAD") and origin and _host(origin) not in own_hosts:
            foreign = RequestRejectedError(403, "This form comes from another site.")
            await error_response(scope["path"], foreign)(scope, receive, send)
            return
        received = 0

        # A body may come in pieces without a length that is known in advance.
        async def receive_limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.max_bytes:
                raise self._too_large
            return message

        await self.app(scope, receive_limited, send)


def _host(url: str) -> str:
    """Return host and port of an address."""
    return url.partition("://")[2].partition("/")[0]
