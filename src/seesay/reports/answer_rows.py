"""A run's answers as rows, for tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from seesay.runs.chosen import explain_answers
from seesay.runs.run import Run


class AnswerRow(NamedTuple):
    """A model's answer to one question in one template; `label` says how it was asked, too.

    `chosen` is None where several options share the highest score, and "" without an answer.
    `right` is what the answer counts: 1, 0, or the share of accepted ones among such options, so
    that its mean is the accuracy. `pandas.DataFrame(results.answers())` makes a table of them.
    """

    model: str
    label: str
    task: str
    question: str
    template: str
    prompt: str
    options: tuple[str, ...]
    gold: dict[str, float]
    chosen: str | None
    right: float
    logp: tuple[float, ...]


def answer_rows(run: Run) -> Iterator[AnswerRow]:
    """One row per question and template."""
    rows = explain_answers(run.task, run.answers, run.manifest.condition.length)
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
            chosen=None if row.is_tied else row.chosen,
            right=row.right,
            logp=tuple(answer.scores.logp),
        )
