"""What all request handlers share: the study, its database, its secrets and its rate limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from seesay.judge import participants, security
from seesay.judge.messages import mark
from seesay.judge.rejections import RequestRejectedError
from seesay.judge.signed_ids import SignedIds
from seesay.judge.storage.database import Database, Transaction, UnavailableError, first_row
from seesay.judge.study import Study
from seesay.judge.web.rate_limits import (
    PARTICIPANT_LIMIT,
    UNKNOWN_LIMIT,
    RateLimit,
    RateLimiter,
    address_key,
)

T = TypeVar("T")
COOKIE = "seesay_researcher"
"""Holds the token of the researcher's session."""
SESSION_HOURS = 12
UNKNOWN_LINK = mark("This link is unknown. Check that you copied all of it.")
_MAX_FIELDS = 1000
"""Fields of a form: far more than a page of items has."""
_MAX_CACHED = 50_000
"""Links that a process remembers."""


@dataclass
class AppContext:
    """One study as the server holds it."""

    study: Study
    database: Database
    secret: str
    """Signs forms."""
    join_key: str
    """The secret part of the link for crowdsourcing sites."""
    public_url: str
    """What the addresses begin with that the researcher sees."""
    signed_ids: SignedIds | None
    clock: Callable[[], float]
    limiter: RateLimiter
    _person_ids: dict[str, int] = field(default_factory=dict)
    """Participants by the tokens of their links, to spare most requests a query."""

    async def run(self, work: Callable[[Transaction], T], *, locks_study: bool = False) -> T:
        """Run a function in a transaction; it is on disk when this returns."""
        try:
            return await asyncio.wrap_future(self.database.submit(work, locks_study=locks_study))
        except UnavailableError:
            raise RequestRejectedError(
                503,
                "This could not be saved just now. The page will try again; if it does not, reload "
                "it.",
            ) from None

    def limit(self, limit: RateLimit, key: str) -> None:
        """Reject requests beyond a rate limit."""
        if not self.limiter.allows(limit, key):
            raise RequestRejectedError(429, "Too many requests: wait a moment and try again.")

    def reject_unknown(self, request: Request, status: int, message: str) -> NoReturn:
        """Reject a request without a valid link or session; guesses are limited by address."""
        self.limit(UNKNOWN_LIMIT, client_address(request))
        raise RequestRejectedError(status, message)

    async def person(self, request: Request, token: str) -> int:
        """Return the id of the participant with this link."""
        person = self._person_ids.get(token)
        if person is None:
            row = None
            if security.is_token(token):
                row = await self.run(lambda tx: participants.find_by_token(tx, token))
            if row is None:
                self.reject_unknown(request, 404, UNKNOWN_LINK)
            person, has_consented = row
            # Whoever has consented is never forgotten (`participants.join`): the link stays theirs.
            if has_consented and len(self._person_ids) < _MAX_CACHED:
                self._person_ids[token] = person
        self.limit(PARTICIPANT_LIMIT, str(person))
        return person

    async def session(self, request: Request) -> str | None:
        """Return the researcher's session, if the request has a valid one."""
        token = request.cookies.get(COOKIE, "")
        if not security.is_token(token):
            return None
        now = self.clock()
        digest = security.digest(token)
        query = "SELECT 1 FROM session WHERE token = ? AND expires > ?"
        row = await self.run(lambda tx: first_row(tx, query, digest, now))
        return token if row else None

    def form_token(self, *parts: object) -> str:
        """Return the token of a form for one participant and purpose."""
        return security.sign(self.secret, "form", *parts)

    def check_form(self, form: Mapping[str, str], *parts: object) -> None:
        """Reject a form that this server did not issue for this participant and purpose."""
        if not security.verify_signature(form.get("form", ""), self.secret, "form", *parts):
            raise RequestRejectedError(
                403, "This form is not valid for you, or is out of date. Open your link again."
            )

    async def person_form(
        self,
        request: Request,
        purpose: str,
        *more: object,
    ) -> tuple[int, dict[str, str]]:
        """Return the participant with this link, and the fields of their form for a purpose."""
        person = await self.person(request, request.path_params["token"])
        form = await read_form(request)
        self.check_form(form, purpose, person, *more)
        return person, form


class Routes:
    """A group of the routes of one study."""

    def __init__(self, context: AppContext) -> None:
        self.context = context
        self.study = context.study
        self.run = context.run


def client_address(request: Request) -> str:
    """Return the address of the client; used for rate limits and never stored."""
    return address_key(request.client.host) if request.client else ""


def media_type(request: Request) -> str:
    """Return the kind of content that a request says it has."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; reject a repeated name."""
    # The pages send this kind only, and no other parser has to be trusted.
    if media_type(request) != "application/x-www-form-urlencoded":
        raise RequestRejectedError(415, "A form is expected here.")
    body = await request.body()
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=_MAX_FIELDS,
            errors="strict",
        )
    except (ValueError, UnicodeDecodeError):
        raise RequestRejectedError(400, "This form cannot be read.") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise RequestRejectedError(400, "A field of this form is repeated.")
    return fields
