"""Runs that differ in a seed alone, as one figure: the mean over the seeds and its spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seesay.condition import label_without_seed, without_seed
from seesay.grouping import group_by
from seesay.metrics import spread
from seesay.runs.records import Figure
from seesay.runs.run import Run


@dataclass(frozen=True)
class SeedSummary:
    """A figure over the seeds of one probe, or of one number of in-context examples: mean, sample
    standard deviation (n − 1), lowest and highest."""

    model: str
    label: str
    task: str
    metric: str
    slice: str | None
    seeds: int
    mean: float
    spread: float | None
    low: float
    high: float


def over_seeds(runs: Sequence[Run]) -> list[SeedSummary]:
    """Return one row per model, condition, task, metric and slice; runs without a seed are left
    out."""
    # figures of single templates are many, and nobody reads their spread over seeds
    rows = [
        (run, figure)
        for run in runs
        for figure in run.figures
        if run.manifest.condition.seed is not None and figure.template is None
    ]
    return [_summary(repeats) for repeats in group_by(rows, _key).values()]


def _key(row: tuple[Run, Figure]) -> tuple[object, ...]:
    run, figure = row
    # the whole condition and not its label: probes of a text and of a question are two
    condition = without_seed(run.manifest.condition)
    return run.manifest.model, condition, figure.task, figure.metric, figure.slice


def _summary(repeats: Sequence[tuple[Run, Figure]]) -> SeedSummary:
    run, first = repeats[0]
    values = [figure.value for _, figure in repeats]
    return SeedSummary(
        model=run.manifest.model,
        label=label_without_seed(run.manifest.model, run.manifest.condition),
        task=first.task,
        metric=first.metric,
        slice=str(first.slice) if first.slice else None,
        seeds=len(values),
        mean=float(np.mean(values)),
        spread=spread(values),
        low=min(values),
        high=max(values),
    )


def first_seeds(runs: Sequence[Run]) -> list[Run]:
    """Return the runs without further seeds: one probe is compared with other models, not its
    copies."""
    return [run for run in runs if run.manifest.condition.seed in (None, 0)]
