"""From answers to figures: every metric of the task, overall, by template and by slice, plain and
calibrated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from seesay import metrics
from seesay.errors import UserError
from seesay.metrics import FloatArray, Metric, Resamples, ScoredItems
from seesay.metrics.base import BoolArray, IntArray
from seesay.metrics.bootstrap import not_degenerate, present
from seesay.metrics.scoring_rules import adjust, calibrated
from seesay.questions import Answer, Answers, Question, Slice, Task, Template
from seesay.runs.records import Figure, Manifest
from seesay.runs.run import Run

CALIBRATED = "calibrated_"
ONE_GOLD = {"accuracy", "brier", "expected_calibration_error"}
"""Metrics that compare a choice or its probability with one right answer."""
_CELLS = 1 << 19  # questions × options whose statistics are computed at once


class Subset(NamedTuple):
    """What one figure covers: a template or all (None), and a slice of the questions or all."""

    template: int | None
    part: Slice | None
    where: BoolArray


def figures(manifest: Manifest, task: Task, answers: Answers) -> list[Figure]:
    """All the figures of a run, the headline metric first."""
    return _figures(manifest, task, answers, subsets(task))


def with_crossed(run: Run, tags: Sequence[str]) -> tuple[Figure, ...]:
    """A run's figures with those of every combination of these tags' values; nested questions stay
    apart."""
    present = {figure.slice for figure in run.figures}
    chosen = [
        each
        for each in _by_slice(run.task, _with_nesting(run.task, tags))
        if each.part not in present
    ]
    return (
        *run.figures,
        *(_figures(run.manifest, run.task, run.answers, chosen) if chosen else ()),
    )


def with_metrics(run: Run, names: Sequence[str]) -> tuple[Figure, ...]:
    """A run's figures with those of further metrics, from its answers."""
    new = tuple(name for name in names if name not in {figure.metric for figure in run.figures})
    if not new:
        return run.figures
    if any(len(question.gold) > 1 for question in run.task.questions) and set(new) & ONE_GOLD:
        wanted = ", ".join(sorted(set(new) & ONE_GOLD))
        raise UserError(
            f"'{run.task.name}' has questions with several right answers: {wanted} is for one."
        )
    if any(answer.neutral for answer in run.answers):
        neutral = run.task.neutral
    else:
        neutral = {}
    task = replace(run.task, metrics=new, neutral=neutral)
    return (*run.figures, *_figures(run.manifest, task, run.answers, subsets(task)))


def subsets(task: Task) -> list[Subset]:
    """What a run has figures of: each part of the task as a whole, by template, and by every tag
    that has values."""
    if task.nested_by:
        parts = _by_slice(task, (task.nested_by,))
    else:
        parts = [Subset(None, None, _all(task))]
    chosen = list(parts)
    chosen += [part._replace(template=i) for part in parts for i in range(len(task.templates))]
    for tag in sorted(
        {tag for question in task.questions for tag in question.tags} - {task.nested_by}
    ):
        if len({question.tags.get(tag) for question in task.questions} - {None}) > 1:
            chosen += _by_slice(task, _with_nesting(task, (tag,)))
    return chosen


def slices(questions: Sequence[Question], tags: Sequence[str]) -> dict[Slice, list[int]]:
    """Each combination of the tags' values, numbers in numerical order, and the questions that have
    it."""
    rows: dict[Slice, list[int]] = {}
    for row, question in enumerate(questions):
        if all(tag in question.tags for tag in tags):
            rows.setdefault(Slice.of({tag: question.tags[tag] for tag in tags}), []).append(row)
    return dict(sorted(rows.items(), key=lambda item: item[0].order))


def _with_nesting(task: Task, tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*tags, *([task.nested_by] if task.nested_by else []))))


def _by_slice(task: Task, tags: Sequence[str]) -> list[Subset]:
    chosen = []
    for part, rows in slices(task.questions, tags).items():
        where = np.zeros(len(task.questions), dtype=np.bool_)
        where[rows] = True
        chosen.append(Subset(None, part, where))
    return chosen


def _all(task: Task) -> BoolArray:
    return np.ones(len(task.questions), dtype=np.bool_)


def items_by_template(
    task: Task, answers: Answers, length: str, *, gain: bool = False
) -> Iterator[ScoredItems]:
    """The scored items of each template in turn, which metrics take; with `gain` under the
    calibrated rule.

    One template at a time: the scores of many options by all templates would fill the memory.
    """
    by_key = {(answer.question, answer.template): answer for answer in answers}
    column = {label: i for i, label in enumerate(task.labels)}
    gold = np.zeros((len(task.questions), len(column)))
    for row, question in enumerate(task.questions):
        for label, weight in question.gold.items():
            gold[row, column[label]] = weight
    columns = {
        options: [column[label] for label in options]
        for options in {q.options for q in task.questions}
    }
    marks = {name: np.zeros(gold.shape, dtype=np.bool_) for q in task.questions for name in q.marks}
    for row, question in enumerate(task.questions):
        for name, labels in question.marks.items():
            marks[name][row, [column[label] for label in labels]] = True
    has_twins = any(question.twin for question in task.questions)

    def ranks_of(template: Template) -> IntArray:
        ranks = np.zeros(gold.shape, dtype=np.int32)
        for row, question in enumerate(task.questions):
            scores = by_key[question.id, template.name].scores
            if scores.rank is not None:
                ranks[row, columns[question.options]] = scores.rank
        return ranks

    for template in task.templates:
        values = np.full(gold.shape, np.nan)
        twins = values.copy() if has_twins else None
        for row, question in enumerate(task.questions):
            answer = by_key[question.id, template.name]
            values[row, columns[question.options]] = (
                calibrated(answer, length) if gain else adjust(answer.scores, length)
            )
            if twins is not None and (twin := by_key.get((question.twin, template.name))):
                twins[row, columns[question.options]] = adjust(twin.scores, length)
        same_text = [other for other in task.templates if other.text == template.text]
        yield ScoredItems(values, gold, reduce(_best_ranks, map(ranks_of, same_text)), marks, twins)


def _best_ranks(ours: IntArray, theirs: IntArray) -> IntArray:
    """Templates of one text differ only in the words for their labels: a label's rank is that of
    its best word.

    So the top word counts whichever of a label's words it is, as ViPhy accepts both "bigger" and
    "larger".
    """
    unknown = (ours == 0) | (theirs == 0)
    return np.where(unknown, np.maximum(ours, theirs), np.minimum(ours, theirs))


def statistics(
    chosen: Sequence[Metric[ScoredItems]], items: Iterable[ScoredItems]
) -> dict[str, FloatArray]:
    """Each metric's sufficient statistics, templates × questions × k, in one pass over the
    templates."""
    by_template = [
        [_in_blocks(metric, per_template) for metric in chosen] for per_template in items
    ]
    by_metric = zip(*by_template, strict=True)
    return {metric.name: np.stack(stats) for metric, stats in zip(chosen, by_metric, strict=True)}


def _in_blocks(metric: Metric[ScoredItems], items: ScoredItems) -> FloatArray:
    """The statistics, some questions at a time: sorting hundreds of options of all of them takes
    much memory."""
    size = max(1, _CELLS // items.scores.shape[1])
    blocks = [
        np.arange(start, min(start + size, len(items))) for start in range(0, len(items), size)
    ]
    if len(blocks) > 1:
        return np.concatenate([metric.stats(items.take(block)) for block in blocks])
    return metric.stats(items)


def _figures(
    manifest: Manifest, task: Task, answers: Answers, chosen: Sequence[Subset]
) -> list[Figure]:
    draw = Resamples(
        [question.object for question in task.questions], manifest.resamples, manifest.seed
    )
    measured = [metrics.get(name) for name in task.metrics]
    plain = statistics(measured, items_by_template(task, answers, manifest.length))
    gained: dict[str, FloatArray] = {}
    if task.neutral:
        limited = [metric for metric in measured if not metric.whole_vocabulary]
        gained = statistics(limited, items_by_template(task, answers, manifest.length, gain=True))
    first = next(items_by_template(task, answers, manifest.length))
    rows: list[Figure] = []
    for metric in measured:
        name = metric.name
        by_part = {
            subset.part: metrics.chance(metric, first.take(subset.where)) for subset in chosen
        }
        for title, stats in ((name, plain[name]), (CALIBRATED + name, gained.get(name))):
            if stats is not None:
                rows += _of_metric(title, metric, stats, chosen, by_part, draw, manifest, task)
    return rows


def _of_metric(
    name: str,
    metric: Metric[ScoredItems],
    stats: FloatArray,
    chosen: Sequence[Subset],
    chance: Mapping[Slice | None, float],
    draw: Resamples,
    manifest: Manifest,
    task: Task,
) -> list[Figure]:
    by_subset = [
        stats if s.template is None else stats[s.template : s.template + 1] for s in chosen
    ]
    sums = [draw.sums(part, subset.where) for part, subset in zip(by_subset, chosen, strict=True)]
    intervals = [
        not_degenerate(interval, present(of_subset))
        for of_subset, interval in zip(
            sums, draw.intervals([(each, metric.value) for each in sums]), strict=True
        )
    ]
    rows = []
    for subset, part, interval in zip(chosen, by_subset, intervals, strict=True):
        if np.isnan(interval.value) or np.isnan(interval.low):
            continue  # not defined here, such as a whole-vocabulary figure of a server
        over_templates = [
            float(metric.value(of_template[subset.where].sum(axis=0))) for of_template in part
        ]
        expected = chance[subset.part]
        rows.append(
            Figure(
                model=manifest.model,
                task=manifest.task,
                metric=name,
                template=None if subset.template is None else task.templates[subset.template].name,
                slice=subset.part,
                value=interval.value,
                low=interval.low,
                high=interval.high,
                n=int((metric.defined(part).any(axis=0) & subset.where).sum()),
                signature=f"{manifest.signature}|metric:{name}",
                spread=metrics.spread(over_templates),
                chance=None if np.isnan(expected) else expected,
            )
        )
    return rows


def shared(task: Task, *answers: Answers) -> tuple[list[Question], list[str]]:
    """The questions and templates that all sets of answers hold."""
    common = set.intersection(*({(a.question, a.template) for a in each} for each in answers))
    present = {template for _, template in common}
    templates = [t.name for t in task.templates if t.name in present]
    return [
        q for q in task.questions if templates and all((q.id, t) in common for t in templates)
    ], templates


def select(
    answers: Answers, questions: Sequence[Question], templates: Sequence[str]
) -> list[Answer]:
    """The answers to these questions in these templates."""
    ids = {q.id for q in questions}
    names = set(templates)
    return [a for a in answers if a.question in ids and a.template in names]
