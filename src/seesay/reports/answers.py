"""What each model answered, question by question: the tallies drawn on the page and the compact
JSON embedded in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import Formatter
from typing import Any

import numpy as np

from seesay.metrics.relaxed_accuracy import top_credit
from seesay.questions import SLOT, Question, Task, Template
from seesay.reports.charts.kernel import RAMP, hue, swatch, swatches
from seesay.reports.groups import TaskRuns
from seesay.runs.chosen import accepted_labels, is_relaxed
from seesay.runs.figures import items_by_template
from seesay.runs.run import Run

MAX_SHARES = 600_000
"""Beyond this many numbers a page leaves out the probability of every option and keeps that of the
chosen one."""

MAX_TAG_VALUES = 40
"""A tag with more values than this is not offered as a filter."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The options with the highest score (several where scores tie), and what they are worth.

    `shares` has the probability of every option, where all questions have the same few.
    """

    labels: tuple[str, ...]
    probability: float
    credit: float
    shares: tuple[float, ...] = ()

    @property
    def mark(self) -> str:
        """Right, wrong, or a tie between right and wrong."""
        if self.credit == 1:
            return "1"
        return "=" if self.credit else "0"


Choices = Mapping[tuple[str, str], Choice]
"""By question and template."""


def choices(run: Run) -> Choices:
    """Every choice of a run under its length rule. A template may word the options: they are named
    by their labels."""
    task = run.task
    options = shared_options(task)
    columns = [task.labels.index(option) for option in options or ()]
    by_key: dict[tuple[str, str], Choice] = {}
    for template, items in zip(
        task.templates, items_by_template(task, run.answers, run.manifest.length), strict=True
    ):
        if not is_relaxed(task):
            most = items.gold.max(axis=1, keepdims=True)
            items = replace(items, gold=np.where(items.gold == most, items.gold, 0.0))
        probability = items.probabilities.max(axis=1).tolist()
        credit = top_credit(items).tolist()
        shares = items.probabilities[:, columns].tolist()
        for row, question in enumerate(task.questions):
            labels = tuple(task.labels[column] for column in np.flatnonzero(items.top[row]))
            by_key[question.id, template.name] = Choice(
                labels, probability[row], credit[row], tuple(shares[row])
            )
    return by_key


def shared_options(task: Task) -> tuple[str, ...] | None:
    """The options that all questions have in common, where they are few enough to be drawn one by
    one."""
    first = task.questions[0].options
    same = len(first) <= RAMP and all(question.options == first for question in task.questions)
    return first if same else None


def gold_shares(task: Task, labels: Sequence[str]) -> list[float]:
    """The share of each label among the gold answers, every question weighted equally."""
    totals: defaultdict[str, float] = defaultdict(float)
    for question in task.questions:
        for label, share in question.gold_shares.items():
            totals[label] += share
    return [totals[label] / (sum(totals.values()) or 1) for label in labels]


def choice_shares(chosen: Choices, labels: Sequence[str]) -> list[float]:
    """How often a model chose each label, over all templates; ties are shared."""
    totals: defaultdict[str, float] = defaultdict(float)
    for choice in chosen.values():
        for label in choice.labels:
            totals[label] += 1 / len(choice.labels)
    return [totals[label] / max(len(chosen), 1) for label in labels]


def with_one_answer(task: Task) -> dict[str, str]:
    """The questions that accept a single answer, and that answer."""
    accepted = {
        question.id: accepted_labels(question, relaxed=is_relaxed(task))
        for question in task.questions
    }
    return {question: labels[0] for question, labels in accepted.items() if len(labels) == 1}


def confusion(task: Task, chosen: Choices, labels: Sequence[str]) -> list[list[float] | None]:
    """Gold × chosen, each row as shares; None for a label that is never gold.

    Only of questions with one right answer: where several are accepted, a choice confuses nothing
    with any one of them.
    """
    counts = np.zeros((len(labels), len(labels)))
    row = {label: index for index, label in enumerate(labels)}
    gold = with_one_answer(task)
    for (question, _), choice in chosen.items():
        if question in gold:
            for label in choice.labels:
                counts[row[gold[question]], row[label]] += 1 / len(choice.labels)
    return [(line / line.sum()).tolist() if line.sum() else None for line in counts]


def template_pieces(template: Template) -> list[tuple[str, str | None]]:
    """A template as pairs of a text and the field that follows it; of whole sentences, the
    sentences themselves."""
    shown = template.text
    if shown == SLOT and template.words:
        shown = f"{' / '.join(template.words.values())} {SLOT}"
    return [(text, field) for text, field, _, _ in Formatter().parse(shown)]


def payload(group: TaskRuns, chosen: Sequence[Choices]) -> dict[str, Any]:
    """A task's questions and all answers, column by column; numbers in per mille, labels by their
    index."""
    task = group.task
    index = {label: i for i, label in enumerate(task.labels)}
    fields = dict.fromkeys(
        field for t in task.templates for _, field in template_pieces(t) if field
    )
    options = shared_options(task)
    with_shares = (
        len(chosen) * len(task.templates) * len(task.questions) * len(options or ()) <= MAX_SHARES
    )
    return {
        "title": group.title,
        "slot": SLOT,
        "templates": [{"name": t.name, "pieces": template_pieces(t)} for t in task.templates],
        "labels": task.labels,
        "paint": [swatch(label) for label in task.labels],
        "options": swatches(options) if options else None,
        "objects": [q.object for q in task.questions],
        "fields": {field: [q.fields.get(field, "") for q in task.questions] for field in fields},
        "gold": [_gold(q, index) for q in task.questions],
        "tags": _tags(task),
        "models": [{"label": entry.label, "hue": hue(entry.series)} for entry in group.entries],
        "answers": [
            [
                _column(task, t, by_key, index, options is not None and with_shares)
                for t in task.templates
            ]
            for by_key in chosen
        ],
    }


def _gold(question: Question, index: Mapping[str, int]) -> list[list[float]]:
    total = sum(question.gold.values()) or 1
    ranked = sorted(question.gold.items(), key=lambda item: -item[1])
    return [[index[label], round(1000 * weight / total)] for label, weight in ranked]


def _tags(task: Task) -> dict[str, dict[str, list[Any]]]:
    tags: dict[str, dict[str, list[Any]]] = {}
    for tag in dict.fromkeys(tag for question in task.questions for tag in question.tags):
        column = [question.tags.get(tag, "") for question in task.questions]
        values = list(dict.fromkeys(column))
        if 1 < len(values) <= MAX_TAG_VALUES:
            index = {value: i for i, value in enumerate(values)}
            tags[tag] = {"values": values, "of": [index[value] for value in column]}
    return tags


def _column(
    task: Task, template: Template, by_key: Choices, index: Mapping[str, int], with_shares: bool
) -> dict[str, Any]:
    # a limited run has gaps
    column = [by_key.get((question.id, template.name)) for question in task.questions]
    rows: dict[str, Any] = {
        "chosen": [
            index[choice.labels[0]] if choice and choice.labels else None for choice in column
        ],
        "p": [round(1000 * choice.probability) if choice else None for choice in column],
        "marks": "".join(choice.mark if choice else "-" for choice in column),
        "ties": {
            row: len(choice.labels)
            for row, choice in enumerate(column)
            if choice and len(choice.labels) > 1
        },
    }
    if with_shares:
        rows["shares"] = [
            [round(100 * share) for share in choice.shares] if choice else None for choice in column
        ]
    return rows
