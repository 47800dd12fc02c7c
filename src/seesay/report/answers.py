"""What each model said, question by question: the tallies drawn on the page and the compact JSON embedded in it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

import numpy as np
from markupsafe import Markup

from seesay.metrics.scoring_rules import adjust
from seesay.questions import SLOT, Answer, Question, Task, Template
from seesay.report.charts.dotplot import hue, swatch
from seesay.report.groups import Group
from seesay.runs.run import Run

FEW = 12
"""With at most this many options, the same for every question, they are drawn one by one."""

MOST_SHARES = 600_000
"""Beyond this many numbers a page leaves out the probability of every option and keeps the chosen one's."""

MOST_PARTS = 40
"""A tag with more values than this is no list to choose from."""


@dataclass(frozen=True, slots=True)
class Said:
    """A model's choice: the option with the highest score (several where scores tie), and how probability is shared."""

    labels: tuple[str, ...]
    probability: float
    credit: float
    shares: tuple[float, ...]

    @property
    def mark(self) -> str:
        """Right, wrong, or a tie between right and wrong."""
        return "1" if self.credit == 1 else "=" if self.credit else "0"


def said(answer: Answer, question: Question, length: str, *, relaxed: bool = False) -> Said | None:
    """The choice under the run's length rule; None where no option has a score. `relaxed`: any gold label is right.

    A template may word the options in its own way: they are named here by the question's labels.
    """
    scores = np.asarray(adjust(answer.scores, length), dtype=float)
    if not len(scores) or not np.isfinite(scores.max(initial=-np.inf)) or np.isnan(scores).any():
        return None
    weights = np.exp(scores - scores.max())
    shares = weights / weights.sum()
    top = np.flatnonzero(scores == scores.max())
    labels = tuple(question.options[place] for place in top)
    right = right_labels(question, relaxed=relaxed)
    credit = sum(label in right for label in labels) / len(labels)
    return Said(labels, float(shares[top[0]]), credit, tuple(shares.tolist()))


def choices(run: Run) -> dict[tuple[str, str], Said]:
    """Every choice of a run, by question and template."""
    questions = {question.id: question for question in run.task.questions}
    made: dict[tuple[str, str], Said] = {}
    for answer in run.answers:
        question = questions.get(answer.question)
        choice = question and said(answer, question, run.manifest.length, relaxed=is_relaxed(run.task))
        if choice:
            made[answer.question, answer.template] = choice
    return made


def shared_options(task: Task) -> tuple[str, ...] | None:
    """The options that all questions have in common, where they are few."""
    first = task.questions[0].options
    same = len(first) <= FEW and all(question.options == first for question in task.questions)
    return first if same else None


def swatches(labels: Sequence[str]) -> list[str]:
    """A paint for each of a few labels: colour words in their own colour, others in a quiet ramp."""
    return [swatch(label) or f"k{index % FEW}" for index, label in enumerate(labels)]


def gold_shares(task: Task, labels: Sequence[str]) -> list[float]:
    """How the gold answers are shared among labels, every question counting the same."""
    totals: defaultdict[str, float] = defaultdict(float)
    for question in task.questions:
        weight = sum(question.gold.values()) or 1
        for label, part in question.gold.items():
            totals[label] += part / weight
    return [totals[label] / (sum(totals.values()) or 1) for label in labels]


def said_shares(made: Mapping[tuple[str, str], Said], labels: Sequence[str]) -> list[float]:
    """How often a model chose each label, over all wordings; a tie is shared."""
    totals: defaultdict[str, float] = defaultdict(float)
    for choice in made.values():
        for label in choice.labels:
            totals[label] += 1 / len(choice.labels)
    return [totals[label] / max(len(made), 1) for label in labels]


def is_relaxed(task: Task) -> bool:
    """Whether the task takes any gold label for right, however its weights are."""
    return "relaxed_accuracy" in task.metrics


def right_labels(question: Question, *, relaxed: bool = False) -> list[str]:
    """The gold labels of the greatest weight: all of an ordinary question's, the commonest of a distribution's."""
    most = max(question.gold.values())
    return [label for label, weight in question.gold.items() if relaxed or weight == most]


def confusion(task: Task, made: Mapping[tuple[str, str], Said], labels: Sequence[str]) -> list[list[float] | None]:
    """Gold × chosen, each row as shares; None for a label that is never gold.

    Where several labels are right, the chosen one counts as itself if it is among them, else under the first.
    """
    counts = np.zeros((len(labels), len(labels)))
    row = {label: index for index, label in enumerate(labels)}
    right = {question.id: right_labels(question, relaxed=is_relaxed(task)) for question in task.questions}
    for (question, _), choice in made.items():
        for label in choice.labels:
            true = label if label in right[question] else right[question][0]
            counts[row[true], row[label]] += 1 / len(choice.labels)
    return [(line / line.sum()).tolist() if line.sum() else None for line in counts]


def pieces(template: Template) -> list[tuple[str, str | None]]:
    """A wording as (text, field that follows it): what the page needs to fill it in."""
    return [(text, field) for text, field, _, _ in Formatter().parse(template.text)]


def payload(group: Group, made: Sequence[Mapping[tuple[str, str], Said]]) -> dict[str, Any]:
    """A task's questions and all answers, column by column; numbers in per mille, labels by their place."""
    task = group.task
    place = {label: index for index, label in enumerate(task.labels)}
    templates = [t for t in task.templates if any(t.name in e.run.manifest.templates for e in group.entries)]
    fields = dict.fromkeys(field for t in templates for _, field in pieces(t) if field)
    options = shared_options(task)
    size = len(made) * len(templates) * len(task.questions) * len(options or ())
    return {
        "title": group.title,
        "slot": SLOT,
        "templates": [{"name": t.name, "pieces": pieces(t)} for t in templates],
        "labels": task.labels,
        "paint": [swatch(label) for label in task.labels],
        "options": swatches(options) if options else None,
        "objects": [q.object for q in task.questions],
        "fields": {field: [q.fields.get(field, "") for q in task.questions] for field in fields},
        "gold": [_gold(q, place) for q in task.questions],
        "tags": _tags(task),
        "models": [{"label": entry.label, "hue": hue(entry.lane)} for entry in group.entries],
        "answers": [
            [_column(task, t, choice, place, options is not None and size <= MOST_SHARES) for t in templates]
            for choice in made
        ],
    }


def embed(value: object) -> Markup:
    """JSON that may stand inside a script element whatever its strings hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _gold(question: Question, place: Mapping[str, int]) -> list[list[float]]:
    total = sum(question.gold.values()) or 1
    ranked = sorted(question.gold.items(), key=lambda item: -item[1])
    return [[place[label], round(1000 * weight / total)] for label, weight in ranked]


def _tags(task: Task) -> dict[str, dict[str, list[Any]]]:
    tags: dict[str, dict[str, list[Any]]] = {}
    for tag in dict.fromkeys(tag for question in task.questions for tag in question.tags):
        column = [question.tags.get(tag, "") for question in task.questions]
        values = list(dict.fromkeys(column))
        if 1 < len(values) <= MOST_PARTS:
            place = {value: index for index, value in enumerate(values)}
            tags[tag] = {"values": values, "of": [place[value] for value in column]}
    return tags


def _column(
    task: Task, template: Template, made: Mapping[tuple[str, str], Said], place: Mapping[str, int], shares: bool
) -> dict[str, Any]:
    row = [made.get((question.id, template.name)) for question in task.questions]
    column: dict[str, Any] = {
        "said": [place[choice.labels[0]] if choice else -1 for choice in row],
        "p": [round(1000 * choice.probability) if choice else 0 for choice in row],
        "marks": "".join(choice.mark if choice else "-" for choice in row),
        "ties": {index: len(choice.labels) for index, choice in enumerate(row) if choice and len(choice.labels) > 1},
    }
    if shares:
        column["shares"] = [[round(100 * s) for s in choice.shares] if choice else [] for choice in row]
    return column
