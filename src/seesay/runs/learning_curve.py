"""Few-shot curves (Singh, Qasemi & Chen 2023, figures 8 and 9): what a linear probe learns from a part of the training
questions, with the spread over seeds. A seed draws the questions, the first weights and the order of batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from seesay import metrics
from seesay.metrics import ScoredItems
from seesay.models.base import Model
from seesay.probes.linear import split_of
from seesay.probes.linear_layer import Recipe, train, with_bias
from seesay.probes.vector_cache import Features, Progress
from seesay.questions import Task
from seesay.tasks.viphy.kinds import few_shot

FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
SEEDS = 5


@dataclass(frozen=True)
class Point:
    """One probe: what it learnt from, and its figures on the test questions, the task's headline first."""

    model: str
    task: str
    fraction: float
    questions: int
    seed: int
    epoch: int
    figures: Mapping[str, float]


@dataclass(frozen=True)
class Band:
    """A fraction's probes together: mean, lowest and highest over the seeds, and the sample standard deviation."""

    model: str
    task: str
    metric: str
    fraction: float
    questions: int
    seeds: int
    mean: float
    low: float
    high: float
    spread: float | None


def curve(
    encoder: Model | Features,
    splits: Mapping[str, Task],
    *,
    fractions: Sequence[float] = FRACTIONS,
    seeds: Sequence[int] = tuple(range(SEEDS)),
    recipe: Recipe | None = None,
    progress: Progress | None = None,
) -> list[Point]:
    """A point a fraction and seed, on tasks in the linear wording; progress counts trained probes.

    Texts whose vectors are not kept yet are encoded first (`Features.rows` has a progress of its own).
    """
    features = encoder if isinstance(encoder, Features) else Features(encoder)
    labels = splits["train"].labels
    val, test = (split_of(features, splits[part], labels) for part in ("val", "test"))
    points = []
    for fraction in fractions:
        for seed in seeds:
            task = few_shot(splits["train"], fraction, seed)
            some = split_of(features, task, labels)
            trained = train(some.vectors, some.gold, val.vectors, val.gold, seed=seed, recipe=recipe)
            items = ScoredItems(with_bias(test.vectors) @ trained.weights, test.gold.astype(np.float64))
            points.append(
                Point(
                    model=features.encoder.name,
                    task=splits["test"].name,
                    fraction=fraction,
                    questions=len(task.questions),
                    seed=seed,
                    epoch=trained.epoch,
                    figures={name: metrics.get(name)(items) for name in splits["test"].metrics},
                )
            )
            if progress:
                progress(1, len(fractions) * len(seeds))
    return points


def bands(points: Iterable[Point], metric: str | None = None) -> list[Band]:
    """The curve with its band: a row a model, task and fraction, in order of first appearance.

    Of the metric named, where a task has it; else of each task's headline.
    """
    groups: dict[tuple[str, str, str, float], list[Point]] = {}
    for point in points:
        name = metric or next(iter(point.figures))
        if name in point.figures:
            groups.setdefault((point.model, point.task, name, point.fraction), []).append(point)
    made = []
    for (model, task, name, fraction), members in groups.items():
        values = [point.figures[name] for point in members]
        made.append(
            Band(
                model=model,
                task=task,
                metric=name,
                fraction=fraction,
                questions=members[0].questions,
                seeds=len(values),
                mean=float(np.mean(values)),
                low=min(values),
                high=max(values),
                spread=float(np.std(values, ddof=1)) if len(values) > 1 else None,
            )
        )
    return made


def as_json(points: Sequence[Point]) -> dict[str, object]:
    """Every probe and the curves of all metrics, for a file or `--json`."""
    names = dict.fromkeys(name for point in points for name in point.figures)
    curves = [asdict(band) for metric in names for band in bands(points, metric)]
    return {"points": [asdict(point) for point in points], "curves": curves}
