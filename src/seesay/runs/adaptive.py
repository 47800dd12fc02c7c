"""Ask the questions that tell most about a model, and report its score on the whole task."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.documents import Document
from seesay.errors import UserError
from seesay.files import write_json
from seesay.metrics.base import FloatArray, IntArray
from seesay.metrics.item_response import AdaptiveScore
from seesay.models.base import Model
from seesay.progress import ProgressBars, ProgressCallback
from seesay.quantities import quantity
from seesay.questions import Task
from seesay.runs import store
from seesay.runs.ask import Settings
from seesay.runs.items import ItemModel, items_file, read_items
from seesay.runs.request import Pair, progress_title
from seesay.runs.settle import gather

ADAPTIVE = "adaptive.json"
"""The scores of the last command, in the folder of its runs."""
QUESTIONS = 100
"""Questions that are asked unless the user says how many."""
_AT_ONCE = 8
FEWEST_DRAWS = 20
"""With fewer objects an interval rests on too little."""

log = logging.getLogger(__name__)


class AdaptiveFigure(Document):
    """A model's score on a whole task, from questions that were chosen while it was asked."""

    model: str
    """The model, and how it was asked."""

    task: str
    """The task's name."""

    metric: str
    """The headline metric."""

    value: float
    """The score on all questions of the task."""

    low: float
    """Lower end of the 95 % interval."""

    high: float
    """Upper end of the 95 % interval."""

    asked: int
    """Questions that the model was asked."""

    questions: int
    """Questions that the task has."""

    spent: dict[str, float]
    """What a server reports, as in the manifest of a run."""

    signature: str
    """How the number was made, in one line."""

    def __str__(self) -> str:
        return (
            f"{self.task}: {self.model} scores {self.value:.3f} ({self.low:.3f} to "
            f"{self.high:.3f}, {self.metric}) on all {quantity(self.questions, 'question')}; "
            f"{self.asked:,} were asked."
        )


def ask_tasks_adaptively(
    pairs: Sequence[Pair], root: Path, settings: Settings, progress: ProgressBars
) -> list[AdaptiveFigure]:
    """Ask each model its task, and keep the scores in `adaptive.json`."""
    # a task without an item model is refused before the first model is asked
    item_models = {task.name: read_items(task.name) for _, task in pairs}
    for name, items in item_models.items():
        rests_on = quantity(len(items.runs), "run")
        log.info("Questions of %s are chosen by %s, made of %s.", name, items_file(name), rests_on)
    figures = []
    for model, task in pairs:
        with progress(progress_title(model, task), "questions") as advance:
            items = item_models[task.name]
            figures.append(ask_adaptively(model, task, items, root, settings, advance))
        write_json(root / ADAPTIVE, [figure.model_dump(mode="json") for figure in figures])
    return figures


def ask_adaptively(
    model: Model,
    task: Task,
    items: ItemModel,
    root: Path,
    settings: Settings,
    progress: ProgressCallback | None = None,
) -> AdaptiveFigure:
    """Ask a model questions drawn by the item model until the limit is reached."""
    limit = settings.limit or QUESTIONS
    side = gather(model, task, root, replace(settings, limit=None))
    questions = side.task.questions
    metric = metrics.get(side.task.metrics[0])
    if metric.name != items.metric:
        raise UserError(f"The item model of '{task.name}' is of {items.metric}: make it anew.")
    names = [question.object for question in questions]
    _, objects = np.unique(names, return_inverse=True)
    score = AdaptiveScore(items.parameters(questions), objects.reshape(-1), settings.seed)

    def answer(rows: IntArray) -> FloatArray:
        (stats,) = side.answer([side.part([questions[row] for row in rows])])
        if progress:
            progress(len(rows), limit)
        return metric.value(stats.sum(axis=0))

    with side.open():
        largest = int(np.bincount(objects).max())
        while score.remaining.any() and score.asked + largest <= limit:
            score.draw(min(_AT_ONCE, (limit - score.asked) // largest), answer)
        costs = store.read_manifest(side.folder / store.MANIFEST).spent
    if score.draws < min(FEWEST_DRAWS, len(score.remaining)):
        raise UserError(
            f"--adaptive with --limit {limit} asks about {quantity(score.draws, 'object')} of "
            f"'{task.name}': {FEWEST_DRAWS} or more are needed."
        )
    interval = score.interval()
    return AdaptiveFigure(
        model=side.label,
        task=task.name,
        metric=metric.name,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        asked=score.asked,
        questions=len(questions),
        spent=costs,
        signature=f"{side.manifest.signature}|adaptive:{score.asked}|models:{len(items.runs)}",
    )
