"""Two runs on the same questions: is the difference real?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from seesay import metrics
from seesay.metrics import Resamples, mcnemar, paired_bootstrap, sign_flip
from seesay.questions import Question, UserError
from seesay.runs.figures import items_by_template, select, shared, statistics
from seesay.runs.run import Run, labels_of
from seesay.runs.schema import Comparison


def compare(runs: Sequence[Run], *, resamples: int = 10_000, seed: int = 0) -> list[Comparison]:
    """Every pair of runs of one task, by each of the task's metrics."""
    made: list[Comparison] = []
    for a, b in combinations(runs, 2):
        if a.task.name == b.task.name and a.folder != b.folder:
            made += _pair(a, b, resamples, seed)
    if not made:
        raise UserError("These runs have no task in common that two of them answered: there is nothing to compare.")
    return made


def _pair(a: Run, b: Run, resamples: int, seed: int) -> list[Comparison]:
    name_a, name_b = labels_of([a, b])
    if _wording(a) != _wording(b):
        raise UserError(
            f"{name_a} and {name_b} were asked different wordings of '{a.task.name}': run one of them again."
        )
    questions, templates = shared(a.task, a.answers, b.answers)
    theirs = {q.id: q for q in b.task.questions}
    questions = [q for q in questions if _same(q, theirs[q.id])]
    if not questions:
        raise UserError(f"{name_a} and {name_b} share no question of '{a.task.name}': there is nothing to compare.")
    task = replace(
        a.task,
        questions=tuple(questions),
        templates=tuple(t for t in a.task.templates if t.name in templates),
    )
    items_a, items_b = (
        items_by_template(task, select(run.answers, questions, templates), run.manifest.length) for run in (a, b)
    )
    objects = [question.object for question in questions]
    draw = Resamples(objects, resamples, seed)
    made = []
    for name in task.metrics:
        metric = metrics.get(name)
        stats_a, stats_b = statistics(metric, items_a), statistics(metric, items_b)
        difference = paired_bootstrap(stats_a, stats_b, draw, metric.value)
        if math.isnan(difference.difference) or math.isnan(difference.low):  # not defined for one of the two
            continue
        made.append(
            Comparison(
                task=task.name,
                metric=name,
                a=name_a,
                b=name_b,
                value_a=difference.value_a,
                value_b=difference.value_b,
                difference=difference.difference,
                low=difference.low,
                high=difference.high,
                p_bootstrap=difference.p,
                p_signflip=sign_flip(stats_a, stats_b, objects, metric.value, flips=resamples, seed=seed),
                p_mcnemar=mcnemar(stats_a, stats_b) if metric.binary else None,
                n=len(questions),
                signature_a=a.manifest.signature,
                signature_b=b.manifest.signature,
            )
        )
    return made


def _same(a: Question, b: Question) -> bool:
    return (a.fields, a.options, a.gold, a.picture) == (b.fields, b.options, b.gold, b.picture)


def _wording(run: Run) -> list[tuple[str, str, list[tuple[str, str]]]]:
    return [(t.name, t.text, sorted(t.words.items())) for t in run.task.templates]
