"""Categories of things that a task does not say, given by a sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seesay.errors import UserError
from seesay.models import ModelOptions
from seesay.models.encoders import load_encoder
from seesay.questions import Task


def add_categories(
    tasks: Sequence[Task],
    encoder: str,
    options: ModelOptions,
) -> list[Task]:
    """Return the tasks, those about single things with a category for each thing that has none."""
    from seesay.tasks import categories

    if not any(map(_is_about_single_things, tasks)):
        raise UserError("--categories goes with tasks about single things, such as viphy-color.")
    # a revision is the asked model's, not the encoder's
    encode = load_encoder(encoder, replace(options, revision=None)).encode
    return [
        categories.add_categories(task, encode) if _is_about_single_things(task) else task
        for task in tasks
    ]


def _is_about_single_things(task: Task) -> bool:
    return "object" in task.questions[0].fields
