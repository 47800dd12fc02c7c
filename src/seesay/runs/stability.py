"""How stable the ranking of models is over templates: would other words have given another order?

Each template ranks the models by the headline figure. Stability is Kendall's tau-b between two
templates' rankings, the mean over all pairs of templates, with an interval from a bootstrap in
which all models and templates share the resampled objects. A template decides the ranking if the
models' order changes once it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from seesay import metrics
from seesay.defaults import RESAMPLES
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.metrics import FloatArray, Resamples
from seesay.metrics.base import ratio
from seesay.metrics.bootstrap import summarise
from seesay.runs.ask import check_resampling
from seesay.runs.figures import items_by_template, select, shared, statistics
from seesay.runs.run import Run, run_labels

_AT_ONCE = 500  # resamples


@dataclass(frozen=True)
class TemplateRanking:
    """A template's ranking: tau with the ranking over all templates, and between that and the one
    without it."""

    template: str
    best: str
    tau: float | None
    tau_without: float | None


@dataclass(frozen=True)
class Stability:
    """The mean tau between templates' rankings with its 95 % interval, and the template that
    decides the ranking: the one without which the order of the models changes most, None where it
    never changes."""

    task: str
    metric: str
    models: tuple[str, ...]
    tau: float | None
    low: float | None
    high: float | None
    n: int
    templates: tuple[TemplateRanking, ...]
    decisive: str | None


def ranking_stability(
    runs: Sequence[Run], *, resamples: int = RESAMPLES, seed: int = 0
) -> list[Stability]:
    """Of each task that at least two models were asked in at least two shared templates."""
    check_resampling(seed, resamples)
    by_task = group_by(runs, lambda run: run.task.name).values()
    rows = [_of_task(members, resamples, seed) for members in by_task if len(members) > 1]
    rankings = [row for row in rows if row is not None]
    if not rankings:
        raise UserError(
            "The stability of a ranking needs runs of two models or more, in two shared templates "
            "or more."
        )
    return rankings


def _of_task(runs: Sequence[Run], resamples: int, seed: int) -> Stability | None:
    task = runs[0].task
    templates = tuple(t for t in task.templates if all(t in run.task.templates for run in runs))
    questions, names = shared(replace(task, templates=templates), *(run.answers for run in runs))
    if len(names) < 2 or not questions:
        return None
    metric = metrics.get(task.metrics[0])
    shared_task = replace(task, questions=tuple(questions), templates=templates)
    draw = Resamples([question.object for question in questions], resamples, seed)
    figures = []
    for run in runs:
        answers = select(run.answers, questions, names)
        stats = statistics([metric], items_by_template(shared_task, answers, run.manifest.length))[
            metric.name
        ]
        figures += [(draw.sums(of_template[None]), metric.value) for of_template in stats]
    values = draw.values(figures)
    sign = -1.0 if metric.lower_is_better else 1.0
    shape = (len(runs), len(templates))
    point = sign * np.array([value for value, _ in values]).reshape(shape).T  # templates × models
    # resamples × templates × models
    drawn = sign * np.array([each for _, each in values]).reshape(*shape, -1).T
    taus = np.concatenate(
        [mean_tau(drawn[i : i + _AT_ONCE]) for i in range(0, len(drawn), _AT_ONCE)]
    )
    interval = summarise(float(mean_tau(point[None])[0]), taus)
    labels = run_labels(runs)
    whole = point.mean(axis=0)
    rankings = []
    for place, name in enumerate(names):
        without = np.delete(point, place, axis=0).mean(axis=0)
        best = labels[int(point[place].argmax())]
        rankings.append(
            TemplateRanking(name, best, _tau(point[place], whole), _tau(without, whole))
        )
    changes = [
        row for row in rankings if row.tau_without is not None and row.tau_without < 1 - 1e-12
    ]
    if changes:
        decisive = min(changes, key=lambda row: row.tau_without or 0.0).template
    else:
        decisive = None
    tau, low, high = (
        None if math.isnan(end) else end for end in (interval.value, interval.low, interval.high)
    )
    return Stability(
        task.name,
        metric.name,
        tuple(labels),
        tau,
        low,
        high,
        len(questions),
        tuple(rankings),
        decisive,
    )


def mean_tau(figures: FloatArray) -> FloatArray:
    """Kendall's tau-b between the rankings of two templates, the mean over all pairs: (…,
    templates, models) → (…).

    A template in which all models are equal ranks nothing, and its pairs are left out.
    """
    left, right = np.triu_indices(figures.shape[-1], k=1)
    order = np.sign(figures[..., left] - figures[..., right])
    ranked = np.abs(order).sum(axis=-1)
    agreement = order @ order.swapaxes(-1, -2)
    scale = np.sqrt(ranked[..., :, None] * ranked[..., None, :])
    first, second = np.triu_indices(figures.shape[-2], k=1)
    shared = agreement[..., first, second]
    scale = scale[..., first, second]
    taus = np.divide(shared, scale, out=np.zeros_like(shared), where=scale > 0)
    count = (scale > 0).sum(axis=-1)
    return ratio(taus.sum(axis=-1), count, undefined=np.nan)


def _tau(a: FloatArray, b: FloatArray) -> float | None:
    tau = float(mean_tau(np.stack([a, b])[None])[0])
    return None if math.isnan(tau) else tau
