"""The ways in which `seesay probe` asks: by a slot to fill, by lettered choice, or through a linear probe."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seesay.models import CanAnswer, Options
    from seesay.probes.few_shot import Point
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
            probes = list(linear_models(features, task.name, data=data, seeds=range(seeds), progress=advance))
        yield from ((probe, task) for probe in probes)


def learning_curves(
    names: Sequence[str],
    tasks: Sequence[Task],
    options: Options,
    output: Path,
    *,
    data: Path | None,
    seeds: int,
    quiet: bool,
) -> tuple[Path, list[Point]]:
    """What probes learn from parts of the training questions: a page, its numbers beside it, and every probe."""
    from seesay.cli.output import progress_bar
    from seesay.models.encoders import load_encoder
    from seesay.probes.features import Features
    from seesay.probes.few_shot import FRACTIONS, as_json, bands, curve
    from seesay.probes.linear import ask_task
    from seesay.report import analyses
    from seesay.runs.store import write_text
    from seesay.tasks import viphy

    points: list[Point] = []
    for task in [ask_task(task) for task in tasks]:
        splits = {part: ask_task(of) for part, of in viphy.splits(task.name, data).items()}
        for name in names:
            features = Features(load_encoder(name, options))
            with progress_bar(
                f"{name} · {task.name}: {len(FRACTIONS) * seeds} probes", unit="probes", quiet=quiet
            ) as advance:
                points += curve(features, splits, seeds=range(seeds), progress=advance)
    write_text(output / "few-shot.json", json.dumps(as_json(points), indent=2))
    return analyses.write(output / "few-shot.html", "Learning from a few", analyses.few_shot(bands(points))), points
