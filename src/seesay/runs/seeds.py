"""Runs that differ in a probe's seed alone, as one figure: the mean over the seeds and its spread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seesay.metrics.spread import spread
from seesay.runs.run import Run

SEEDED = re.compile(r"(?P<model>.+) · seed (?P<seed>\d+)")


@dataclass(frozen=True)
class OverSeeds:
    """A figure over the seeds of one probe: mean, sample standard deviation (n − 1), lowest and highest."""

    model: str
    task: str
    metric: str
    slice: str | None
    seeds: int
    mean: float
    spread: float | None
    low: float
    high: float


def over_seeds(runs: Sequence[Run]) -> list[OverSeeds]:
    """A row a probe, task, metric and slice; runs of models without a seed are left out."""
    groups: dict[tuple[str, str, str, str | None], list[float]] = {}
    for run in runs:
        seeded = SEEDED.fullmatch(run.manifest.model)
        if seeded is None:
            continue
        for figure in run.figures:
            if figure.template is None:
                key = (seeded["model"], figure.task, figure.metric, figure.slice)
                groups.setdefault(key, []).append(figure.value)
    return [
        OverSeeds(*key, len(values), float(np.mean(values)), spread(values), min(values), max(values))
        for key, values in groups.items()
    ]
