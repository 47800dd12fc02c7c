"""What each model answered, question by question: the tallies drawn on the page and the compact
JSON embedded in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import Formatter
from typing import Any, NamedTuple

import numpy as np

from seesay.data.pictures import open_thumbnail
from seesay.metrics.base import BoolArray
from seesay.metrics.relaxed_accuracy import top_credit
from seesay.quantities import quantity
from seesay.questions import SLOT, Question, Task, Template
from seesay.reports.charts.kernel import RAMP, hue, swatch, swatches
from seesay.reports.groups import TaskRuns
from seesay.runs.chosen import accepted_labels, is_relaxed
from seesay.runs.figures import items_by_template
from seesay.runs.run import Run

MAX_SHARES = 600_000
"""Beyond this many numbers a page leaves out the probability of every option and keeps that of the
chosen one."""

MAX_PICTURES = 300
"""Thumbnails on a page, shared by its tasks: 3 MB at most."""

BIAS = 0.2
"""A place among the options that is chosen so much more often than it is right is a bias."""

MAX_TAG_VALUES = 40
"""A tag with more values than this is not offered as a filter."""


class Choice(NamedTuple):
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
        if self.credit == 0:
            return "0"
        return "="


Choices = Mapping[tuple[str, str], Choice]
"""By question and template."""


def choices(run: Run) -> Choices:
    """Return every choice of a run under its length rule.

    A template may word the options: they are named by their labels.
    """
    task = run.task
    options = shared_options(task) or ()
    # probabilities have a column per label of the task, shares one per option
    columns = [task.labels.index(option) for option in options]
    by_key: dict[tuple[str, str], Choice] = {}
    length = run.manifest.condition.length
    items_of_templates = items_by_template(task, run.answers, length)
    for template, items in zip(task.templates, items_of_templates, strict=True):
        # A choice is right if it is the likeliest gold label. Only a relaxed task, whose metric
        # says so, accepts every label that has a share of the gold.
        if not is_relaxed(task):
            most = items.gold.max(axis=1, keepdims=True)
            likeliest_gold = np.where(
                items.gold == most,
                items.gold,
                0.0,
            )
            items = replace(items, gold=likeliest_gold)
        probabilities = items.probabilities.max(axis=1).tolist()
        credit = top_credit(items).tolist()
        shares = items.probabilities[:, columns].tolist()
        rows = zip(
            task.questions,
            _top_labels(items.top, task.labels),
            probabilities,
            credit,
            map(tuple, shares),
            strict=True,
        )
        for question, *choice in rows:
            by_key[question.id, template.name] = Choice(*choice)
    return by_key


def _top_labels(is_top: BoolArray, labels: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the labels of the highest score in each row."""
    alone = [(label,) for label in labels]
    top_labels = [alone[column] for column in is_top.argmax(axis=1).tolist()]
    # ties, and rows without an answer; a call for each row would take most of the time of a page
    for row in np.flatnonzero(is_top.sum(axis=1) != 1).tolist():
        top_labels[row] = tuple(labels[column] for column in np.flatnonzero(is_top[row]).tolist())
    return top_labels


def shared_options(task: Task) -> tuple[str, ...] | None:
    """Return the options that all questions have in common.

    None where there are none, or too many to be drawn one by one.
    """
    # compared with the first: options in another order are other options, as their scores are
    first = task.questions[0].options
    if len(first) > RAMP:
        return None
    if any(question.options != first for question in task.questions):
        return None
    return first


def gold_shares(task: Task, labels: Sequence[str]) -> list[float]:
    """Return the share of each label among the gold answers, every question weighted equally."""
    totals: defaultdict[str, float] = defaultdict(float)
    for question in task.questions:
        for label, share in question.gold_shares.items():
            totals[label] += share
    total = sum(totals.values()) or 1
    return [totals[label] / total for label in labels]


def choice_shares(by_key: Choices, labels: Sequence[str]) -> list[float]:
    """Return how often a model chose each label, over all templates; ties are shared."""
    totals: defaultdict[str, float] = defaultdict(float)
    for choice in by_key.values():
        for label in choice.labels:
            totals[label] += 1 / len(choice.labels)
    count = max(len(by_key), 1)
    return [totals[label] / count for label in labels]


def with_one_answer(task: Task) -> dict[str, str]:
    """Return the questions that accept a single answer, and that answer."""
    relaxed = is_relaxed(task)
    answers = {}
    for question in task.questions:
        labels = accepted_labels(question, relaxed=relaxed)
        if len(labels) == 1:
            answers[question.id] = labels[0]
    return answers


def confusion(task: Task, by_key: Choices, labels: Sequence[str]) -> list[list[float] | None]:
    """Return gold × chosen, each row as shares; None for a label that is never gold.

    Only of questions with one right answer: where several are accepted, a choice confuses nothing
    with any one of them.
    """
    counts = np.zeros((len(labels), len(labels)))
    index = {label: place for place, label in enumerate(labels)}
    gold = with_one_answer(task)
    for (question, _), choice in by_key.items():
        if question not in gold:
            continue
        row = index[gold[question]]
        for label in choice.labels:
            counts[row, index[label]] += 1 / len(choice.labels)
    return [(line / line.sum()).tolist() if line.sum() else None for line in counts]


@dataclass(frozen=True, slots=True)
class PlaceBias:
    """A place among the options, how often it is chosen, and in how many questions it is right."""

    place: str
    chosen: float
    right: float


def place_bias(task: Task, by_key: Choices) -> PlaceBias | None:
    """Return the place that a model chooses far more often than it is right.

    That is at least BIAS more often, and by three standard errors over questions; None where there
    is no such place, or where questions have differently many options. Where one place is right
    throughout, a preference for another cannot be told from mistakes.
    """
    sizes = {len(question.options) for question in task.questions}
    if len(sizes) != 1 or len(task.questions) < 2:
        return None
    relaxed = is_relaxed(task)
    # questions x places
    chosen = np.zeros((len(task.questions), sizes.pop()))
    right = np.zeros_like(chosen)
    for row, question in enumerate(task.questions):
        places = {option: place for place, option in enumerate(question.options)}
        for template in task.templates:
            # without an answer no place is chosen
            labels = by_key[question.id, template.name].labels
            for label in labels:
                chosen[row, places[label]] += 1 / (len(task.templates) * len(labels))
        # right as the score counts it, not by how much of the gold it is
        for label in accepted_labels(question, relaxed=relaxed):
            right[row, places[label]] = 1
    if right.mean(axis=0).max() == 1:
        return None
    excess = chosen - right
    errors = excess.std(axis=0, ddof=1) / np.sqrt(len(excess))
    means = excess.mean(axis=0)
    place = int(means.argmax())
    if means[place] < BIAS or means[place] < 3 * errors[place]:
        return None
    options = shared_options(task)
    name = f"'{options[place]}'" if options else f"option {place + 1} of {chosen.shape[1]}"
    return PlaceBias(
        name,
        float(chosen[:, place].mean()),
        float(right[:, place].mean()),
    )


def template_pieces(template: Template) -> list[tuple[str, str | None]]:
    """Return a template as pairs of a text and the field that follows it.

    Of whole sentences, the sentences themselves are returned.
    """
    # a template that is nothing but its slot has the sentences as its options
    text_of_template = template.text
    if text_of_template == SLOT and template.words:
        text_of_template = f"{' / '.join(template.words.values())} {SLOT}"
    return [(text, field) for text, field, _, _ in Formatter().parse(text_of_template)]


def payload(
    group: TaskRuns, choices_of_runs: Sequence[Choices], most_pictures: int
) -> dict[str, Any]:
    """Return a task's questions and all answers, column by column.

    Numbers are in per mille, and labels are given by their index.
    """
    task = group.task
    questions = task.questions
    label_index = {label: place for place, label in enumerate(task.labels)}
    relaxed = is_relaxed(task)
    pieces = {template.name: template_pieces(template) for template in task.templates}
    fields = dict.fromkeys(field for pairs in pieces.values() for _, field in pairs if field)
    options = shared_options(task) or ()
    # a word wears the color of its part of the bar
    paint = dict(zip(options, swatches(options), strict=True))
    number_of_shares = len(choices_of_runs) * len(task.templates) * len(questions) * len(options)
    # a page of a large task must still open in a browser
    with_shares = bool(options) and number_of_shares <= MAX_SHARES
    answers = []
    for by_key in choices_of_runs:
        columns = []
        for template in task.templates:
            # a limited run has gaps
            column = [by_key.get((question.id, template.name)) for question in questions]
            columns.append(_column(column, label_index, with_shares))
        answers.append(columns)
    return {
        "title": group.title,
        "slot": SLOT,
        "templates": [{"name": name, "pieces": pairs} for name, pairs in pieces.items()],
        "labels": task.labels,
        "paint": [paint.get(label) or swatch(label) for label in task.labels],
        "options": [label_index[option] for option in options],
        "objects": [question.object for question in questions],
        "fields": {field: _field_column(questions, field) for field in fields},
        "pictures": _pictures(questions, most_pictures),
        "gold": [_gold(question, label_index, relaxed=relaxed) for question in questions],
        "tags": _tags(task),
        "models": [{"label": entry.label, "hue": hue(entry.series)} for entry in group.entries],
        "answers": answers,
    }


def has_pictures(task: Task) -> bool:
    """Return whether any question of the task comes with a picture."""
    return any(question.picture for question in task.questions)


def _pictures(questions: Sequence[Question], most: int) -> dict[str, Any] | None:
    """Return thumbnails of the first pictures, for every question the index of its own, and what is
    not shown; None for questions without pictures.
    """
    paths = [question.picture for question in questions]
    distinct = list(dict.fromkeys(path for path in paths if path))
    if not distinct:
        return None
    addresses: list[str] = []
    places: dict[str | None, int] = {}
    for path in distinct[:most]:
        address = open_thumbnail(path)
        if address is None:
            continue
        places[path] = len(addresses)
        addresses.append(address)
    tried = min(len(distinct), most)
    notes = []
    if len(distinct) > most:
        notes.append(f"The first {most:,} of {quantity(len(distinct), 'picture')} are shown.")
    if len(addresses) < tried:
        missing = quantity(tried - len(addresses), "picture")
        notes.append(f"{missing} could not be opened where this page was made.")
    return {
        "addresses": addresses,
        "of": [places.get(path) for path in paths],
        "note": " ".join(notes),
    }


def _field_column(questions: Sequence[Question], field: str) -> list[str]:
    """Return what every question has in a field of the templates."""
    return [question.fields.get(field, "") for question in questions]


def _gold(
    question: Question, label_index: Mapping[str, int], *, relaxed: bool
) -> list[tuple[int, bool]]:
    """Return the gold labels by their index, the likeliest first, and whether each is accepted as
    the answer."""
    accepted = accepted_labels(question, relaxed=relaxed)
    ranked = sorted(question.gold, key=lambda label: -question.gold[label])
    return [(label_index[label], label in accepted) for label in ranked]


def _tags(task: Task) -> dict[str, dict[str, list[Any]]]:
    """Return the tags to filter by: their values, and for every question the index of its own."""
    tags: dict[str, dict[str, list[Any]]] = {}
    names = dict.fromkeys(tag for question in task.questions for tag in question.tags)
    for tag in names:
        column = [question.tags.get(tag, "") for question in task.questions]
        values = list(dict.fromkeys(column))
        # one value filters nothing
        if 1 < len(values) <= MAX_TAG_VALUES:
            index = {value: place for place, value in enumerate(values)}
            tags[tag] = {
                "values": values,
                "of": [index[value] for value in column],
            }
    return tags


def _column(
    column: Sequence[Choice | None], label_index: Mapping[str, int], with_shares: bool
) -> dict[str, Any]:
    """Return a run's answers to one template, as the page's script reads them."""
    answers = {row: choice for row, choice in enumerate(column) if choice is not None}
    several = {row: choice.labels for row, choice in answers.items() if len(choice.labels) > 1}

    def fill(values: Iterable[Any]) -> list[Any]:
        """Return the values of answers in the rows of the questions."""
        if len(answers) == len(column):
            return list(values)
        by_row = dict(zip(answers, values, strict=True))
        return [by_row.get(row) for row in range(len(column))]

    first_labels = (choice.labels[0] if choice.labels else None for choice in answers.values())
    rows: dict[str, Any] = {
        "chosen": fill(None if label is None else label_index[label] for label in first_labels),
        "p": fill(_parts([choice.probability for choice in answers.values()], 1000)),
        "marks": "".join("-" if choice is None else choice.mark for choice in column),
        "ties": {row: len(labels) for row, labels in several.items()},
    }
    if with_shares:
        rows["shares"] = fill(_parts([choice.shares for choice in answers.values()], 100))
        rows["tops"] = {
            row: [label_index[label] for label in labels] for row, labels in several.items()
        }
    return rows


def _parts(shares: Sequence[Any], whole: int) -> list[Any]:
    """Return shares in whole parts of so many, rounded half to even as by `round`."""
    parts: list[Any] = np.rint(whole * np.array(shares)).astype(int).tolist()
    return parts
