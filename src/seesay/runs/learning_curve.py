"""Learning curves (Singh, Qasemi & Chen 2023, figures 8 and 9): what a linear probe learns from a
part of the training questions, with the spread over seeds. A seed determines the questions, the
initial weights and the order of batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.data.splits import sample
from seesay.files import MOVE_AWAY, read_state, write_json
from seesay.metrics import FloatArray, ScoredItems
from seesay.probes.linear import EncodedSplit, encode_split
from seesay.probes.linear_layer import ProbeConfig, train_layer, with_bias
from seesay.probes.vector_cache import VectorCache
from seesay.progress import ProgressCallback
from seesay.questions import Task

FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
SEEDS = 5
OURS = str(ProbeConfig())
CURVES = "learning-curve.json"
"""The file of the curves in a folder of runs."""


@dataclass(frozen=True)
class Point:
    """One probe: what it was trained on and how, and its figures on the test questions, the task's
    headline first."""

    model: str
    task: str
    fraction: float
    questions: int
    seed: int
    epoch: int
    figures: Mapping[str, float]
    training: str = OURS

    @property
    def curve(self) -> tuple[str, str, str]:
        """What the probes of one curve have in common."""
        return self.model, self.task, self.training


@dataclass(frozen=True)
class _CurveFile:
    """What is read of the file; the curves in it are computed from the points."""

    points: list[Point]


@dataclass(frozen=True)
class Band:
    """The probes of one fraction: mean, lowest and highest over the seeds, and the sample standard
    deviation."""

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
    training: str = OURS

    @property
    def label(self) -> str:
        """What tables and charts call the curve: the model, and its training unless it is ours."""
        if self.training == OURS:
            return self.model
        return f"{self.model} ({self.training})"


def curve(
    vectors: VectorCache,
    splits: Mapping[str, Task],
    *,
    fractions: Sequence[float] = FRACTIONS,
    seeds: Sequence[int] = tuple(range(SEEDS)),
    config: ProbeConfig | None = None,
    progress: ProgressCallback | None = None,
) -> list[Point]:
    """One point per fraction and seed, on the splits of `linear_task(task)`; progress counts
    trained probes.

    Texts whose vectors are not cached yet are encoded first (`VectorCache.rows` has a progress of
    its own).
    """
    # of all training questions: a label that a part of them lacks can still be asked
    labels = splits["train"].labels
    config = config or ProbeConfig()
    test = encode_split(vectors, splits["test"], labels)
    # where no epoch is chosen the validation questions need no vectors
    validation = EncodedSplit(test.vectors[:0], test.gold[:0])
    if config.validation:
        validation = encode_split(vectors, splits["validation"], labels)
    points = []
    for fraction in fractions:
        for seed in seeds:
            # with one seed, a larger fraction contains all of a smaller one
            task = replace(
                splits["train"],
                questions=tuple(sample(splits["train"].questions, fraction, seed)),
            )
            train = encode_split(vectors, task, labels)
            layer = train_layer(
                *train,
                *validation,
                seed=seed,
                config=config,
            )
            scores = with_bias(test.vectors) @ layer.weights
            items = ScoredItems(
                scores,
                test.gold.astype(np.float64),
                twin=twin_scores(splits["test"], scores),
            )
            points.append(
                Point(
                    model=vectors.encoder.name,
                    task=splits["test"].name,
                    fraction=fraction,
                    questions=len(task.questions),
                    seed=seed,
                    epoch=layer.epoch,
                    figures={name: metrics.get(name)(items) for name in splits["test"].metrics},
                    training=str(config),
                )
            )
            if progress:
                progress(1, len(fractions) * len(seeds))
    return points


def twin_scores(task: Task, scores: FloatArray) -> FloatArray:
    """Return the scores of each question's twin, NaN where the task does not ask it."""
    rows = {question.id: row for row, question in enumerate(task.questions)}
    twins = np.full(scores.shape, np.nan)
    for row, question in enumerate(task.questions):
        if question.twin in rows:
            twins[row] = scores[rows[question.twin]]
    return twins


def bands(
    points: Iterable[Point],
    metric: str | None = None,
) -> list[Band]:
    """The curve with its band: one row per model, training, task and fraction, in order of first
    appearance.

    Of the given metric where a task has it, by default of each task's headline.
    """
    groups: dict[tuple[str, str, str, str, float], list[Point]] = {}
    for point in points:
        # a point holds the task's headline first
        name = metric or next(iter(point.figures))
        if name in point.figures:
            key = (point.model, point.training, point.task, name, point.fraction)
            groups.setdefault(key, []).append(point)
    rows = []
    for (model, training, task, name, fraction), members in groups.items():
        values = [point.figures[name] for point in members]
        rows.append(
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
                spread=metrics.spread(values),
                training=training,
            )
        )
    return rows


def read_points(folder: Path) -> list[Point]:
    """Return the probes that are kept in a folder; none where there is no file of them."""
    path = folder / CURVES
    return read_state(path, _CurveFile, MOVE_AWAY).points if path.is_file() else []


def keep_points(folder: Path, points: Sequence[Point]) -> None:
    """Write probes to the folder beside those that are there; those of the same model and task that
    were trained alike are replaced."""
    new = {point.curve for point in points}
    others = [point for point in read_points(folder) if point.curve not in new]
    write_json(folder / CURVES, as_json([*others, *points]))


def as_json(points: Sequence[Point]) -> dict[str, object]:
    """Every probe and the curves of all metrics, for a file or `--json`."""
    names = dict.fromkeys(name for point in points for name in point.figures)
    curves = [asdict(band) for metric in names for band in bands(points, metric)]
    return {"points": [asdict(point) for point in points], "curves": curves}
