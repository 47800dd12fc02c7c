"""Questions with lettered options, as harnesses that let a model pick a letter take them."""

from __future__ import annotations

import json
import string
from dataclasses import replace
from typing import Any

from seesay.errors import UserError
from seesay.export import right_labels
from seesay.models.multiple_choice import letter
from seesay.models.multiple_choice import question as question_text
from seesay.questions import Question, Task, Template, resolve_separator

LETTERS = string.ascii_uppercase


def choice_templates(task: Task) -> tuple[Template, ...]:
    """Return the templates to ask where options are shown: those for that, if there are any."""
    return task.choice_templates or task.templates


def refuse_many_options(task: Task, target: str) -> None:
    """Refuse a task that has a question with more options than there are letters."""
    widest = max(len(question.options) for question in task.questions)
    if widest > len(LETTERS):
        raise UserError(
            f"{target} cannot express '{task.name}': it letters options, and a question here has "
            f"{widest}."
        )


def lettered_row(
    task: Task,
    template: Template,
    question: Question,
    rotation: int = 0,
) -> dict[str, Any]:
    """Return a question in one template, its right options as letters.

    The options are shown beginning with that of number `rotation`.
    """
    options = question.options[rotation:] + question.options[:rotation]
    prompt = template.ask(replace(question, options=options))
    places = sorted(options.index(label) for label in right_labels(task, question))
    name = f"{question.id}/{template.name}"
    if rotation:
        name = f"{name}/{rotation}"
    # A sample is a file of inspect's log: one whose name holds NUL is not found in it again.
    if not name.isprintable():
        name = json.dumps(name)
    return {
        "id": name,
        "input": question_text(resolve_separator(prompt.text, None)),
        "choices": list(prompt.options),
        # inspect takes a text of several letters as targets of which any one is right.
        "target": "".join(letter(place).upper() for place in places),
        "metadata": {
            "question": question.id,
            "template": template.name,
            "object": question.object,
            "right": [prompt.options[place] for place in places],
            # Apart from the others: a tag may be called as one of these.
            "tags": dict(question.tags),
        },
    }
