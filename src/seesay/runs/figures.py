"""From answers to figures: every metric of the task, overall, by template and by slice, plain and calibrated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seesay import metrics
from seesay.metrics import FloatArray, Metric, Resamples, ScoredItems
from seesay.metrics.base import IntArray
from seesay.metrics.scoring_rules import adjust, calibrated
from seesay.questions import Answer, Answers, Question, Task
from seesay.runs.records import Figure, Manifest

CALIBRATED = "calibrated_"


def figures(manifest: Manifest, task: Task, answers: Answers) -> list[Figure]:
    """All the figures of a run, the headline metric first."""
    plain = items_by_template(task, answers, manifest.length)
    gained = items_by_template(task, answers, manifest.length, gain=True) if task.neutral else None
    draw = Resamples([question.object for question in task.questions], manifest.resamples, manifest.seed)
    rows: list[Figure] = []
    for name in task.metrics:
        metric = metrics.get(name)
        rows += _of_metric(name, metric, plain, draw, manifest, task)
        if gained is not None and not metric.whole_vocabulary:
            rows += _of_metric(CALIBRATED + name, metric, gained, draw, manifest, task)
    return rows


def items_by_template(task: Task, answers: Answers, length: str, *, gain: bool = False) -> list[ScoredItems]:
    """The scored items of each template, which metrics take; with `gain` under the calibrated rule."""
    by_key = {(answer.question, answer.template): answer for answer in answers}
    column = {label: i for i, label in enumerate(task.labels)}
    gold = np.zeros((len(task.questions), len(column)))
    for row, question in enumerate(task.questions):
        for label, weight in question.gold.items():
            gold[row, column[label]] = weight
    tables = []
    for template in task.templates:
        scores = np.full(gold.shape, np.nan)
        ranks = np.zeros(gold.shape, dtype=np.int64)
        for row, question in enumerate(task.questions):
            answer = by_key[question.id, template.name]
            columns = [column[label] for label in question.options]
            scores[row, columns] = calibrated(answer, length) if gain else adjust(answer.scores, length)
            if answer.scores.rank is not None:
                ranks[row, columns] = answer.scores.rank
        tables.append((scores, ranks))
    best = _best_ranks([template.text for template in task.templates], [ranks for _, ranks in tables])
    return [ScoredItems(scores, gold, ranks) for (scores, _), ranks in zip(tables, best, strict=True)]


def _best_ranks(texts: Sequence[str], ranks: Sequence[IntArray]) -> list[IntArray]:
    """Templates of one text differ only in the words for their labels: a label's rank is that of its best word.

    So the top word counts whichever of a label's words it is, as ViPhy accepts both "bigger" and "larger".
    """
    best: dict[str, IntArray] = {}
    for text, ours in zip(texts, ranks, strict=True):
        theirs = best.get(text, ours)
        unknown = (ours == 0) | (theirs == 0)
        best[text] = np.where(unknown, np.maximum(ours, theirs), np.minimum(ours, theirs))
    return [best[text] for text in texts]


def statistics(metric: Metric[ScoredItems], items: Sequence[ScoredItems]) -> FloatArray:
    """A metric's sufficient statistics: templates × questions × k."""
    return np.stack([metric.stats(per_template) for per_template in items])


def slices(questions: Sequence[Question]) -> dict[str, list[int]]:
    """`tag=value` → the questions that have it; a tag with one value for all questions is left out."""
    values: dict[str, dict[str, list[int]]] = {}
    for row, question in enumerate(questions):
        for tag, value in question.tags.items():
            values.setdefault(tag, {}).setdefault(value, []).append(row)
    return {
        f"{tag}={value}": rows
        for tag, by_value in sorted(values.items())
        if len(by_value) > 1
        for value, rows in sorted(by_value.items())
    }


def _of_metric(
    name: str,
    metric: Metric[ScoredItems],
    items: Sequence[ScoredItems],
    draw: Resamples,
    manifest: Manifest,
    task: Task,
) -> list[Figure]:
    stats = statistics(metric, items)
    everything = np.ones(len(task.questions), dtype=np.bool_)
    subsets: list[tuple[str | None, str | None, FloatArray, np.ndarray[tuple[int], np.dtype[np.bool_]]]] = [
        (None, None, stats, everything)
    ]
    subsets += [(t.name, None, stats[i : i + 1], everything) for i, t in enumerate(task.templates)]
    for slice_name, members in slices(task.questions).items():
        where = np.zeros(len(task.questions), dtype=np.bool_)
        where[members] = True
        subsets.append((None, slice_name, stats, where))
    intervals = draw.intervals([(draw.sums(s, where), metric.value) for _, _, s, where in subsets])
    rows = []
    for (template, part, s, where), interval in zip(subsets, intervals, strict=True):
        if np.isnan(interval.value) or np.isnan(interval.low):
            continue  # not defined here, such as a whole-vocabulary figure of a server
        over_templates = [float(metric.value(template_stats[where].sum(axis=0))) for template_stats in s]
        expected = metrics.chance(metric, items[0].take(where))
        rows.append(
            Figure(
                model=manifest.model,
                task=manifest.task,
                metric=name,
                template=template,
                slice=part,
                value=interval.value,
                low=interval.low,
                high=interval.high,
                n=int((metric.defined(s).any(axis=0) & where).sum()),
                signature=f"{manifest.signature}|metric:{name}",
                spread=metrics.spread(over_templates),
                chance=None if np.isnan(expected) else expected,
            )
        )
    return rows


def shared(task: Task, answers: Answers, other: Answers) -> tuple[list[Question], list[str]]:
    """The questions and templates that both sets of answers hold."""
    ours = {(a.question, a.template) for a in answers} & {(a.question, a.template) for a in other}
    templates = [t.name for t in task.templates if any(template == t.name for _, template in ours)]
    return [q for q in task.questions if templates and all((q.id, t) in ours for t in templates)], templates


def select(answers: Answers, questions: Sequence[Question], templates: Sequence[str]) -> list[Answer]:
    """The answers to these questions in these templates."""
    ids, names = {q.id for q in questions}, set(templates)
    return [a for a in answers if a.question in ids and a.template in names]
