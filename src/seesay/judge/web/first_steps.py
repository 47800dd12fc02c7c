"""Before the first page: the comprehension check, with a second try, and practice with feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from seesay.judge.assignment import PageItem
from seesay.judge.items import SLIDER_MAX, ItemAnswer
from seesay.judge.participants import get_details, set_detail
from seesay.judge.rejections import MistakenAnswerError, RequestRejectedError
from seesay.judge.storage.database import Transaction
from seesay.judge.texts import CheckQuestion, PracticeItem
from seesay.judge.web.context import AppContext, Routes
from seesay.judge.web.forms import read_answers
from seesay.judge.web.languages import LocalTexts, describe_rejection
from seesay.judge.web.rendering import html_page

_PASSED = "passed"
_FAILED = "failed"
_WRONG = "wrong"
"""Once; a second mistake is `_FAILED`."""
_NO_REMARKS: dict[str, Any] = {
    "wrong": (),
    "missing": False,
    "problems": {},
    "feedback": (),
}


@dataclass(frozen=True, slots=True)
class PracticeFeedback:
    """What a participant reads about an answer to a practice item."""

    line: str
    right: bool
    correct: str
    explanation: str


class FirstSteps(Routes):
    """The routes of check and practice."""

    async def check(self, request: Request) -> Response:
        """Grade the comprehension check: a second try after the first mistake, no third."""
        person, form = await self._read(request, "check")
        wrong = wrong_answers(LocalTexts(self.study).check, form)

        def work(tx: Transaction) -> str:
            tx.lock_person(person)
            status = get_details(tx, person).get("check", "")
            # A form that is sent again, or from a second tab, changes nothing.
            if not status.startswith((_PASSED, _FAILED)):
                tries = 2 if status == _WRONG else 1
                if not wrong:
                    status = f"{_PASSED} {tries}"
                elif tries == 2:
                    status = _FAILED
                else:
                    status = _WRONG
                set_detail(tx, person, "check", status)
            return status

        token = request.path_params["token"]
        if await self.run(work) != _WRONG:
            return RedirectResponse(f"/a/{token}", 303)
        return first_steps_page(self.context, "check", token, person, 422, wrong=wrong)

    async def practice(self, request: Request) -> Response:
        """Show what was expected; the answers themselves are not kept."""
        person, form = await self._read(request, "practice")
        token = request.path_params["token"]
        texts = LocalTexts(self.study)
        places = range(1, len(texts.practice) + 1)
        # A slider in practice counts as it stands, without its box.
        boxes = {f"ok{place}": "confirmed" for place in places}
        answers = read_answers(self.study, {**form, **boxes})
        problems = _practice_problems(texts, answers)
        missing = any(place not in answers for place in places)
        if missing or problems:
            return first_steps_page(
                self.context,
                "practice",
                token,
                person,
                422,
                answers,
                missing=missing,
                problems=problems,
            )
        feedback = practice_feedback(texts, answers)
        right = f"{_PASSED} {sum(entry.right for entry in feedback)} of {len(feedback)}"
        await self.run(lambda tx: set_detail(tx, person, "practice", right))
        return first_steps_page(self.context, "practice", token, person, feedback=feedback)

    async def _read(self, request: Request, step: str) -> tuple[int, Mapping[str, str]]:
        """Return the participant and the form of a step, if the study has it."""
        person, form = await self.context.person_form(request, step)
        if not getattr(LocalTexts(self.study), step):
            raise RequestRejectedError(404, "There is nothing here.")
        return person, form


def first_steps_page(
    context: AppContext,
    step: str,
    token: str,
    person: int,
    status: int = 200,
    answers: Mapping[int, ItemAnswer] | None = None,
    **remarks: Any,
) -> Response:
    """Return the page of the check or of practice, with remarks on answers that were sent."""
    texts = LocalTexts(context.study)
    return html_page(
        f"{step}.html",
        status,
        study=context.study,
        token=token,
        texts=texts,
        form=context.form_token(step, person),
        page_items=practice_items(texts.practice, answers or {}),
        **(_NO_REMARKS | remarks),
    )


def practice_items(
    practice: Sequence[PracticeItem],
    answers: Mapping[int, ItemAnswer],
) -> list[PageItem]:
    """Return the practice items as on a page, with the answers so far."""
    return [
        PageItem(
            place,
            entry.item,
            start=SLIDER_MAX // 2,
            order=tuple(range(len(entry.item.names))),
            answer=answers.get(place),
        )
        for place, entry in enumerate(practice, start=1)
    ]


def wrong_answers(questions: Sequence[CheckQuestion], form: Mapping[str, str]) -> list[int]:
    """Return the places of the questions that were answered wrong, or not at all."""
    return [
        place
        for place, question in enumerate(questions, start=1)
        if form.get(f"v{place}") != str(question.options.index(question.answer))
    ]


def _practice_problems(texts: LocalTexts, answers: Mapping[int, ItemAnswer]) -> dict[int, str]:
    """Return what is wrong with mistaken answers, such as a word instead of a number, by place."""
    problems: dict[int, str] = {}
    for place, entry in enumerate(texts.practice, start=1):
        try:
            if place in answers:
                entry.item.check(answers[place])
        except MistakenAnswerError as mistake:
            problems[place] = describe_rejection(mistake)
    return problems


def practice_feedback(
    texts: LocalTexts,
    answers: Mapping[int, ItemAnswer],
) -> list[PracticeFeedback]:
    """Return what a participant reads about each answer."""
    feedback = []
    for place, entry in enumerate(texts.practice, start=1):
        answer = answers[place]
        feedback.append(
            PracticeFeedback(
                line=entry.item.line,
                right=entry.item.is_correct(answer.value, answer.text),
                correct=texts.correct(entry.item),
                explanation=entry.explanation,
            )
        )
    return feedback
