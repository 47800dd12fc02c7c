"""Paired tests within one run: is a model worse where prior and picture disagree, and what does the
picture do?

The same things are shown in every condition, so that conditions are compared thing by thing: a
thing's answers in one condition are exchanged with its answers in the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seesay import metrics
from seesay.metrics import FloatArray, Resamples, sign_flip
from seesay.metrics.paired import Difference, paired_bootstrap
from seesay.questions import Slice
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.run import Run

CONTRASTS = (
    ({"asked": "here", "condition": "counterfactual"}, {"asked": "here", "condition": "typical"}),
    ({"asked": "here", "condition": "gray"}, {"asked": "here", "condition": "typical"}),
    (
        {"asked": "usually", "condition": "counterfactual"},
        {"asked": "usually", "condition": "typical"},
    ),
    ({"asked": "usually", "condition": "counterfactual"}, {"asked": "blind"}),
    ({"asked": "here", "condition": "reversed"}, {"asked": "here", "condition": "world"}),
    ({"asked": "here", "condition": "equal"}, {"asked": "here", "condition": "world"}),
    ({"asked": "usually", "condition": "reversed"}, {"asked": "usually", "condition": "world"}),
    ({"asked": "usually", "condition": "reversed"}, {"asked": "blind"}),
)
"""Each condition with the one that it is compared with."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The headline figure in two conditions, on the things that are in both, and how sure it is
    that they differ."""

    a: Slice
    b: Slice
    between: Difference
    p: float
    p_holm: float
    n: int


def contrasts(run: Run) -> list[Contrast]:
    """Every contrast that the run has questions for; p-values by sign flips, corrected for their
    number (Holm)."""
    task = run.task
    metric = metrics.get(run.task.metrics[0])
    items = items_by_template(task, run.answers, run.manifest.length)
    stats = statistics([metric], items)[metric.name]
    tested = []
    for pair in CONTRASTS:
        by_object = [_by_object(run, stats, tags) for tags in pair]
        things = sorted(set(by_object[0]) & set(by_object[1]))
        if len(things) < 2:
            continue
        a, b = (np.stack([rows[thing] for thing in things], axis=1) for rows in by_object)
        resamples = Resamples(things, run.manifest.resamples, run.manifest.seed)
        between = paired_bootstrap(a, b, resamples, metric.value)
        p = sign_flip(
            a, b, things, metric.value, flips=run.manifest.resamples, seed=run.manifest.seed
        )
        tested.append((pair, between, p, len(things)))
    if tested:
        adjusted = metrics.holm([p for *_, p, _ in tested]).tolist()
    else:
        adjusted = list[float]()
    return [
        Contrast(Slice.of(a), Slice.of(b), between, p, corrected, n)
        for ((a, b), between, p, n), corrected in zip(tested, adjusted, strict=True)
    ]


def _by_object(run: Run, stats: FloatArray, tags: dict[str, str]) -> dict[str, FloatArray]:
    """The statistics (templates, k) of every object's questions with these tags, as means: objects
    weigh the same."""
    rows: dict[str, list[int]] = {}
    for row, question in enumerate(run.task.questions):
        if all(question.tags.get(tag) == value for tag, value in tags.items()):
            rows.setdefault(question.object, []).append(row)
    return {name: stats[:, places].mean(axis=1) for name, places in rows.items()}
