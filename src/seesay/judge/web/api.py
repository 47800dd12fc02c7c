"""The JSON that the pages' scripts use: one answer at a time, progress, and the researcher's live counts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from seesay import __version__
from seesay.judge import answers, participants, progress
from seesay.judge.answers import HOW, RefusedError, Said, largest
from seesay.judge.progress import Counts
from seesay.judge.study import TOP, Study
from seesay.judge.web.context import Desk, address
from seesay.judge.web.rate_limits import STRANGER


def _whole(value: object) -> object:
    """JSON has one kind of number: 5.0 is the whole number 5 (JSON Schema, section 6.1.1 of its validation part)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AnswerIn(_Document):
    """One answer to an item of the page that is open."""

    page: Whole = Field(ge=1, le=100_000, description="Which of the person's pages.")
    place: Whole = Field(ge=1, le=1000, description="Which item of the page, from the top.")
    value: Whole = Field(ge=0, le=100_000, description=f"A slider's position, 0 to {TOP}, or the number of the option.")
    how: Literal["moved", "confirmed", "chosen"] = Field(description="How the answer came about.")
    key: str = Field(
        pattern="^[A-Za-z0-9_-]{16,64}$", description="Made anew for each answer: sent twice, it counts once."
    )


class ProgressOut(_Document):
    """How far the page is."""

    page: int = Field(description="Which of the person's pages.")
    answered: int = Field(description="Items with an answer.")
    of: int = Field(description="Items on the page.")


class ErrorOut(_Document):
    """Why it was refused."""

    error: str = Field(description="One sentence.")


class Api:
    """The JSON routes of one study."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def answer(self, request: Request) -> Response:
        """Keep one answer."""
        person = await self._bearer(request)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise RefusedError(415, "JSON is expected here.")
        try:
            sent = AnswerIn.model_validate_json(await request.body())
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "body"
            raise RefusedError(422, f"{where}: {first['msg']}") from None
        now, study = self.desk.clock(), self.desk.study
        said = Said(sent.value, sent.how)
        standing = await self.desk.run(
            lambda tx: answers.save(tx, study, person, sent.page, sent.place, said, sent.key, now)
        )
        return JSONResponse(asdict(standing))

    async def progress(self, request: Request) -> Response:
        """How far the person's open page is."""
        person = await self._bearer(request)
        standing = await self.desk.run(lambda tx: answers.progress(tx, person, participants.by_id(tx, person).sent + 1))
        return JSONResponse(asdict(standing))

    async def counts(self, request: Request) -> Response:
        """Live counts, for the researcher."""
        if await self.desk.session(request) is None:
            self.desk.limit(STRANGER, address(request))
            raise RefusedError(401, "Log in first.")
        now, study = self.desk.clock(), self.desk.study
        counted = await self.desk.run(lambda tx: progress.counts(tx, study, now))
        return JSONResponse(counted.model_dump())

    async def schema(self, request: Request) -> Response:
        """What this API takes and gives."""
        return JSONResponse(openapi(self.desk.study))

    async def _bearer(self, request: Request) -> int:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        try:
            return await self.desk.person(request, token if scheme.lower() == "bearer" else "")
        except RefusedError as refused:
            if refused.status == 404:
                raise RefusedError(401, refused.sentence) from None
            raise


def openapi(study: Study) -> dict[str, Any]:
    """The API in OpenAPI 3.1, from the models that check it and what the study's items can be answered with."""
    answer = AnswerIn.model_json_schema()
    answer["properties"]["how"]["enum"] = list(HOW[study.kind])
    answer["properties"]["value"]["maximum"] = max(largest(item) for item in study.items)

    def content(model: type[BaseModel]) -> dict[str, Any]:
        return {"application/json": {"schema": model.model_json_schema()}}

    def replies(good: type[BaseModel], *refusals: int) -> dict[str, Any]:
        shared = {str(status): {"description": "Refused.", "content": content(ErrorOut)} for status in refusals}
        return {"200": {"description": "Done.", "content": content(good)}, **shared}

    person: list[dict[str, list[str]]] = [{"link": []}]
    return {
        "openapi": "3.1.0",
        "info": {"title": "seesay judge", "version": __version__},
        "paths": {
            "/api/answers": {
                "post": {
                    "operationId": "answer",
                    "summary": "Keep one answer.",
                    "security": person,
                    "requestBody": {"required": True, "content": {"application/json": {"schema": answer}}},
                    "responses": replies(ProgressOut, 400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 503),
                }
            },
            "/api/progress": {
                "get": {
                    "operationId": "progress",
                    "summary": "How far the person's open page is.",
                    "security": person,
                    "responses": replies(ProgressOut, 401, 429),
                }
            },
            "/api/counts": {
                "get": {
                    "operationId": "counts",
                    "summary": "Live counts, for the researcher.",
                    "security": [{"researcher": []}],
                    "responses": replies(Counts, 401, 429),
                }
            },
        },
        "components": {
            "securitySchemes": {
                "link": {"type": "http", "scheme": "bearer", "description": "The token of an annotator's link."},
                "researcher": {"type": "apiKey", "in": "cookie", "name": "seesay_researcher"},
            }
        },
    }
