"""An HTTP client for OpenAI-compatible servers: it waits where that may help, and explains errors
in one sentence."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from seesay.data.json_stream import CHUNK, parse_json
from seesay.errors import UserError, needs_extra
from seesay.models.server.answer_store import AnswerStore
from seesay.models.server.spending import Spending
from seesay.quantities import quantity

if TYPE_CHECKING:
    from seesay.models.options import ModelOptions

PARALLEL = 4
TRIES = 5
TIMEOUT = 120.0  # seconds without a byte
DEADLINE = 900.0  # seconds for a whole answer, however it trickles in
LARGEST_ANSWER = 1 << 26  # bytes after decompression
# characters of a key that is masked wherever it is echoed: a shorter one may be a word
SHORTEST_KEY = 8
PATIENCE = 900.0  # seconds of pauses, for a server that says that it is busy
LONGEST_PAUSE = 60.0
WORTH_TELLING = 10.0
BUSY = (408, 409, 429, 503, 529)
REFUSALS = (400, 405, 413, 415, 422, 501)

T = TypeVar("T")
S = TypeVar("S")
Body = dict[str, Any] | None  # of a request that posts, or None for one that only gets

log = logging.getLogger(__name__)


class RefusedError(UserError):
    """The server refused a request for something that it does not do."""


class IncompleteAnswerError(UserError):
    """The server answered, but not with all that an answer must hold: asked again, it may."""


class _PassingError(Exception):
    """Trouble that another try may cure, after a pause; a `patient` client tries for long."""

    def __init__(
        self, problem: str, *, patient: bool, pause: float = 0.0, state: str = "is in trouble"
    ) -> None:
        super().__init__(problem)
        self.patient = patient
        self.pause = pause
        self.state = state


class Throttle:
    """How many requests may be under way: half as many whenever the server is busy, slowly more
    while it is not (additive increase, multiplicative decrease, as TCP does it)."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self._running = 0
        self._free = threading.Condition()

    def __enter__(self) -> None:
        with self._free:
            self._free.wait_for(lambda: self._running < max(1, int(self.limit)))
            self._running += 1

    def __exit__(self, *_: object) -> None:
        with self._free:
            self._running -= 1
            self._free.notify_all()

    def busy(self) -> None:
        """Halve the limit."""
        with self._free:
            self.limit = max(1.0, self.limit / 2)

    def answered(self) -> None:
        """Raise the limit by one for every round of answers."""
        with self._free:
            self.limit = min(float(self.most), self.limit + 1 / self.limit)


class Client:
    """Posts JSON to one server, about one of its models."""

    def __init__(
        self,
        base: str,
        model: str,
        options: ModelOptions | None = None,
    ) -> None:
        with needs_extra("A server", "api"):
            import httpx
        self.model = model
        self.base = base.rstrip("/")
        self.spending = Spending()
        self.throttle = Throttle(PARALLEL)
        self._store: AnswerStore | None = None
        if options:
            self.spending = Spending(options.budget, options.price)
            self.throttle = Throttle(options.concurrency or PARALLEL)
            self._store = AnswerStore() if options.reuse else None
        self._answers = 0
        self._transport_error = httpx.TransportError
        self._request_error = httpx.RequestError
        self._connect_error = httpx.ConnectError
        try:
            address = httpx.URL(self.base)
        except httpx.InvalidURL as error:
            raise UserError(f"'{base}' is not an address: {error}.") from error
        if address.scheme not in ("http", "https") or not address.host:
            raise UserError(f"'{base}' is not an address: write it as in http://host:port/v1.")
        key = os.environ.get("OPENAI_API_KEY", "")
        if not key.isascii():
            raise UserError("OPENAI_API_KEY holds characters that no key has: copy it again.")
        self._key = key.encode() if len(key) >= SHORTEST_KEY else b""
        headers = {}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=self.throttle.most)
        self._http = httpx.Client(headers=headers, timeout=TIMEOUT, limits=limits)

    def post(
        self,
        path: str,
        body: dict[str, Any],
        *,
        reuse: bool = False,
        read: Callable[[dict[str, Any]], T],
    ) -> T:
        """Return what `read` makes of the server's answer to a request to its model; with `reuse`,
        of one from the store, if there is one. An answer that is incomplete to `read` is neither
        stored nor taken from the store, and the server is asked again."""
        address = f"{self.base}/{path}"
        body = {"model": self.model, **body}
        store = self._store if reuse else None

        def read_answer(answer: Any) -> tuple[dict[str, Any], T]:
            if not isinstance(answer, dict):
                raise UserError(f"{self.base} did not answer as an OpenAI-compatible server does.")
            if "choices" not in answer:
                # such as the error of a proxy, which is sent with status 200
                reason = " ".join(str(answer.get("error") or "no choices").split())[:200]
                raise IncompleteAnswerError(f"it answered without a text: {reason}")
            return answer, read(answer)

        stored_answer = store.get(address, body) if store else None
        if stored_answer is not None:
            try:
                return read_answer(stored_answer)[1]
            except IncompleteAnswerError as error:
                log.warning("A stored answer is incomplete (%s): it is asked again.", error)

        def read_and_count(answer: Any) -> tuple[dict[str, Any], T]:
            # an answer that is of no use may have been paid for all the same
            self.spending.add(answer)
            return read_answer(answer)

        answer, content = self._post(address, body, read_and_count)
        if store:
            store.put(address, body, answer)
        return content

    def post_beside(self, path: str, body: dict[str, Any], read: Callable[[Any], T]) -> T:
        """Return what `read` makes of the server's answer at an address of its own, beside
        OpenAI's."""
        return self._post(f"{self.base.removesuffix('/v1')}/{path}", body, read)

    def get_beside(self, path: str, read: Callable[[Any], T]) -> T:
        """Return what `read` makes of what stands at an address beside OpenAI's."""
        return self._post(f"{self.base.removesuffix('/v1')}/{path}", None, read)

    def parallel(self, request: Callable[[S], T], items: Iterable[S]) -> dict[S, T]:
        """The request for every distinct item, several at a time."""
        unique = list(dict.fromkeys(items))
        with ThreadPoolExecutor(self.throttle.most) as pool:
            return dict(zip(unique, pool.map(request, unique), strict=True))

    def _post(self, address: str, body: Body, read: Callable[[Any], T]) -> T:
        """Return what `read` makes of the server's answer. Where another try may help, wait twice
        as long before each: a few times, or, for a server that is known to be there, as long as
        patience lasts."""
        attempt = 0
        waited = 0.0
        while True:
            self.spending.refuse_if_spent()
            pause = min(0.25 * 2**attempt, LONGEST_PAUSE)
            attempt += 1
            try:
                return self._try(address, body, read)
            except _PassingError as error:
                trouble = error
            pause = max(pause, trouble.pause)
            if waited + pause > PATIENCE or (not trouble.patient and attempt >= TRIES):
                break
            if pause >= WORTH_TELLING:
                log.warning(
                    "%s %s (%s): waiting %.0f s.",
                    self.base,
                    trouble.state,
                    trouble,
                    pause,
                )
            waited += pause
            time.sleep(pause)
        raise UserError(
            f"{self.base} gave no answer in {quantity(attempt, 'try', 'tries')} ({trouble})."
        )

    def _try(self, address: str, body: Body, read: Callable[[Any], T]) -> T:
        """Return what `read` makes of the server's answer to one request."""
        patient = self._answers > 0  # a server that has never answered is not there
        try:
            with self.throttle:
                status, headers, content = self._send(address, body)
        except self._request_error as error:  # of the transport, or of the encoding
            problem = str(error) or type(error).__name__
            state = "gives no answer"
            if isinstance(error, self._connect_error):
                state = "cannot be reached"
            raise _PassingError(problem, patient=patient, state=state) from error
        if 200 <= status < 300:
            self._answers += 1
            self.throttle.answered()
            try:
                return read(self._parse(content))
            except IncompleteAnswerError as error:
                raise _PassingError(str(error), patient=False) from error
        reason = " ".join(content.decode(errors="replace").split())[:200]
        self._raise_if_final(status, reason)
        is_busy = status in BUSY
        if is_busy:
            self.throttle.busy()
        raise _PassingError(
            f"status {status}: {reason}",
            # 500 may be this request's own fault
            patient=is_busy or (patient and status != 500),
            pause=retry_after(headers.get("Retry-After", "")),
            state="is busy" if is_busy else "is in trouble",
        )

    def _raise_if_final(self, status: int, reason: str) -> None:
        """Raise what a status says that no further try can change."""
        if status in REFUSALS:
            raise RefusedError(f"{self.base} refused the request ({status}): {reason}")
        if status not in BUSY and status < 500:
            raise UserError(self._explain(status, reason))

    def _send(self, address: str, body: Body) -> tuple[int, Any, bytes]:
        """Status, headers and content; an answer that trickles in for too long is a failure of the
        transport.

        Headers can trickle in too, and then no read ever times out: so the request has a thread,
        which is left behind.
        """
        reply: Future[tuple[int, Any, bytes]] = Future()

        def send() -> None:
            try:
                reply.set_result(self._stream(address, body))
            except BaseException as error:
                reply.set_exception(error)

        threading.Thread(target=send, daemon=True).start()
        try:
            return reply.result(DEADLINE)
        except TimeoutError:
            raise self._transport_error(f"no whole answer in {DEADLINE:.0f} s") from None

    def _stream(self, address: str, body: Body) -> tuple[int, Any, bytes]:
        deadline = time.monotonic() + DEADLINE
        content = bytearray()
        method = "GET" if body is None else "POST"
        with self._http.stream(method, address, json=body) as response:
            for chunk in response.iter_bytes(CHUNK):
                content += chunk
                # checked as it comes in: a few compressed bytes can become any number of them
                if len(content) > LARGEST_ANSWER:
                    raise UserError(
                        f"{self.base} answers with more than {LARGEST_ANSWER >> 20} MB: that is no "
                        "answer."
                    )
                if time.monotonic() > deadline:
                    raise self._transport_error(f"no whole answer in {DEADLINE:.0f} s")
        # a server that repeats a request in its error must not bring the key into logs and runs
        if self._key:
            content = content.replace(self._key, b"***")
        return response.status_code, response.headers, bytes(content)

    def _parse(self, content: bytes) -> Any:
        try:
            return parse_json(content)
        except ValueError as error:
            raise UserError(
                f"{self.base} did not answer in JSON: is it an OpenAI-compatible server?"
            ) from error

    def _explain(self, status: int, reason: str) -> str:
        if status in (401, 403):
            return (
                f"{self.base} denies access ({status}): set OPENAI_API_KEY to a key that it knows."
            )
        if status == 404:
            return (
                f"{self.base} has no such address or model (404: {reason}): does the address end "
                f"in /v1, is '{self.model}' one of its models, and does it serve this --endpoint?"
            )
        return f"{self.base} refused the request ({status}): {reason}"


def retry_after(header: str, now: datetime | None = None) -> float:
    """Return the seconds that a server asks to wait, given as a number or as a date; 0 where it
    asks for nothing.

    >>> noon = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)
    >>> retry_after("7.5"), retry_after("Mon, 16 Nov 2026 12:01:30 GMT", noon), retry_after("soon")
    (7.5, 90.0, 0.0)
    """
    try:
        seconds = float(header)
    except ValueError:
        now = now or datetime.now(UTC)
        try:
            seconds = (parsedate_to_datetime(header) - now).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return 0.0
    # infinity and NaN are numbers to `float` too
    if not seconds < float("inf"):
        return 0.0
    return max(0.0, seconds)
