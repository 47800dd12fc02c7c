"""What stands around every page: security headers, a limit to the size of bodies, and one origin for forms."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seesay.judge.answers import RefusedError
from seesay.judge.web.rendering import refusal

MOST_BYTES = 64 * 1024

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # never to another site; `no-referrer` would hide the origin from ourselves
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class SecurityHeaders:
    """Strict headers on everything; nothing is kept in caches but the style and the script."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, guarded)


class Gate:
    """Bodies above the limit and forms of another origin are refused before anything looks at them."""

    def __init__(self, app: ASGIApp, public_url: str = "", most_bytes: int = MOST_BYTES) -> None:
        self.app = app
        self._public = _host(public_url)
        self.most_bytes = most_bytes
        self._too_long = RefusedError(413, f"More than {most_bytes // 1024} KiB is not taken.")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self.most_bytes:
            await refusal(scope["path"], self._too_long)(scope, receive, send)
            return
        origin = headers.get("origin")
        ours = {headers.get("host"), self._public or None}  # a proxy may give itself as the host
        if scope["method"] not in ("GET", "HEAD") and origin and _host(origin) not in ours:
            strange = RefusedError(403, "This form comes from another site.")
            await refusal(scope["path"], strange)(scope, receive, send)
            return
        came = 0

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > self.most_bytes:
                raise self._too_long
            return message

        await self.app(scope, counted, send)


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]
