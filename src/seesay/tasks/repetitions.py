"""Rows of one task that ask the same, and objects of one task that seem to be one.

Rows that ask the same count several times, and may contradict each other; an object written in two
ways counts as two, which may make intervals too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence

from seesay.grouping import alike, group_by
from seesay.quantities import listed
from seesay.questions import Question, Task


def repeated_questions(task: Task) -> list[Sequence[Question]]:
    """Return the questions that ask the same, those with different answers first."""
    template = task.templates[0]
    groups = group_by(
        task.questions,
        lambda question: (template.ask(question).text, question.options, question.picture),
    )
    repeated = [group for group in groups.values() if len(group) > 1]
    return sorted(repeated, key=lambda group: len(_answers(group)) == 1)


def describe_repetition(group: Sequence[Question]) -> str:
    """Return in words which rows ask the same, and whether they agree about the answer."""
    names = ", ".join(question.id for question in group)
    answers = _answers(group)
    verdict = f"with the answer '{answers[0]}'"
    if len(answers) > 1:
        verdict = f"with different answers ({', '.join(answers)})"
    return f"the rows {names} ask the same, {verdict}"


def describe_objects_alike(task: Task) -> list[str]:
    """Return in words which objects seem to be one, each with the first row that is about it."""
    rows: dict[str, str] = {}
    for question in task.questions:
        # without an object of its own a question stands for itself
        if question.object != question.id:
            rows.setdefault(question.object, question.id)
    descriptions = []
    for spellings in alike(rows):
        names = listed([f"'{name}' (row {rows[name]})" for name in spellings])
        descriptions.append(
            f"the objects {names} differ only in capitals or blanks: they count as "
            f"{len(spellings)} in intervals"
        )
    return descriptions


def _answers(group: Sequence[Question]) -> list[str]:
    """Return the different answers of questions, in their order."""
    return list(dict.fromkeys(" or ".join(question.gold) for question in group))
