"""The JSON API of the pages' scripts: single answers, page progress, the researcher's counts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from seesay import __version__
from seesay.documents import Document
from seesay.judge.answers import PageProgress, page_progress, save_answer
from seesay.judge.items import MAX_SEVERAL, MAX_TYPED, SLIDER_MAX, ItemAnswer
from seesay.judge.participants import get_participant
from seesay.judge.progress import StudyProgress, study_progress
from seesay.judge.rejections import RequestRejectedError
from seesay.judge.storage.database import Transaction
from seesay.judge.study import Study
from seesay.judge.web.context import COOKIE, Routes, media_type


def _integer(value: object) -> object:
    """Return 5.0 as 5: JSON has one kind of number (JSON Schema Validation, section 6.1.1)."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


JsonInteger = Annotated[int, BeforeValidator(_integer)]


class AnswerIn(Document, strict=True):
    """One answer to an item of the open page."""

    page: JsonInteger = Field(ge=1, le=100_000)
    """The number of the participant's page."""
    place: JsonInteger = Field(ge=1, le=9999)
    """The position of the item on the page, from 1."""
    value: JsonInteger = Field(
        default=0,
        ge=0,
        lt=2**MAX_SEVERAL,
        description=f"The position of the slider, 0 to {SLIDER_MAX}, the index of the option, or "
        "the options' bits.",
    )
    text: str = Field(default="", max_length=MAX_TYPED)
    """What was typed."""
    how: Literal["moved", "confirmed", "chosen", "typed"]
    """How the answer was given."""
    key: str = Field(pattern="^[A-Za-z0-9_-]{16,64}$")
    """Idempotency key, new for each answer."""


class ErrorOut(Document):
    """Why the request was rejected."""

    error: str
    """One sentence."""


class JsonApi(Routes):
    """The JSON routes of one study."""

    async def answer(self, request: Request) -> Response:
        """Save one answer."""
        person = await self._bearer(request)
        if media_type(request) != "application/json":
            raise RequestRejectedError(415, "JSON is expected here.")
        try:
            body = AnswerIn.model_validate_json(await request.body())
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "body"
            # What is no JSON, such as a number of 5,000 digits, is not a mistake in a field.
            status = 400 if first["type"] == "json_invalid" else 422
            raise RequestRejectedError(status, f"{where}: {first['msg']}") from None
        # In the words of Pydantic, since a script reads it; a name keeps it out of the catalogues.
        missing = "value: Field required"
        if body.how != "typed" and "value" not in body.model_fields_set:
            raise RequestRejectedError(422, missing)
        now = self.context.clock()
        answer = ItemAnswer(body.value, body.how, body.text)
        progress = await self.run(
            lambda tx: save_answer(
                tx, self.study, person, body.page, body.place, answer, body.key, now
            )
        )
        return JSONResponse(progress.model_dump())

    async def page_progress(self, request: Request) -> Response:
        """Say how many items of the participant's open page are answered."""
        person = await self._bearer(request)

        def work(tx: Transaction) -> PageProgress:
            return page_progress(tx, person, get_participant(tx, person).pages_sent + 1)

        progress = await self.run(work)
        return JSONResponse(progress.model_dump())

    async def study_progress(self, request: Request) -> Response:
        """Return live counts, for the researcher."""
        if await self.context.session(request) is None:
            self.context.reject_unknown(request, 401, "Log in first.")
        now = self.context.clock()
        progress = await self.run(lambda tx: study_progress(tx, self.study, now))
        return JSONResponse(progress.model_dump())

    async def schema(self, request: Request) -> Response:
        """Return the description of this API."""
        return JSONResponse(openapi(self.study))

    async def _bearer(self, request: Request) -> int:
        """Return the id of the participant whose token the request carries."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        try:
            return await self.context.person(request, token if scheme.lower() == "bearer" else "")
        except RequestRejectedError as rejected:
            # Of a page an unknown link is not found; of an API it is not authorised.
            if rejected.status == 404:
                raise RequestRejectedError(401, rejected.message) from None
            raise


def openapi(study: Study) -> dict[str, Any]:
    """Return the API in OpenAPI 3.1.

    It is derived from the models that validate requests and the answers that the study's items
    allow.
    """
    answer = AnswerIn.model_json_schema()
    answer["properties"]["how"]["enum"] = list(study.items[0].how)
    answer["properties"]["value"]["maximum"] = max(item.max_value for item in study.items)
    if "typed" not in study.items[0].how:
        answer["properties"]["text"]["maxLength"] = 0
        answer["required"].append("value")
    else:
        answer["required"].append("text")
        answer["properties"]["text"]["minLength"] = 1

    def content(schema: dict[str, Any]) -> dict[str, Any]:
        return {"application/json": {"schema": schema}}

    def operation(
        name: str,
        summary: str,
        scheme: str,
        success: type[BaseModel],
        errors: tuple[int, ...],
        **more: Any,
    ) -> dict[str, Any]:
        rejected = {"description": "Rejected.", "content": content(ErrorOut.model_json_schema())}
        responses = {
            "200": {"description": "Success.", "content": content(success.model_json_schema())},
            **dict.fromkeys(map(str, errors), rejected),
        }
        return {
            "operationId": name,
            "summary": summary,
            "security": [{scheme: []}],
            "responses": responses,
            **more,
        }

    post_errors = (400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 503)
    body = {"required": True, "content": content(answer)}
    open_page = "How many items of the participant's open page are answered."
    return {
        "openapi": "3.1.0",
        "info": {"title": "seesay judge", "version": __version__},
        "paths": {
            "/api/answers": {
                "post": operation(
                    "answer",
                    "Save one answer.",
                    "link",
                    PageProgress,
                    post_errors,
                    requestBody=body,
                )
            },
            "/api/progress": {
                "get": operation("progress", open_page, "link", PageProgress, (401, 429))
            },
            "/api/counts": {
                "get": operation(
                    "counts",
                    "Live counts, for the researcher.",
                    "researcher",
                    StudyProgress,
                    (401, 429),
                )
            },
        },
        "components": {
            "securitySchemes": {
                "link": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of a participant's link.",
                },
                "researcher": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            }
        },
    }
