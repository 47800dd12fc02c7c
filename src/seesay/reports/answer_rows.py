"""A run's answers as rows, for tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from seesay.answers import NO_ANSWER
from seesay.reports.answers import accepted_labels, is_relaxed
from seesay.runs.run import Run


class AnswerRow(NamedTuple):
    """A model's answer to one question in one template; `pandas.DataFrame(results.answers())` makes a table of them."""

    model: str
    task: str
    question: str
    template: str
    prompt: str
    options: tuple[str, ...]
    gold: dict[str, float]
    chosen: str
    right: bool
    logp: tuple[float, ...]


def answer_rows(run: Run) -> Iterator[AnswerRow]:
    """One row per question and template; of tied options the first counts as chosen, without an answer none."""
    questions = {question.id: question for question in run.task.questions}
    templates = {template.name: template for template in run.task.templates}
    for answer in run.answers:
        question = questions[answer.question]
        logp = answer.scores.logp
        best = max(range(len(logp)), key=logp.__getitem__)
        chosen = "" if logp[best] == NO_ANSWER else answer.options[best]
        yield AnswerRow(
            model=run.manifest.model,
            task=run.manifest.task,
            question=answer.question,
            template=answer.template,
            prompt=templates[answer.template].ask(question).text,
            options=answer.options,
            gold=dict(question.gold),
            chosen=chosen,
            right=chosen in accepted_labels(question, relaxed=is_relaxed(run.task)),
            logp=tuple(logp),
        )
