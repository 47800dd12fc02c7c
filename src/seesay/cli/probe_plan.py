"""The ways in which `seesay probe` asks: by a slot to fill, by lettered choice, or through a linear probe."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seesay.errors import UserError
    from seesay.models import Model, ModelOptions
    from seesay.probes.vector_cache import Features
    from seesay.questions import Task
    from seesay.runs.learning_curve import Point

HOWS = ("cloze", "choice", "linear", "few-shot")
TRAINED = ("linear", "few-shot")


@dataclass(frozen=True)
class Asking:
    """How models are asked: what every way of asking needs to know."""

    how: str
    options: ModelOptions
    output: Path
    data: Path | None
    seeds: int
    quiet: bool


def checked_names(names: Sequence[str], asking: Asking) -> None:
    """Refuse a name that can be no model's before any model is asked."""
    from seesay.errors import UserError
    from seesay.models import locate
    from seesay.models.encoders import locate_encoder

    for name in names:
        if not name.strip() or not name.isprintable():
            raise UserError(f"{name!r} is no model's name: `seesay models` lists some.")
        if asking.how in TRAINED and not (asking.how == "linear" and _is_baseline(name)):
            locate_encoder(name, asking.options)
        else:
            locate(name, asking.options)


def asked_by(asking: Asking, name: str, tasks: Sequence[Task]) -> Iterator[tuple[Model, Task]]:
    """A model with each task, both as this way of asking wants them."""
    if asking.how == "linear":
        yield from _probes(asking, name, tasks)
        return
    from seesay.models import load_model
    from seesay.probes.choice import choice, worded

    model = load_model(name, asking.options)
    if asking.how == "choice":
        model, tasks = choice(model), [worded(task) for task in tasks]
    yield from ((model, task) for task in tasks)


def _probes(asking: Asking, name: str, tasks: Sequence[Task]) -> Iterator[tuple[Model, Task]]:
    """A probe a task and seed; a baseline, which needs no training, is asked the same questions."""
    from seesay.cli.output import progress_bar
    from seesay.models import load_model
    from seesay.models.encoders import load_encoder
    from seesay.probes.linear import ask_task, linear_models
    from seesay.probes.vector_cache import Features

    asked = [ask_task(task) for task in tasks]  # a task that cannot be learnt is refused before anything is encoded
    if _is_baseline(name):
        model = load_model(name, asking.options)
        yield from ((model, task) for task in asked)
        return
    features = Features(load_encoder(name, asking.options))
    for task in asked:
        with progress_bar(f"{name} · {task.name}: training texts", unit="texts", quiet=asking.quiet) as advance:
            seeds = range(asking.seeds)
            probes = list(linear_models(features, task.name, data=asking.data, seeds=seeds, progress=advance))
        yield from ((probe, task) for probe in probes)


def _is_baseline(name: str) -> bool:
    return name.startswith("baseline:")


def learning_curves(
    asking: Asking, names: Sequence[str], tasks: Sequence[Task], failed: list[UserError]
) -> list[Point]:
    """What probes learn from parts of the training questions, task by task; `few-shot.json` holds what is done so far.

    A model that fails is noted in `failed`, and the others still learn.
    """
    from seesay.errors import UserError
    from seesay.models.encoders import load_encoder
    from seesay.probes.linear import ask_task
    from seesay.probes.vector_cache import Features
    from seesay.runs.learning_curve import as_json
    from seesay.runs.store import write_text
    from seesay.tasks.viphy import kinds

    splits = [
        {part: ask_task(of) for part, of in {**kinds.training(task.name, asking.data), "test": task}.items()}
        for task in map(ask_task, tasks)  # refused before anything is read or encoded
    ]
    order = [task.name for task in tasks]
    points: list[Point] = []
    for name in names:
        try:
            features = Features(load_encoder(name, asking.options))
            for parts in splits:
                points += _curve(asking, features, parts)
                points.sort(key=lambda point: order.index(point.task))
                write_text(asking.output / "few-shot.json", json.dumps(as_json(points), indent=2))
        except UserError as error:
            failed.append(error)
    return points


def _curve(asking: Asking, features: Features, parts: dict[str, Task]) -> list[Point]:
    from seesay.cli.output import progress_bar
    from seesay.probes.linear import texts_of
    from seesay.runs.learning_curve import FRACTIONS, curve

    title = f"{features.encoder.name} · {parts['test'].name}"
    with progress_bar(f"{title}: texts", unit="texts", quiet=asking.quiet) as advance:
        features.rows([text for part in parts.values() for text in texts_of(part)], advance)
    probes = len(FRACTIONS) * asking.seeds
    with progress_bar(f"{title}: {probes} probes", unit="probes", quiet=asking.quiet) as advance:
        return curve(features, parts, seeds=range(asking.seeds), progress=advance)


def with_categories(tasks: Sequence[Task], encoder: str, options: ModelOptions) -> list[Task]:
    """The tasks about single things with a category for every thing that has none, found by a sentence encoder."""
    from seesay.errors import UserError
    from seesay.models.encoders import load_encoder
    from seesay.tasks.categories import tagged

    def single(task: Task) -> bool:
        return "object" in task.questions[0].fields

    if not any(map(single, tasks)):
        raise UserError("--categories goes with tasks about single things, such as viphy-color.")
    encode = load_encoder(encoder, options).encode
    return [tagged(task, encode) if single(task) else task for task in tasks]
