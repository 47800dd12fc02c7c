"""Talking to an OpenAI-compatible server: it tries again where that may help, and says in a sentence what is wrong."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from seesay.errors import UserError

PARALLEL = 4
TRIES = 5
TIMEOUT = 120.0
LONGEST_PAUSE = 60.0
BUSY = (408, 409, 429)
REFUSALS = (400, 405, 413, 415, 422, 501)

T = TypeVar("T")
S = TypeVar("S")


class RefusedError(UserError):
    """The server said no: the request asks for something it does not do."""


class Client:
    """Posts JSON to one server, about one of its models."""

    def __init__(self, base: str, model: str) -> None:
        try:
            import httpx
        except ImportError as error:
            raise UserError("Servers need an extra that is not installed: pip install 'seesay[api]'") from error
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
        """The server's answer to a question about its model."""
        answer = self._post(f"{self.base}/{path}", {"model": self.model, **body})
        if not isinstance(answer, dict):
            raise UserError(f"{self.base} did not answer as an OpenAI-compatible server does.")
        return answer

    def beside(self, path: str, body: dict[str, Any]) -> Any:
        """What the server says at an address beside OpenAI's own."""
        return self._post(f"{self.base.removesuffix('/v1')}/{path}", body)

    def parallel(self, ask: Callable[[S], T], asked: Iterable[S]) -> dict[S, T]:
        """Every distinct thing asked once, several at a time."""
        unique = list(dict.fromkeys(asked))
        with ThreadPoolExecutor(PARALLEL) as pool:
            return dict(zip(unique, pool.map(ask, unique), strict=True))

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
                said = " ".join(response.text.split())[:200]
                if status in REFUSALS:
                    raise RefusedError(f"{self.base} refused the request ({status}): {said}")
                if status not in BUSY and status < 500:
                    raise UserError(self._why(status, said))
                problem = f"status {status}: {said}"
                asked = response.headers.get("Retry-After", "")
                pause = max(pause, min(float(asked), LONGEST_PAUSE)) if asked.isdecimal() else pause
            if attempt + 1 < TRIES:
                time.sleep(pause)
        raise UserError(f"{self.base} gave no answer in {TRIES} tries ({problem}).")

    def _why(self, status: int, said: str) -> str:
        if status in (401, 403):
            return f"{self.base} does not let you in ({status}): set OPENAI_API_KEY to a key that it knows."
        if status == 404:
            return (
                f"{self.base} has no such address or model (404: {said}): does the address end in /v1, is "
                f"'{self.model}' one of its models, and does it serve this --endpoint?"
            )
        return f"{self.base} refused the request ({status}): {said}"
