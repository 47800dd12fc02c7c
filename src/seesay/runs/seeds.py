"""Runs that differ in a probe's seed alone, as one figure: the mean over the seeds and its
spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seesay.metrics import spread
from seesay.runs.run import Run


@dataclass(frozen=True)
class SeedSummary:
    """A figure over the seeds of one probe: mean, sample standard deviation (n − 1), lowest and
    highest."""

    model: str
    task: str
    metric: str
    slice: str | None
    seeds: int
    mean: float
    spread: float | None
    low: float
    high: float


def over_seeds(runs: Sequence[Run]) -> list[SeedSummary]:
    """One row per probe, task, metric and slice; runs of models without a seed are left out."""
    groups: dict[tuple[str, str, str, str | None], list[float]] = {}
    for run in runs:
        for figure in run.figures:
            if run.manifest.probe is not None and figure.template is None:
                key = (
                    run.manifest.probe,
                    figure.task,
                    figure.metric,
                    str(figure.slice) if figure.slice else None,
                )
                groups.setdefault(key, []).append(figure.value)
    return [
        SeedSummary(
            *key, len(values), float(np.mean(values)), spread(values), min(values), max(values)
        )
        for key, values in groups.items()
    ]


def first_seeds(runs: Sequence[Run]) -> list[Run]:
    """The runs without a probe's further seeds: one probe is compared with other models, not its
    copies."""
    return [run for run in runs if run.manifest.probe_seed in (None, 0)]
