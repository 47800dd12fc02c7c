"""How stable the ranking of models is over templates: would other words have given another order?

Each template ranks the models by the headline figure. Stability is Kendall's tau-b between two
templates' rankings, the mean over all pairs of templates, with an interval from a bootstrap in
which all models and templates share the resampled objects; where objects share things, as pairs do,
resampled figures lie farther apart. A template decides the ranking if the models' order changes
once it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from seesay import metrics
from seesay.defaults import RESAMPLES
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.metrics import FloatArray, Resamples
from seesay.metrics.base import Value, ratio
from seesay.metrics.bootstrap import summarise
from seesay.quantities import listed
from seesay.runs.ask import validate_resampling
from seesay.runs.figures import items_by_template, resample_questions, shared, statistics
from seesay.runs.run import Run, run_labels

_AT_ONCE = 500  # resamples


@dataclass(frozen=True)
class TemplateRanking:
    """A template's ranking of the models; `best` names several where they tie.

    `tau` is with the ranking over all templates, `tau_without` between that and the one without it.
    """

    template: str
    best: str
    tau: float | None
    tau_without: float | None


@dataclass(frozen=True)
class Stability:
    """How stable a ranking is over templates.

    The mean tau between templates' rankings with its 95 % interval, and the template that decides
    the ranking: the one without which the order of the models changes most, None where it never
    changes.
    """

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
    runs: Sequence[Run],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Stability]:
    """Return how stable the ranking of each task is.

    A task needs at least two models that were asked in at least two shared templates.
    """
    validate_resampling(seed, resamples)
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
    """Return the stability of the ranking of a task's runs; None where they do not share enough."""
    task = runs[0].task
    templates = list(task.templates)
    for run in runs:
        templates = [template for template in templates if template in run.task.templates]
    task = replace(task, templates=tuple(templates))
    questions, names = shared(task, *(run.answers for run in runs))
    if len(names) < 2 or not questions:
        return None
    metric = metrics.get(task.metrics[0])
    shared_task = replace(task, questions=tuple(questions))
    draw = resample_questions(questions, resamples, seed)
    figures = []
    for run in runs:
        answers = run.answers.select(
            [question.id for question in questions],
            names,
        )
        items = items_by_template(
            shared_task,
            answers,
            run.manifest.condition.length,
        )
        stats = statistics([metric], items)[metric.name]
        figures += [(draw.sums(of_template[None]), metric.value) for of_template in stats]
    values = draw.values(figures)
    # a smaller figure is the better one: the order is turned
    sign = -1.0 if metric.lower_is_better else 1.0
    shape = (len(runs), len(templates))
    by_template = sign * np.array([value for value, _ in values]).reshape(shape).T
    # resamples × templates × models
    resampled = sign * np.array([drawn for _, drawn in values]).reshape(*shape, -1).T
    sums = [figure_sums for figure_sums, _ in figures]
    by_run = [sums[start : start + len(names)] for start in range(0, len(sums), len(names))]
    widening = _widening(draw, by_run, metric.value)
    resampled = by_template + widening * (resampled - by_template)
    taus = [
        mean_tau(resampled[start : start + _AT_ONCE])
        for start in range(0, len(resampled), _AT_ONCE)
    ]
    tau = float(mean_tau(by_template[None])[0])
    interval = summarise(
        tau,
        np.concatenate(taus),
    )
    labels = run_labels(runs)
    rankings = _rank_by_template(names, labels, by_template)
    return Stability(
        task.name,
        metric.name,
        tuple(labels),
        _number_or_none(interval.value),
        _number_or_none(interval.low),
        _number_or_none(interval.high),
        len(questions),
        tuple(rankings),
        _decisive(rankings),
    )


def _widening(draw: Resamples, sums: Sequence[Sequence[FloatArray]], value: Value) -> float:
    """Return by how much resampled figures are too close together where objects share things.

    The order of two models rests on their difference: the ratio is the largest of any two models
    in any template, whose sums per object are given run by run.
    """
    ratios = []
    for run_a, run_b in combinations(sums, 2):
        for sums_a, sums_b in zip(run_a, run_b, strict=True):
            ratios.append(draw.widening(sums_a, value, minus=sums_b))
    return max(ratios)


def _rank_by_template(
    names: Sequence[str],
    labels: Sequence[str],
    figures: FloatArray,
) -> list[TemplateRanking]:
    """Return the ranking of each template; figures are templates × models."""
    overall = figures.mean(axis=0)
    rankings = []
    for row, name in enumerate(names):
        without = np.delete(figures, row, axis=0).mean(axis=0)
        is_best = np.isclose(figures[row], figures[row].max(), rtol=0, atol=1e-12)
        best = listed([labels[place] for place in np.flatnonzero(is_best).tolist()])
        tau = _tau(figures[row], overall)
        tau_without = _tau(without, overall)
        rankings.append(TemplateRanking(name, best, tau, tau_without))
    return rankings


def _decisive(rankings: Sequence[TemplateRanking]) -> str | None:
    """Return the template without which the order of the models changes most, if it changes."""
    taus = {
        row.template: row.tau_without
        for row in rankings
        # rounding is no change of the order
        if row.tau_without is not None and row.tau_without < 1 - 1e-12
    }
    if not taus:
        return None
    return min(taus, key=taus.__getitem__)


def _number_or_none(value: float) -> float | None:
    if math.isnan(value):
        return None
    return value


def mean_tau(figures: FloatArray) -> FloatArray:
    """Return the mean over all pairs of templates of Kendall's tau-b between their rankings.

    Figures are (…, templates, models), and the result (…).

    A template in which all models are equal ranks nothing, and its pairs are left out.
    """
    left, right = np.triu_indices(figures.shape[-1], k=1)
    # which of each two models a template puts first; 0 where it ties them
    order = np.sign(figures[..., left] - figures[..., right])
    ranked = np.abs(order).sum(axis=-1)
    agreement = order @ order.swapaxes(-1, -2)
    scale = np.sqrt(ranked[..., :, None] * ranked[..., None, :])
    # of the matrix of templates, each two once
    first, second = np.triu_indices(figures.shape[-2], k=1)
    pair_agreement = agreement[..., first, second]
    pair_scale = scale[..., first, second]
    is_defined = pair_scale > 0
    zeros = np.zeros_like(pair_agreement)
    taus = np.divide(
        pair_agreement,
        pair_scale,
        out=zeros,
        where=is_defined,
    )
    return ratio(
        taus.sum(axis=-1),
        is_defined.sum(axis=-1),
        undefined=np.nan,
    )


def _tau(a: FloatArray, b: FloatArray) -> float | None:
    """Return Kendall's tau-b between two rankings; None where either ranks nothing."""
    return _number_or_none(float(mean_tau(np.stack([a, b])[None])[0]))
