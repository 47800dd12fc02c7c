"""The ways in which `seesay probe` asks: by a slot to fill, by lettered choice, or through a linear probe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seesay.models import CanAnswer, Options
    from seesay.questions import Task

HOWS = ("cloze", "choice", "linear", "few-shot")


def asked_by(
    how: str,
    name: str,
    load: Callable[[], CanAnswer],
    tasks: Sequence[Task],
    options: Options,
    *,
    data: Path | None,
    seeds: int,
    quiet: bool,
) -> Iterator[tuple[CanAnswer, Task]]:
    """Each model with each task, both as this way of asking wants them."""
    if how == "linear":
        yield from _probes(name, load, tasks, options, data, seeds, quiet)
        return
    model = load()
    if how == "cloze":
        yield from ((model, task) for task in tasks)
        return
    from seesay.probes.choice import choice, worded

    chooser = choice(model)
    yield from ((chooser, worded(task)) for task in tasks)


def _probes(
    name: str,
    load: Callable[[], CanAnswer],
    tasks: Sequence[Task],
    options: Options,
    data: Path | None,
    seeds: int,
    quiet: bool,
) -> Iterator[tuple[CanAnswer, Task]]:
    """A probe a task and seed; a baseline, which needs no training, is asked the same questions."""
    from seesay.cli.output import progress_bar
    from seesay.models.encoders import load_encoder
    from seesay.probes.features import Features
    from seesay.probes.linear import ask_task, linear_models

    asked = [ask_task(task) for task in tasks]  # a task that cannot be learnt is refused before anything is encoded
    if name.startswith("baseline:"):
        model = load()
        yield from ((model, task) for task in asked)
        return
    features = Features(load_encoder(name, options))
    for task in asked:
        with progress_bar(f"{name} · {task.name}: training texts", unit="texts", quiet=quiet) as advance:
            probes = list(
                linear_models(
                    name, options, task.name, data=data, seeds=range(seeds), progress=advance, features=features
                )
            )
        yield from ((probe, task) for probe in probes)
