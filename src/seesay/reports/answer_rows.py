"""A run's answers as rows, for tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from seesay.runs.chosen import accepted_labels, explain_answers, is_relaxed
from seesay.runs.run import Run


class AnswerRow(NamedTuple):
    """A model's answer to one question in one template; `label` says how it was asked, too.

    `pandas.DataFrame(results.answers())` makes a table of them.
    """

    model: str
    label: str
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
    """One row per question and template; of tied options the first counts as chosen, without an
    answer none."""
    rows = explain_answers(run.task, run.answers, run.manifest.condition.length)
    questions = {question.id: question for question in run.task.questions}
    for answer, row in zip(run.answers, rows, strict=True):
        yield AnswerRow(
            model=run.manifest.model,
            label=run.label,
            task=run.manifest.task,
            question=answer.question,
            template=answer.template,
            prompt=row.prompt.text,
            options=answer.options,
            gold=dict(row.gold),
            chosen=row.chosen,
            right=row.chosen
            in accepted_labels(questions[answer.question], relaxed=is_relaxed(run.task)),
            logp=tuple(answer.scores.logp),
        )
