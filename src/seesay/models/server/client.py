"""An HTTP client for OpenAI-compatible servers: it retries where that may help, and explains errors in one sentence."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from seesay.errors import UserError, missing_extra

PARALLEL = 4
TRIES = 5
TIMEOUT = 120.0
LONGEST_PAUSE = 60.0
BUSY = (408, 409, 429)
REFUSALS = (400, 405, 413, 415, 422, 501)

T = TypeVar("T")
S = TypeVar("S")


class RefusedError(UserError):
    """The server refused a request for something that it does not do."""


class Client:
    """Posts JSON to one server, about one of its models."""

    def __init__(self, base: str, model: str) -> None:
        try:
            import httpx
        except ImportError as error:
            raise missing_extra("A server", "api", error) from error
        self.model, self.base = model, base.rstrip("/")
        self._transport_error = httpx.TransportError
        try:
            address = httpx.URL(self.base)
        except httpx.InvalidURL as error:
            raise UserError(f"'{base}' is not an address: {error}.") from error
        if address.scheme not in ("http", "https") or not address.host:
            raise UserError(f"'{base}' is not an address: write it as in http://host:port/v1.")
        key = os.environ.get("OPENAI_API_KEY", "")
        if not key.isascii():
            raise UserError("OPENAI_API_KEY holds characters that no key has: copy it again.")
        self._http = httpx.Client(headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=TIMEOUT)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The server's answer to a request to its model."""
        answer = self._post(f"{self.base}/{path}", {"model": self.model, **body})
        if not isinstance(answer, dict):
            raise UserError(f"{self.base} did not answer as an OpenAI-compatible server does.")
        return answer

    def post_beside(self, path: str, body: dict[str, Any]) -> Any:
        """The server's answer at an address of its own, beside OpenAI's."""
        return self._post(f"{self.base.removesuffix('/v1')}/{path}", body)

    def parallel(self, request: Callable[[S], T], items: Iterable[S]) -> dict[S, T]:
        """The request for every distinct item, several at a time."""
        unique = list(dict.fromkeys(items))
        with ThreadPoolExecutor(PARALLEL) as pool:
            return dict(zip(unique, pool.map(request, unique), strict=True))

    def _post(self, address: str, body: dict[str, Any]) -> Any:
        for attempt in range(TRIES):
            pause = 0.25 * 2**attempt
            try:
                response = self._http.post(address, json=body)
            except self._transport_error as error:
                problem = str(error) or type(error).__name__
            else:
                status = response.status_code
                if response.is_success:
                    try:
                        return response.json()
                    except ValueError as error:
                        raise UserError(
                            f"{self.base} did not answer in JSON: is it an OpenAI-compatible server?"
                        ) from error
                reason = " ".join(response.text.split())[:200]
                if status in REFUSALS:
                    raise RefusedError(f"{self.base} refused the request ({status}): {reason}")
                if status not in BUSY and status < 500:
                    raise UserError(self._explain(status, reason))
                problem = f"status {status}: {reason}"
                retry_after = response.headers.get("Retry-After", "")
                if retry_after.isdecimal():
                    pause = max(pause, min(float(retry_after), LONGEST_PAUSE))
            if attempt + 1 < TRIES:
                time.sleep(pause)
        raise UserError(f"{self.base} gave no answer in {TRIES} tries ({problem}).")

    def _explain(self, status: int, reason: str) -> str:
        if status in (401, 403):
            return f"{self.base} denies access ({status}): set OPENAI_API_KEY to a key that it knows."
        if status == 404:
            return (
                f"{self.base} has no such address or model (404: {reason}): does the address end in /v1, is "
                f"'{self.model}' one of its models, and does it serve this --endpoint?"
            )
        return f"{self.base} refused the request ({status}): {reason}"
