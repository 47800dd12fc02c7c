"""Two runs on the same questions: is the difference real?"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.errors import UserError
from seesay.metrics import Resamples, mcnemar, paired_bootstrap, sign_flip
from seesay.questions import Question
from seesay.runs.figures import items_by_template, select, shared, slices, statistics
from seesay.runs.records import Comparison
from seesay.runs.run import Run, run_labels

log = logging.getLogger(__name__)


def compare(runs: Sequence[Run], *, resamples: int = 10_000, seed: int = 0, strict: bool = True) -> list[Comparison]:
    """Every pair of runs of one task, by each of the task's metrics. A pair that cannot be compared is logged.

    With `strict`, having nothing to compare is an error.
    """
    by_task: dict[str, dict[Path, Run]] = {}
    for run in runs:
        by_task.setdefault(run.task.name, {}).setdefault(run.folder, run)
    comparisons: list[Comparison] = []
    skipped: list[UserError] = []
    for members in by_task.values():
        named = list(zip(members.values(), run_labels(list(members.values())), strict=True))
        for (a, name_a), (b, name_b) in combinations(named, 2):
            try:
                comparisons += _pair(a, b, name_a, name_b, resamples, seed)
            except UserError as error:
                skipped.append(error)
    if not comparisons and strict:
        raise skipped[0] if skipped else UserError("No two of these runs share a task: there is nothing to compare.")
    for reason in skipped:
        log.warning("%s", reason)
    adjusted = metrics.holm([comparison.p_signflip for comparison in comparisons])
    return [c.model_copy(update={"p_holm": float(p)}) for c, p in zip(comparisons, adjusted, strict=True)]


def _pair(a: Run, b: Run, name_a: str, name_b: str, resamples: int, seed: int) -> list[Comparison]:
    if _templates(a) != _templates(b):
        raise UserError(f"{name_a} and {name_b} differ in the templates of '{a.task.name}' and are not compared.")
    questions, templates = shared(a.task, a.answers, b.answers)
    theirs = {q.id: q for q in b.task.questions}
    questions = [q for q in questions if _same(q, theirs[q.id])]
    if not questions:
        raise UserError(f"{name_a} and {name_b} share no question of '{a.task.name}' and are not compared.")
    task = replace(
        a.task,
        questions=tuple(questions),
        templates=tuple(t for t in a.task.templates if t.name in templates),
    )
    shared_metrics = {name: metrics.get(name) for name in task.metrics if name in b.task.metrics}
    by_metric_a, by_metric_b = (
        statistics(
            list(shared_metrics.values()),
            items_by_template(task, select(run.answers, questions, templates), run.manifest.length),
        )
        for run in (a, b)
    )
    objects = [question.object for question in questions]
    draw = Resamples(objects, resamples, seed)
    parts = slices(questions, (task.nested_by,)) if task.nested_by else {None: list(range(len(questions)))}
    comparisons = []
    for (name, metric), stats_a, stats_b in zip(shared_metrics.items(), by_metric_a, by_metric_b, strict=True):
        both = metric.defined(stats_a) & metric.defined(stats_b)
        stats_a, stats_b = (np.where(both[..., None], stats, 0.0) for stats in (stats_a, stats_b))
        for part, rows in parts.items():
            where = np.zeros(len(questions), dtype=np.bool_)
            where[rows] = True
            difference = paired_bootstrap(stats_a, stats_b, draw, metric.value, where=where)
            if math.isnan(difference.difference) or math.isnan(difference.low):  # not defined for one of the two
                continue
            p = sign_flip(stats_a, stats_b, objects, metric.value, where=where, flips=resamples, seed=seed)
            comparisons.append(
                Comparison(
                    task=task.name,
                    metric=name,
                    slice=part,
                    a=name_a,
                    b=name_b,
                    value_a=difference.value_a,
                    value_b=difference.value_b,
                    difference=difference.difference,
                    low=difference.low,
                    high=difference.high,
                    p_bootstrap=difference.p,
                    p_signflip=p,
                    p_holm=1.0,
                    p_mcnemar=_known(mcnemar(stats_a, stats_b, where=where)) if metric.binary else None,
                    n=int((both.any(axis=0) & where).sum()),
                    signature_a=a.manifest.signature,
                    signature_b=b.manifest.signature,
                )
            )
    return comparisons


def _known(p: float) -> float | None:
    return None if math.isnan(p) else p


def _same(a: Question, b: Question) -> bool:
    return (a.fields, a.options, a.gold, a.picture) == (b.fields, b.options, b.gold, b.picture)


def _templates(run: Run) -> list[tuple[str, str, list[tuple[str, str]]]]:
    return [(t.name, t.text, sorted(t.words.items())) for t in run.task.templates]
