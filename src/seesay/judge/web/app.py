"""The web application of one study."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from seesay.judge.answers import RefusedError
from seesay.judge.storage.database import Database, setting
from seesay.judge.study import Study
from seesay.judge.web.api import Api
from seesay.judge.web.context import Desk
from seesay.judge.web.middleware import Gate, SecurityHeaders
from seesay.judge.web.pages import Pages
from seesay.judge.web.rate_limits import Limiter
from seesay.judge.web.rendering import ASSETS, asset, refusal
from seesay.judge.web.researcher import Researcher


def make_app(
    study: Study,
    database: Database,
    *,
    public_url: str = "",
    clock: Callable[[], float] = time.time,
    limiter: Limiter | None = None,
) -> Starlette:
    """The application. It holds nothing that the database does not: a server may be killed and started again."""
    secret, join = database.submit(lambda tx: (setting(tx, "secret"), setting(tx, "join"))).result()
    if not secret or not join:
        raise ValueError("the study has not been begun")
    desk = Desk(study, database, secret, join, public_url.rstrip("/"), clock, limiter or Limiter())
    pages, researcher, api = Pages(desk), Researcher(desk), Api(desk)
    return Starlette(
        routes=[
            Route("/", pages.front),
            Route("/join/{key}", pages.join),
            Route("/a/preview/picture/0/{place:int}", researcher.picture),
            Route("/a/{token}", pages.show),
            Route("/a/{token}/consent", pages.consent, methods=["POST"]),
            Route("/a/{token}/page/{page:int}", pages.send, methods=["POST"]),
            Route("/a/{token}/picture/{page:int}/{place:int}", pages.picture),
            Route("/researcher", researcher.show),
            Route("/researcher/login", researcher.login, methods=["POST"]),
            Route("/researcher/logout", researcher.logout, methods=["POST"]),
            Route("/researcher/state", researcher.state, methods=["POST"]),
            Route("/researcher/links", researcher.links, methods=["POST"]),
            Route("/researcher/preview", researcher.preview),
            Route("/researcher/export.zip", researcher.export),
            Route("/api/answers", api.answer, methods=["POST"]),
            Route("/api/progress", api.progress),
            Route("/api/counts", api.counts),
            Route("/api/openapi.json", api.schema),
            Route("/static/{name}", _static),
        ],
        middleware=[Middleware(SecurityHeaders), Middleware(Gate, public_url=public_url)],
        exception_handlers={RefusedError: _refused, HTTPException: _not_there},
    )


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        raise RefusedError(404, "There is nothing here.")
    return Response(asset(name), media_type=ASSETS[name], headers={"Cache-Control": "no-cache"})


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return refusal(request.url.path, error)


async def _not_there(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = {404: "There is nothing here.", 405: "This is not how this address is used."}.get(error.status_code)
    response = refusal(request.url.path, RefusedError(error.status_code, sentence or str(error.detail)))
    response.headers.update(error.headers or {})
    return response
