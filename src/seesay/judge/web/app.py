"""The web application of one study."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from seesay.judge.messages import mark
from seesay.judge.numbers import parse_whole
from seesay.judge.rejections import RequestRejectedError
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


class NumberConvertor(IntegerConvertor):
    """A number in a path, of up to nine digits: `int` fails on thousands of them."""

    def convert(self, value: str) -> int:
        number = parse_whole(value)
        if number is None:
            raise RequestRejectedError(400, "A number in this address is too long.")
        return number


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
    """Return the application of a study.

    All state is in the database: a server may be killed and restarted.

    `public_url`: the address that links begin with.
    `signed_ids`: verifies the ids of workers; without it they are taken as they come.
    """
    secret, join = database.submit(
        lambda tx: (get_setting(tx, "secret"), get_setting(tx, "join"))
    ).result()
    if not secret or not join:
        raise ValueError("the study has not been initialised")
    context = AppContext(
        study=study,
        database=database,
        secret=secret,
        join_key=join,
        public_url=public_url.rstrip("/"),
        signed_ids=signed_ids,
        clock=clock,
        limiter=limiter or RateLimiter(),
    )
    pages = ParticipantPages(context)
    first_steps = FirstSteps(context)
    researcher = ResearcherPages(context)
    api = JsonApi(context)
    # Routes are tried in this order: `preview` must come before any `{token}`.
    get_handlers = {
        "/": pages.front,
        "/join/{key}": pages.join,
        "/a/preview/picture/0/{place:number}": researcher.picture,
        "/a/preview/icon/0/{place:number}/{index:number}": researcher.picture,
        "/a/{token}": pages.show,
        "/a/{token}/picture/{page:number}/{place:number}": pages.picture,
        "/a/{token}/icon/{page:number}/{place:number}/{index:number}": pages.picture,
        "/researcher": researcher.show,
        "/researcher/preview": researcher.preview,
        "/researcher/disputes": researcher.disputes,
        "/researcher/export.zip": researcher.export,
        "/api/progress": api.page_progress,
        "/api/counts": api.study_progress,
        "/api/openapi.json": api.schema,
        "/static/{name}": _static,
    }
    post_handlers = {
        "/a/{token}/consent": pages.consent,
        "/a/{token}/check": first_steps.check,
        "/a/{token}/practice": first_steps.practice,
        "/a/{token}/page/{page:number}": pages.submit,
        "/researcher/login": researcher.login,
        "/researcher/logout": researcher.logout,
        "/researcher/state": researcher.state,
        "/researcher/links": researcher.links,
        "/researcher/disputes": researcher.rule,
        "/api/answers": api.answer,
    }
    return Starlette(
        routes=[
            *(Route(path, handler) for path, handler in get_handlers.items()),
            *(Route(path, handler, methods=["POST"]) for path, handler in post_handlers.items()),
        ],
        # The language comes first: all that follow may reject a request in words.
        middleware=[
            Middleware(LanguageChoice, languages=study.design.languages),
            Middleware(SecurityHeaders),
            Middleware(RequestGuard, public_url=public_url),
        ],
        exception_handlers={RequestRejectedError: _rejected, HTTPException: _http_error},
    )


async def _static(request: Request) -> Response:
    # Only names of the table: a name from a request is never a path.
    name = request.path_params["name"]
    if name not in ASSETS:
        raise RequestRejectedError(404, "There is nothing here.")
    return Response(asset(name), media_type=ASSETS[name], headers={"Cache-Control": "no-cache"})


async def _rejected(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRejectedError)
    return error_response(request.url.path, error)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {
        404: mark("There is nothing here."),
        405: mark("This address does not support this method."),
    }
    message = messages.get(error.status_code, str(error.detail))
    rejected = RequestRejectedError(error.status_code, message)
    response = error_response(request.url.path, rejected)
    # Such as `Allow`, the methods that the address supports.
    response.headers.update(error.headers or {})
    return response
