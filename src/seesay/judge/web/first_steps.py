"""Before the first page: the comprehension check, with an explanation and a second try, and practice with feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from seesay.judge.answers import RequestRejectedError, check_answer
from seesay.judge.assignment import PageItem
from seesay.judge.items import ItemAnswer
from seesay.judge.participants import get_details, set_detail
from seesay.judge.storage.database import Transaction
from seesay.judge.texts import CheckQuestion, PracticeItem
from seesay.judge.web.context import AppContext, read_form
from seesay.judge.web.forms import read_answers
from seesay.judge.web.languages import LocalTexts, describe_rejection
from seesay.judge.web.rendering import html_page

_PASSED, _FAILED, _WRONG = "passed", "failed", "wrong"


@dataclass(frozen=True, slots=True)
class PracticeFeedback:
    """What a participant reads about an answer to a practice item."""

    line: str
    right: bool
    correct: str
    explanation: str


class FirstSteps:
    """The routes of check and practice."""

    def __init__(self, context: AppContext) -> None:
        self.context = context

    async def check(self, request: Request) -> Response:
        """Grade the comprehension check: a second try after the first mistake, no third."""
        person, form = await self._read(request, "check")
        texts = LocalTexts(self.context.study)
        wrong = wrong_answers(texts.check, form)

        def work(tx: Transaction) -> str:
            tx.lock_person(person)
            status = get_details(tx, person).get("check", "")
            if not status.startswith((_PASSED, _FAILED)):
                tries = 2 if status == _WRONG else 1
                status = f"{_PASSED} {tries}" if not wrong else _FAILED if tries == 2 else _WRONG
                set_detail(tx, person, "check", status)
            return status

        if await self.context.run(work) != _WRONG:
            return RedirectResponse(f"/a/{request.path_params['token']}", 303)
        return self._page("check", request, person, texts, 422, wrong=wrong)

    async def practice(self, request: Request) -> Response:
        """Show what was expected; the answers themselves are not kept."""
        person, form = await self._read(request, "practice")
        texts = LocalTexts(self.context.study)
        places = range(1, len(texts.practice) + 1)
        answers = read_answers(self.context.study, {**form, **{f"ok{place}": "confirmed" for place in places}})
        problems = _practice_problems(texts, answers)
        missing = any(place not in answers for place in places)
        if missing or problems:
            return self._page(
                "practice", request, person, texts, 422, answers=answers, missing=missing, problems=problems
            )
        feedback = practice_feedback(texts, answers)
        right = f"{_PASSED} {sum(entry.right for entry in feedback)} of {len(feedback)}"
        await self.context.run(lambda tx: set_detail(tx, person, "practice", right))
        return self._page("practice", request, person, texts, feedback=feedback)

    async def _read(self, request: Request, step: str) -> tuple[int, Mapping[str, str]]:
        person = await self.context.person(request, request.path_params["token"])
        form = await read_form(request)
        self.context.check_form(form, step, person)
        if not getattr(LocalTexts(self.context.study), step):
            raise RequestRejectedError(404, "There is nothing here.")
        return person, form

    def _page(
        self, step: str, request: Request, person: int, texts: LocalTexts, status: int = 200, **values: Any
    ) -> Response:
        return first_steps_page(
            step,
            status,
            study=self.context.study,
            token=request.path_params["token"],
            texts=texts,
            form=self.context.form_token(step, person),
            **values,
        )


def first_steps_page(
    step: str,
    status: int = 200,
    *,
    texts: LocalTexts,
    wrong: Sequence[int] = (),
    answers: Mapping[int, ItemAnswer] | None = None,
    missing: bool = False,
    problems: Mapping[int, str] | None = None,
    feedback: Sequence[PracticeFeedback] = (),
    **common: Any,
) -> Response:
    """The page of the check or of practice."""
    return html_page(
        f"{step}.html",
        status,
        texts=texts,
        wrong=wrong,
        page_items=practice_items(texts.practice, answers or {}),
        missing=missing,
        problems=problems or {},
        feedback=feedback,
        **common,
    )


def practice_items(practice: Sequence[PracticeItem], answers: Mapping[int, ItemAnswer]) -> list[PageItem]:
    """The practice items as on a page, with the answers so far."""
    return [PageItem(place, entry.item, 50, answers.get(place)) for place, entry in enumerate(practice, start=1)]


def wrong_answers(questions: Sequence[CheckQuestion], form: Mapping[str, str]) -> list[int]:
    """The places of the questions that were answered wrong, or not at all."""
    return [
        place
        for place, question in enumerate(questions, start=1)
        if form.get(f"v{place}") != str(question.options.index(question.answer))
    ]


def _practice_problems(texts: LocalTexts, answers: Mapping[int, ItemAnswer]) -> dict[int, str]:
    """What is wrong with answers that were given by mistake, such as a word instead of a number, by place."""
    problems: dict[int, str] = {}
    for place, entry in enumerate(texts.practice, start=1):
        try:
            if place in answers:
                check_answer(entry.item, answers[place])
        except RequestRejectedError as rejected:
            if not rejected.is_mistake:
                raise
            problems[place] = describe_rejection(rejected)
    return problems


def practice_feedback(texts: LocalTexts, answers: Mapping[int, ItemAnswer]) -> list[PracticeFeedback]:
    """What is said about each answer."""
    return [
        PracticeFeedback(
            entry.item.line,
            entry.item.is_correct(answers[place].value, answers[place].text),
            texts.correct(entry.item),
            entry.explanation,
        )
        for place, entry in enumerate(texts.practice, start=1)
    ]
