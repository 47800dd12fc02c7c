"""Few-shot curves (Singh, Qasemi & Chen 2023, figures 8 and 9): what a linear probe learns from a part of the training
questions, with the spread over seeds. A seed draws the questions, the first weights and the order of batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from seesay.models.encoders import Encoder
from seesay.probes.features import Features, Progress
from seesay.probes.layer import Recipe, confidence, relaxed, train, with_bias
from seesay.probes.linear import split_of, texts_of
from seesay.questions import Task
from seesay.tasks.viphy import few_shot

FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
SEEDS = 5


@dataclass(frozen=True)
class Point:
    """One probe: what it learnt from, and how it did on the test questions."""

    model: str
    task: str
    fraction: float
    questions: int
    seed: int
    epoch: int
    relaxed_accuracy: float
    true_confidence: float


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
    encoder: Encoder | Features,
    splits: Mapping[str, Task],
    *,
    fractions: Sequence[float] = FRACTIONS,
    seeds: Sequence[int] = tuple(range(SEEDS)),
    recipe: Recipe | None = None,
    progress: Progress | None = None,
) -> list[Point]:
    """A point a fraction and seed, on tasks in the linear wording; progress counts trained probes."""
    features = encoder if isinstance(encoder, Features) else Features(encoder)
    labels = splits["train"].labels
    features.rows([text for part in ("train", "val", "test") for text in texts_of(splits[part])])
    val, test = (split_of(features, splits[part], labels) for part in ("val", "test"))
    points = []
    for fraction in fractions:
        for seed in seeds:
            task = few_shot(splits["train"], fraction, seed)
            some = split_of(features, task, labels)
            trained = train(some.vectors, some.gold, val.vectors, val.gold, seed=seed, recipe=recipe)
            logits = with_bias(test.vectors) @ trained.weights
            points.append(
                Point(
                    model=features.encoder.name,
                    task=splits["test"].name,
                    fraction=fraction,
                    questions=len(task.questions),
                    seed=seed,
                    epoch=trained.epoch,
                    relaxed_accuracy=relaxed(logits, test.gold),
                    true_confidence=confidence(logits, test.gold),
                )
            )
            if progress:
                progress(1, len(fractions) * len(seeds))
    return points


def bands(points: Iterable[Point], metric: str = "relaxed_accuracy") -> list[Band]:
    """The curve with its band: a row a model, task and fraction, in order of first appearance."""
    groups: dict[tuple[str, str, float], list[Point]] = {}
    for point in points:
        groups.setdefault((point.model, point.task, point.fraction), []).append(point)
    made = []
    for (model, task, fraction), members in groups.items():
        values = [float(getattr(point, metric)) for point in members]
        made.append(
            Band(
                model=model,
                task=task,
                metric=metric,
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
    """Every probe and both curves, for a file or `--json`."""
    curves = [asdict(band) for metric in ("relaxed_accuracy", "true_confidence") for band in bands(points, metric)]
    return {"points": [asdict(point) for point in points], "curves": curves}
