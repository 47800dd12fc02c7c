"""What every request handler shares: the study, its database, its secrets and its limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from seesay.judge import participants, secret
from seesay.judge.answers import RefusedError
from seesay.judge.storage.database import Database, Transaction, UnavailableError, one
from seesay.judge.study import Study
from seesay.judge.web.rate_limits import PERSON, STRANGER, Limiter, Rate

T = TypeVar("T")
COOKIE = "seesay_researcher"
SESSION_HOURS = 12
_MOST_FIELDS = 1000
_MOST_KNOWN = 50_000


@dataclass
class Desk:
    """One study as a server holds it."""

    study: Study
    database: Database
    secret: str
    join_key: str
    public_url: str = ""
    clock: Callable[[], float] = time.time
    limiter: Limiter = field(default_factory=Limiter)
    _known: dict[str, int] = field(default_factory=dict)

    async def run(self, work: Callable[[Transaction], T]) -> T:
        """Work in one transaction; it is on the disk when this returns."""
        try:
            return await asyncio.wrap_future(self.database.submit(work))
        except UnavailableError:
            raise RefusedError(503, "This could not be kept just now: it is tried again, or reload the page.") from None

    def limit(self, rate: Rate, key: str) -> None:
        """Refuse what comes too fast."""
        if not self.limiter.allows(rate, key):
            raise RefusedError(429, "Too many requests: wait a moment and try again.")

    async def person(self, request: Request, token: str) -> int:
        """The number of the person whose link this is; guesses are counted by address."""
        found = self._known.get(token)
        if found is None and secret.is_token(token):
            found = await self.run(lambda tx: participants.by_token(tx, token))
        if found is None:
            self.limit(STRANGER, address(request))
            raise RefusedError(404, "This link is not known here. Check that you copied all of it.")
        if len(self._known) < _MOST_KNOWN:  # a link is never another person's, so it is looked up once
            self._known[token] = found
        self.limit(PERSON, str(found))
        return found

    async def session(self, request: Request) -> str | None:
        """The researcher's session, if the request carries one that is good."""
        token = request.cookies.get(COOKIE, "")
        if not secret.is_token(token):
            return None
        now = self.clock()
        found = await self.run(
            lambda tx: one(tx, "SELECT 1 FROM session WHERE token = ? AND expires > ?", secret.digest(token), now)
        )
        return token if found else None

    def form_token(self, *parts: object) -> str:
        """A token that only the form made for it carries."""
        return secret.sign(self.secret, "form", *parts)

    def check_form(self, form: Mapping[str, str], *parts: object) -> None:
        """Refuse a form that was not made here, for this person and purpose."""
        if not secret.is_signed(form.get("form", ""), self.secret, "form", *parts):
            raise RefusedError(403, "This form was not made for you, or is out of date. Open your link again.")


def address(request: Request) -> str:
    """Where a request comes from; used for limits and never kept."""
    return request.client.host if request.client else ""


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form; a name that stands twice is refused."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise RefusedError(415, "A form is expected here.")
    body = await request.body()
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except (ValueError, UnicodeDecodeError):
        raise RefusedError(400, "This form cannot be read.") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise RefusedError(400, "A field of this form stands twice.")
    return fields
