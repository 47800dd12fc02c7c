"""One file over HTTPS: bounded, with nothing trusted that comes back until its checksum is known."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from email.message import Message
from typing import IO
from urllib.parse import urlsplit

from seesay.errors import UserError

_CHUNK = 1 << 16
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_SECONDS = 30


class UnreachableError(Exception):
    """The address did not give the file; the message says what happened instead."""


def check_address(address: str) -> None:
    """Refuse whatever is neither HTTPS nor this very machine."""
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise UserError(f"{address} is not an https address: nothing is fetched from it.")


class _CheckedRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def download(address: str, size: int, progress: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """The bytes behind an address, never more than `size` of them; `progress` hears how many came so far."""
    check_address(address)
    opener = urllib.request.build_opener(_CheckedRedirects)
    request = urllib.request.Request(address, headers={"User-Agent": "seesay"})
    came = 0
    try:
        with opener.open(request, timeout=_SECONDS) as answer:
            while chunk := answer.read(_CHUNK):
                came += len(chunk)
                if came > size:
                    raise UserError(f"{address} sends more than the {size:,} bytes it should have: nothing was kept.")
                yield chunk
                if progress:
                    progress(came)
    except urllib.error.HTTPError as error:
        raise UnreachableError(f"it answered {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise UnreachableError(str(getattr(error, "reason", None) or error or type(error).__name__)) from error
