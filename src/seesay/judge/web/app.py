"""The web application of one study."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from seesay.judge.answers import RequestRejectedError
from seesay.judge.messages import mark
from seesay.judge.signed_ids import SignedIds
from seesay.judge.storage.database import Database, get_setting
from seesay.judge.study import Study
from seesay.judge.web.api import JsonApi
from seesay.judge.web.context import AppContext
from seesay.judge.web.first_steps import FirstSteps
from seesay.judge.web.languages import LanguageChoice
from seesay.judge.web.middleware import RequestGuard, SecurityHeaders
from seesay.judge.web.pages import ParticipantPages
from seesay.judge.web.rate_limits import RateLimiter
from seesay.judge.web.rendering import ASSETS, asset, error_response
from seesay.judge.web.researcher import ResearcherPages


class NumberConvertor(Convertor[int]):
    """A number in a path. `int` fails on thousands of digits."""

    regex = "[0-9]+"

    def convert(self, value: str) -> int:
        if len(value) > 9:
            raise RequestRejectedError(400, "A number in this address is too long.")
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("number", NumberConvertor())


def make_app(
    study: Study,
    database: Database,
    *,
    public_url: str = "",
    signed_ids: SignedIds | None = None,
    clock: Callable[[], float] = time.time,
    limiter: RateLimiter | None = None,
) -> Starlette:
    """The application. All state is in the database: a server may be killed and restarted."""
    secret, join = database.submit(lambda tx: (get_setting(tx, "secret"), get_setting(tx, "join"))).result()
    if not secret or not join:
        raise ValueError("the study has not been initialised")
    limiter = limiter or RateLimiter()
    context = AppContext(study, database, secret, join, public_url.rstrip("/"), signed_ids, clock, limiter)
    pages, first_steps = ParticipantPages(context), FirstSteps(context)
    researcher, api = ResearcherPages(context), JsonApi(context)
    return Starlette(
        routes=[
            Route("/", pages.front),
            Route("/join/{key}", pages.join),
            Route("/a/preview/picture/0/{place:number}", researcher.picture),
            Route("/a/preview/icon/0/{place:number}/{index:number}", researcher.picture),
            Route("/a/{token}", pages.show),
            Route("/a/{token}/consent", pages.consent, methods=["POST"]),
            Route("/a/{token}/check", first_steps.check, methods=["POST"]),
            Route("/a/{token}/practice", first_steps.practice, methods=["POST"]),
            Route("/a/{token}/page/{page:number}", pages.submit, methods=["POST"]),
            Route("/a/{token}/picture/{page:number}/{place:number}", pages.picture),
            Route("/a/{token}/icon/{page:number}/{place:number}/{index:number}", pages.picture),
            Route("/researcher", researcher.show),
            Route("/researcher/login", researcher.login, methods=["POST"]),
            Route("/researcher/logout", researcher.logout, methods=["POST"]),
            Route("/researcher/state", researcher.state, methods=["POST"]),
            Route("/researcher/links", researcher.links, methods=["POST"]),
            Route("/researcher/preview", researcher.preview),
            Route("/researcher/disputes", researcher.disputes),
            Route("/researcher/disputes", researcher.rule, methods=["POST"]),
            Route("/researcher/export.zip", researcher.export),
            Route("/api/answers", api.answer, methods=["POST"]),
            Route("/api/progress", api.page_progress),
            Route("/api/counts", api.study_progress),
            Route("/api/openapi.json", api.schema),
            Route("/static/{name}", _static),
        ],
        middleware=[
            Middleware(LanguageChoice, languages=study.design.languages),
            Middleware(SecurityHeaders),
            Middleware(RequestGuard, public_url=public_url),
        ],
        exception_handlers={RequestRejectedError: _rejected, HTTPException: _http_error},
    )


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        raise RequestRejectedError(404, "There is nothing here.")
    return Response(asset(name), media_type=ASSETS[name], headers={"Cache-Control": "no-cache"})


async def _rejected(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRejectedError)
    return error_response(request.url.path, error)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {404: mark("There is nothing here."), 405: mark("This address does not support this method.")}
    message = messages.get(error.status_code)
    response = error_response(request.url.path, RequestRejectedError(error.status_code, message or str(error.detail)))
    response.headers.update(error.headers or {})
    return response
