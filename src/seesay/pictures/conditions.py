"""Paired tests within one run: is a model worse where prior and picture disagree?

The same things are shown in every condition, so that conditions are compared thing by thing: a
thing's answers in one condition are exchanged with its answers in the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seesay import metrics
from seesay.metrics import FloatArray, Resamples, sign_flip
from seesay.metrics.bootstrap import too_few
from seesay.metrics.paired import Difference, paired_bootstrap
from seesay.pictures.questions import BLIND, HERE, USUALLY
from seesay.questions import THINGS_JOINT, Slice
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.run import Run

# a type of question in a condition (blind questions have none), and what it is compared with
_PAIRS = (
    ((HERE, "counterfactual"), (HERE, "typical")),
    ((HERE, "gray"), (HERE, "typical")),
    ((USUALLY, "counterfactual"), (USUALLY, "typical")),
    ((USUALLY, "counterfactual"), (BLIND, "")),
    ((HERE, "reversed"), (HERE, "world")),
    ((HERE, "equal"), (HERE, "world")),
    ((USUALLY, "reversed"), (USUALLY, "world")),
    ((USUALLY, "reversed"), (BLIND, "")),
)


def _tags(question_type: str, condition: str) -> dict[str, str]:
    if not condition:
        return {"question_type": question_type}
    return {"question_type": question_type, "condition": condition}


CONTRASTS = tuple((_tags(*first), _tags(*second)) for first, second in _PAIRS)
"""Each condition with the one that it is compared with."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The headline figure in two conditions, on the things that are in both."""

    a: Slice
    b: Slice
    between: Difference
    p: float
    """By sign flips: a thing's answers in one condition change places with those in the other."""
    p_holm: float
    """Corrected for the number of contrasts."""
    n: int
    """The number of objects: things, or pairs of them."""
    too_few: bool
    """Whether these are fewer than ten."""


def contrasts(run: Run) -> list[Contrast]:
    """Return every contrast that the run has questions for; p-values are by sign flips."""
    metric = metrics.get(run.task.metrics[0])
    items = items_by_template(run.task, run.answers, run.manifest.condition.length)
    stats = statistics([metric], items)[metric.name]
    count = run.manifest.resamples
    seed = run.manifest.seed
    result = []
    for first, second in CONTRASTS:
        first_rows = _by_object(run, stats, first)
        second_rows = _by_object(run, stats, second)
        objects = sorted(set(first_rows) & set(second_rows))
        if len(objects) < 2:
            continue
        a = np.stack([first_rows[name] for name in objects], axis=1)
        b = np.stack([second_rows[name] for name in objects], axis=1)
        draw = Resamples(objects, count, seed, [name.split(THINGS_JOINT) for name in objects])
        sums = draw.sums(a)
        object_count = draw.count_objects(sums)
        contrast = Contrast(
            a=Slice.of(first),
            b=Slice.of(second),
            between=paired_bootstrap(a, b, draw, metric.value, most=metric.most),
            p=sign_flip(
                a,
                b,
                objects,
                metric.value,
                flips=count,
                seed=seed,
                widening=draw.widening(sums, metric.value, minus=draw.sums(b)),
            ),
            p_holm=np.nan,
            n=len(objects),
            too_few=too_few(object_count),
        )
        result.append(contrast)
    if not result:
        return []
    # Holm's correction needs all p-values at once
    adjusted = metrics.holm([contrast.p for contrast in result]).tolist()
    pairs = zip(result, adjusted, strict=True)
    return [replace(contrast, p_holm=p_holm) for contrast, p_holm in pairs]


def _by_object(run: Run, stats: FloatArray, tags: dict[str, str]) -> dict[str, FloatArray]:
    """Return the statistics (templates, k) of every object's questions with these tags.

    They are means over an object's questions, so that objects weigh the same.
    """
    rows: dict[str, list[int]] = {}
    for row, question in enumerate(run.task.questions):
        if tags.items() <= question.tags.items():
            rows.setdefault(question.object, []).append(row)
    return {name: stats[:, places].mean(axis=1) for name, places in rows.items()}
