"""The participants' pages: consent, pages of items, the end.

They are plain HTML that works without the script.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from seesay.judge import participants
from seesay.judge.answers import PageProgress, submit_page
from seesay.judge.assignment import NextStep, PageItem, next_step, page_item
from seesay.judge.items import BaseItem
from seesay.judge.messages import mark
from seesay.judge.participants import Visit
from seesay.judge.pictures import PICTURES
from seesay.judge.rejections import RequestRejectedError
from seesay.judge.storage.database import Transaction, get_setting
from seesay.judge.study import Study
from seesay.judge.web.context import UNKNOWN_LINK, Routes, client_address
from seesay.judge.web.first_steps import first_steps_page
from seesay.judge.web.forms import read_answers
from seesay.judge.web.languages import LocalTexts, current_language, describe_rejection
from seesay.judge.web.rate_limits import JOIN_LIMIT
from seesay.judge.web.rendering import html_page

logger = logging.getLogger(__name__)

_WORKER_PARAMETERS = (
    ("prolific", "PROLIFIC_PID", "SESSION_ID"),
    ("mturk", "workerId", "assignmentId"),
)
"""Sites, and the parameters in which they name the worker and the visit."""
_SIGNED_PARAMETER = "prolific_token"
_MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What Mechanical Turk sends instead of an id while a worker looks at a task."""


class ParticipantPages(Routes):
    """The participants' routes of one study."""

    async def front(self, request: Request) -> Response:
        """Reject someone without a link."""
        message = mark(
            "To take part you need your own link. The researcher who invited you can send it."
        )
        self.context.reject_unknown(request, 403, message)

    async def join(self, request: Request) -> Response:
        """Admit a worker sent by Prolific or Mechanical Turk.

        They are identified by the parameter that the site adds to the link.
        """
        key = request.path_params["key"].encode()
        if not hmac.compare_digest(key, self.context.join_key.encode()):
            self.context.reject_unknown(request, 404, UNKNOWN_LINK)
        if request.query_params.get("assignmentId") == _MTURK_PREVIEW:
            return preview_page(self.study, token="")
        self.context.limit(JOIN_LIMIT, client_address(request))
        now = self.context.clock()
        visit = self._visit(request.query_params, now)
        try:
            token = await self.run(
                lambda tx: participants.join(tx, self.study, visit, now), locks_study=True
            )
        except participants.TooManyWorkersError:
            logger.warning(
                "The join link has let in %d people, and no more.",
                participants.max_workers(self.study),
            )
            raise RequestRejectedError(
                403,
                "No more people can take part by this link. Please tell the researcher who invited "
                "you.",
            ) from None
        if token is None:
            raise RequestRejectedError(
                403,
                "This id has been used before, on another visit. To continue, open the page where "
                "you were from your browser's history, or ask the researcher.",
            )
        return RedirectResponse(f"/a/{token}", 303)

    def _visit(self, parameters: Mapping[str, str], now: float) -> Visit:
        """Return who comes, by the parameters that their site adds to the link."""
        if self.context.signed_ids is not None:
            worker = self.context.signed_ids.worker(parameters.get(_SIGNED_PARAMETER, ""), now)
            if worker is None:
                raise RequestRejectedError(
                    403, "This link is not signed by your site. Open it from the site again."
                )
            return Visit("prolific", worker, is_signed=True)
        for site, parameter, visit_parameter in _WORKER_PARAMETERS:
            worker = parameters.get(parameter, "")
            visit_id = parameters.get(visit_parameter, "")
            # Longer than any id of these sites: somebody tries something else.
            if 0 < len(worker) <= 200 and len(visit_id) <= 200:
                return Visit(site, worker, visit_id)
        raise RequestRejectedError(
            400, "This link lacks the id that your site adds to it. Open it from the site."
        )

    async def show(self, request: Request) -> Response:
        """Show what a participant sees now."""
        token = request.path_params["token"]
        person = await self.context.person(request, token)
        return self._render(token, await self._next_step(person))

    async def consent(self, request: Request) -> Response:
        """Record a participant's consent."""
        person, form = await self.context.person_form(request, "consent")
        if form.get("agree") != "yes":
            raise RequestRejectedError(422, "To take part, tick the box that says you agree.")
        now = self.context.clock()
        language = current_language.get()

        def work(tx: Transaction) -> None:
            # Nobody begins a study that has been paused or closed in the meantime.
            if get_setting(tx, "state") == "open":
                participants.record_consent(tx, person, now)
                participants.set_detail(tx, person, "language", language)

        await self.run(work)
        return RedirectResponse(f"/a/{request.path_params['token']}", 303)

    async def submit(self, request: Request) -> Response:
        """Store a page. Missing answers are asked for again; the others are stored either way."""
        token = request.path_params["token"]
        number = request.path_params["page"]
        person, form = await self.context.person_form(request, "page", number)
        now = self.context.clock()
        language = current_language.get()
        answers = read_answers(self.study, form)
        problems: dict[int, RequestRejectedError] = {}

        def work(tx: Transaction) -> PageProgress:
            participants.set_detail(tx, person, "language", language)
            return submit_page(tx, self.study, person, number, answers, now, problems)

        progress = await self.run(work)
        if progress.is_complete:
            return RedirectResponse(f"/a/{token}", 303)
        # What was typed is shown again, also where it is not a valid answer.
        typed = {place: answer.text for place, answer in answers.items()}
        step = await self._next_step(person)
        return self._render(token, step, missing=True, problems=problems, typed=typed)

    async def _next_step(self, person: int) -> NextStep:
        now = self.context.clock()
        return await self.run(lambda tx: next_step(tx, self.study, person, now), locks_study=True)

    async def picture(self, request: Request) -> Response:
        """Send the picture of an item on the participant's own page, or one of its icons."""
        person = await self.context.person(request, request.path_params["token"])
        place = request.path_params["place"]
        number = request.path_params["page"]
        rows = await self.run(
            lambda tx: tx.execute(
                "SELECT item FROM assignment WHERE person = ? AND page = ? AND place = ?",
                person,
                number,
                place,
            )
        )
        if not rows:
            raise RequestRejectedError(404, "There is no such picture on your page.")
        item = self.study.items_by_id[rows[0][0]]
        return picture_response(item_picture(item, request.path_params.get("index")))

    def _render(
        self,
        token: str,
        step: NextStep,
        missing: bool = False,
        problems: Mapping[int, RequestRejectedError] | None = None,
        typed: Mapping[int, str] | None = None,
    ) -> Response:
        """Return the page of a step.

        `missing`: whether the page was sent without all answers.
        `problems`: what is wrong with answers, by place.
        `typed`: what was typed, by place.
        """
        study = self.study
        participant = step.participant
        if step.status in ("check", "practice"):
            return first_steps_page(self.context, step.status, token, participant.id)
        common: dict[str, Any] = {"study": study, "token": token, "texts": LocalTexts(study)}
        if step.status == "consent":
            form = self.context.form_token("consent", participant.id)
            return html_page("consent.html", **common, form=form)
        if step.status == "page":
            messages = {}
            for place, problem in (problems or {}).items():
                messages[place] = describe_rejection(problem)
            return html_page(
                "page.html",
                status=422 if missing else 200,
                **common,
                form=self.context.form_token("page", participant.id, step.page),
                number=step.page,
                pages=step.pages,
                page_items=step.items,
                missing=missing,
                problems=messages,
                typed=typed or {},
                answered=sum(page_item.answer is not None for page_item in step.items),
            )
        link = ""
        # A link such as javascript: would run on this page.
        if study.design.return_url.startswith("https://"):
            link = study.design.return_url.replace("{code}", participant.code)
        return html_page(
            "end.html",
            **common,
            status_name=step.status,
            code=participant.code,
            link=link,
        )


def sample_page(study: Study) -> tuple[PageItem, ...]:
    """Return the first page of the first participant, as they get it if nobody else has begun."""
    rng = study.rng("preview")
    measured = study.measured_for(1)
    items = rng.sample(measured, min(study.design.per_page, len(measured)))
    items += study.controls_for(1)[: study.design.controls]
    rng.shuffle(items)
    return tuple(page_item(study, 1, place, item) for place, item in enumerate(items, start=1))


def preview_page(study: Study, token: str) -> Response:
    """Return a page as a participant would see it; nothing is stored."""
    return html_page(
        "preview.html",
        study=study,
        texts=LocalTexts(study),
        page_items=sample_page(study),
        token=token,
    )


def item_picture(item: BaseItem, icon: int | None) -> str:
    """Return the path of an item's picture, or of one of its icons; empty where there is none."""
    if icon is None:
        return item.picture or ""
    if icon >= len(item.icons):
        return ""
    return item.icons[icon] or ""


def picture_response(path: str) -> Response:
    """Return the bytes of a picture, if the file's content is that of a picture."""
    # The study's file names the paths; whoever edits it must not read other files through it.
    media_type, signature = PICTURES.get(Path(path).suffix.lower(), ("", b""))
    try:
        content = Path(path).read_bytes() if media_type else b""
    except OSError:
        content = b""
    if not content.startswith(signature) or not content:
        raise RequestRejectedError(404, "There is no such picture.")
    return Response(content, media_type=media_type)
