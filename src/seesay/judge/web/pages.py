"""What an annotator meets: consent, pages of items, the end. Plain HTML that works without the script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from seesay.judge import answers, participants, secret
from seesay.judge.answers import RefusedError, Said
from seesay.judge.assignment import Slot, Turn, turn
from seesay.judge.storage.database import Transaction, setting
from seesay.judge.study import Item, Study
from seesay.judge.web.context import Desk, address, read_form
from seesay.judge.web.rate_limits import ARRIVAL, STRANGER
from seesay.judge.web.rendering import page

_FIELD = re.compile(r"(v|ok)([1-9][0-9]{0,3})")
_NUMBER = re.compile(r"[0-9]{1,4}")
_PICTURES = {
    ".png": ("image/png", b"\x89PNG"),
    ".jpg": ("image/jpeg", b"\xff\xd8"),
    ".jpeg": ("image/jpeg", b"\xff\xd8"),
    ".gif": ("image/gif", b"GIF8"),
    ".webp": ("image/webp", b"RIFF"),
}
_SITES = (("prolific", "PROLIFIC_PID"), ("mturk", "workerId"))
_MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"


class Pages:
    """The annotators' routes of one study."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def front(self, request: Request) -> Response:
        """Someone with no link."""
        self.desk.limit(STRANGER, address(request))
        raise RefusedError(403, "To take part you need your own link. The researcher who invited you can send it.")

    async def join(self, request: Request) -> Response:
        """A worker sent by Prolific or Mechanical Turk, known by the parameter that the site adds to the link."""
        if not secret.is_signed(secret.sign("", request.path_params["key"]), "", self.desk.join_key):
            self.desk.limit(STRANGER, address(request))
            raise RefusedError(404, "This link is not known here. Check that you copied all of it.")
        if request.query_params.get("assignmentId") == _MTURK_PREVIEW:
            return page("preview.html", study=self.desk.study, slots=sample(self.desk.study), token="")
        self.desk.limit(ARRIVAL, address(request))
        named = [(source, request.query_params.get(name, "")) for source, name in _SITES]
        source, worker = next(((source, worker) for source, worker in named if 0 < len(worker) <= 200), ("", ""))
        if not worker:
            raise RefusedError(400, "This link lacks the id that your site adds to it. Open it from the site.")
        now = self.desk.clock()
        token = await self.desk.run(lambda tx: participants.join(tx, source, worker, now))
        return RedirectResponse(f"/a/{token}", 303)

    async def show(self, request: Request) -> Response:
        """Where a person stands now."""
        token = request.path_params["token"]
        person = await self.desk.person(request, token)
        now = self.desk.clock()
        standing = await self.desk.run(lambda tx: turn(tx, self.desk.study, person, now))
        return self._page(token, standing)

    async def consent(self, request: Request) -> Response:
        """A person agrees."""
        token = request.path_params["token"]
        person = await self.desk.person(request, token)
        form = await read_form(request)
        self.desk.check_form(form, "consent", person)
        if form.get("agree") != "yes":
            raise RefusedError(422, "To take part, tick the box that says you agree.")
        now = self.desk.clock()

        def work(tx: Transaction) -> None:
            if setting(tx, "state") == "open":
                participants.consent(tx, person, now)

        await self.desk.run(work)
        return RedirectResponse(f"/a/{token}", 303)

    async def send(self, request: Request) -> Response:
        """A person sends a page. What is missing is asked for again; what was given is kept either way."""
        token = request.path_params["token"]
        number = int(request.path_params["page"])
        person = await self.desk.person(request, token)
        form = await read_form(request)
        self.desk.check_form(form, "page", person, number)
        said = _answers(self.desk.study, form)
        now = self.desk.clock()
        study = self.desk.study
        standing = await self.desk.run(lambda tx: answers.send(tx, study, person, number, said, f"page {number}", now))
        if standing.answered == standing.of:
            return RedirectResponse(f"/a/{token}", 303)
        again = await self.desk.run(lambda tx: turn(tx, study, person, now))
        return self._page(token, again, missing=True)

    async def picture(self, request: Request) -> Response:
        """The picture of an item on the person's own page."""
        person = await self.desk.person(request, request.path_params["token"])
        place, number = int(request.path_params["place"]), int(request.path_params["page"])
        row = await self.desk.run(
            lambda tx: tx.rows(
                "SELECT item FROM assignment WHERE person = ? AND page = ? AND place = ?", person, number, place
            )
        )
        if not row:
            raise RefusedError(404, "There is no such picture on your page.")
        return picture_of(self.desk.study.by_id[row[0][0]])

    def _page(self, token: str, standing: Turn, missing: bool = False) -> Response:
        desk, person = self.desk, standing.person
        common: dict[str, Any] = {"study": desk.study, "token": token, "person": person}
        if standing.status == "consent":
            return page("consent.html", **common, form=desk.form_token("consent", person.id))
        if standing.status == "page":
            return page(
                "judge.html",
                status=422 if missing else 200,
                **common,
                form=desk.form_token("page", person.id, standing.page),
                number=standing.page,
                slots=standing.slots,
                missing=missing,
                answered=sum(slot.given is not None for slot in standing.slots),
            )
        return page("end.html", **common, status_name=standing.status, link=_return_link(desk.study, person.code))


def sample(study: Study) -> tuple[Slot, ...]:
    """A page as the first person might get it, for looking at."""
    chance = study.rng("preview")
    chosen = chance.sample(study.measured, min(study.design.per_page, len(study.measured)))
    chosen += chance.sample(study.controls, min(study.design.controls, len(study.controls)))
    chance.shuffle(chosen)
    return tuple(Slot(place, item, study.start(0, item.id), None) for place, item in enumerate(chosen, start=1))


def picture_of(item: Item) -> Response:
    """A picture's bytes, if they are those of a picture."""
    path = Path(item.picture or "")
    kind, begin = _PICTURES.get(path.suffix.lower(), ("", b""))
    try:
        content = path.read_bytes() if kind else b""
    except OSError:
        content = b""
    if not content.startswith(begin) or not content:
        raise RefusedError(404, "This picture is not there.")
    return Response(content, media_type=kind)


def _answers(study: Study, form: Mapping[str, str]) -> dict[int, Said]:
    """The answers in a form. A slider counts only with its box, ticked by the person or by the script when it moved."""
    found: dict[int, Said] = {}
    for name, value in form.items():
        match = _FIELD.fullmatch(name)
        if match is None or match[1] == "ok":
            continue
        if not _NUMBER.fullmatch(value):
            raise RefusedError(422, "An answer must be a whole number.")
        place = int(match[2])
        if study.kind == "choice":
            found[place] = Said(int(value), "chosen")
        elif box := form.get(f"ok{place}"):
            found[place] = Said(int(value), "moved" if box == "moved" else "confirmed")
    return found


def _return_link(study: Study, code: str) -> str:
    address = study.design.return_url
    return address.replace("{code}", code) if address.startswith("https://") else ""
