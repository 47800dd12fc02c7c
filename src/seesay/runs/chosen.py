"""Which option a model chose, and what the choice is worth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from seesay.answers import NO_ANSWER
from seesay.metrics.scoring_rules import adjust
from seesay.questions import Answer, Prompt, Question, Task


class ExplainedAnswer(NamedTuple):
    """An answer with its question.

    It says what was asked, which labels are gold, which was chosen, and whether it is right.

    Of options that share the highest score (`is_tied`) the first is `chosen`; `right` is the share
    of accepted labels among them (1 right, 0 wrong, between them a tie), so that its mean is the
    accuracy. A reply without an answer has none chosen.
    """

    prompt: Prompt
    gold: Mapping[str, float]
    chosen: str
    right: float
    is_tied: bool


def explain_answers(
    task: Task,
    answers: Iterable[Answer],
    length: str,
) -> Iterator[ExplainedAnswer]:
    """Yield each answer with its question, under a length rule."""
    questions = {question.id: question for question in task.questions}
    templates = {template.name: template for template in task.templates}
    relaxed = is_relaxed(task)
    for answer in answers:
        question = questions[answer.question]
        top = _top_labels(answer, length)
        accepted = accepted_labels(question, relaxed=relaxed)
        right = sum(label in accepted for label in top) / max(len(top), 1)
        prompt = templates[answer.template].ask(question)
        first = top[0] if top else ""
        yield ExplainedAnswer(prompt, question.gold, first, right, is_tied=len(top) > 1)


def _top_labels(answer: Answer, length: str) -> list[str]:
    """Return the options that share the highest score; none where there is no answer."""
    scores = adjust(answer.scores, length)
    best = scores.max()
    if best == NO_ANSWER:
        return []
    return [answer.options[place] for place in np.flatnonzero(scores == best)]


def is_relaxed(task: Task) -> bool:
    """Whether the task accepts any gold label, whatever its weight."""
    return "relaxed_accuracy" in task.metrics


def accepted_labels(question: Question, *, relaxed: bool = False) -> list[str]:
    """Return the gold labels with the greatest weight; all of them where accuracy is relaxed."""
    most = max(question.gold.values())
    return [label for label, weight in question.gold.items() if relaxed or weight == most]
