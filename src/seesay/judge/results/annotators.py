"""What each participant's answers look like: competence, straight-lining, speed.

The columns are there to be looked at; none of them excludes anybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import isnan
from typing import Any

import numpy as np

from seesay.judge.results.competence import DawidSkene, dawid_skene
from seesay.judge.results.quality import Judgement, by_item, by_participant, median_seconds
from seesay.judge.study import Study
from seesay.quantities import quantity

ANNOTATOR_COLUMNS = ("competence", "longest_run", "same_share", "fast_share", "hasty_answers")
FEWEST_ANNOTATORS = 3
"""Of two who disagree nobody can tell which of them is right: competence and label stay empty."""
HASTY_SECONDS = 0.3
"""Nobody reads a question and answers it in less time than this."""
_SMOOTHING = 0.5
"""Answers added to each cell of a confusion matrix: most people give a few dozen."""
_MAX_LABELS = 50
"""Of more labels no confusion matrix can be estimated from a few dozen answers: competence and
label stay empty."""
_FAST = 1 / 3
"""An answer is fast that took less than this part of the item's median time."""


def annotator_columns(study: Study, judgements: Sequence[Judgement]) -> dict[int, dict[str, Any]]:
    """Return `ANNOTATOR_COLUMNS` for each participant with a measured judgement.

    `competence`: of labels the probability of a true one (Dawid & Skene 1979), of ratings the
    correlation with the mean of the others.
    `longest_run`: answers in a row that are the same.
    `same_share`: the share of their most frequent answer.
    `fast_share`: of answers that took less than a third of the item's median time.
    `hasty_answers`: how many took less than `HASTY_SECONDS`.
    """
    measured = [judgement for judgement in judgements if not judgement.item.control]
    competence = _competence(study, measured)
    item_seconds = {item: median_seconds(group) for item, group in by_item(measured).items()}
    columns: dict[int, dict[str, Any]] = {}
    for person, group in by_participant(measured).items():
        in_order = sorted(group, key=lambda judgement: judgement.answered_at)
        values = [(judgement.value, judgement.text.strip().lower()) for judgement in in_order]
        timed = [judgement for judgement in group if not isnan(judgement.seconds)]
        fast = [
            judgement.seconds < _FAST * (item_seconds[judgement.item.id] or 0)
            for judgement in timed
        ]
        # Of answers whose times are unknown, none is known to be fast or slow.
        hasty = [judgement.seconds < HASTY_SECONDS for judgement in timed]
        columns[person] = {
            "competence": competence.get(person),
            "longest_run": max(len(list(run)) for _, run in groupby(values)),
            "same_share": max(map(values.count, set(values))) / len(values),
            "fast_share": sum(fast) / len(fast) if timed else None,
            "hasty_answers": sum(hasty) if timed else None,
        }
    return columns


def estimated_labels(
    study: Study,
    judgements: Sequence[Judgement],
) -> dict[str, tuple[tuple[str, ...], float]]:
    """Return the labels of each item that Dawid and Skene's model holds for true.

    With them comes how sure the model is, of the label that it is least sure of.
    """
    fit = _fit(study, judgements)
    if fit is None:
        return {}
    model, items, _ = fit
    estimates: dict[str, tuple[tuple[str, ...], float]] = {}
    for (item, option), row in items.items():
        probabilities = model.labels[row]
        certainty = float(probabilities.max())
        # One label per item: a row is an item, and its columns are labels.
        if option is None:
            label = _labels(study)[int(probabilities.argmax())]
            estimates[item] = ((label,), certainty)
            continue
        # Several: a row is an option of an item, and its columns are not named, named.
        labels, least = estimates.get(item, ((), 1.0))
        if probabilities[1] > 0.5:
            labels = (*labels, option)
        estimates[item] = (labels, min(least, certainty))
    return estimates


def remarks(judgements: Sequence[Judgement]) -> tuple[str, ...]:
    """Return what a reader of the results has to know about them, in sentences."""
    measured = [judgement for judgement in judgements if not judgement.item.control]
    people = by_participant(measured)
    sentences = []
    if 0 < len(people) < FEWEST_ANNOTATORS:
        sentences.append(
            f"Competence and estimated labels stay empty: they take {FEWEST_ANNOTATORS} people, "
            f"and {quantity(len(people), 'person', 'people')} answered."
        )
    hasty = {}
    for person, group in people.items():
        count = sum(judgement.seconds < HASTY_SECONDS for judgement in group)
        if count:
            hasty[person] = f"{person} ({count} of {len(group)})"
    if hasty:
        sentences.append(
            f"Some answers took less than {HASTY_SECONDS:g} s, too little to read a question; "
            f"participants: {', '.join(hasty.values())}. Speed alone excludes nobody, unless "
            "--seconds-below is given."
        )
    return tuple(sentences)


def _competence(study: Study, judgements: Sequence[Judgement]) -> Mapping[int, float]:
    """Return how competent each participant is, where that can be estimated."""
    if len(by_participant(judgements)) < FEWEST_ANNOTATORS:
        return {}
    if study.kind == "rating":
        return _correlation_with_others(judgements)
    fit = _fit(study, judgements)
    if fit is None:
        return {}
    model, _, people = fit
    return {person: float(model.competence[row]) for person, row in people.items()}


Fit = tuple[DawidSkene, dict[tuple[str, str | None], int], dict[int, int]]
"""The model, its rows by item and option (None: one label per item), and its annotators."""


def _fit(study: Study, judgements: Sequence[Judgement]) -> Fit | None:
    """Return the model of a study's labels.

    Where several may be named, each option of an item is a question: named or not.
    """
    names_one = study.kind == "choice"
    labels = _labels(study)
    if len(labels if names_one else study.measured[0].names) > _MAX_LABELS:
        return None
    # Whatever comes first gets the next row of the model.
    items: dict[tuple[str, str | None], int] = {}
    people: dict[int, int] = {}
    rows: list[tuple[int, int, int]] = []
    for judgement in judgements:
        person = people.setdefault(judgement.person, len(people))
        if names_one:
            row = items.setdefault((judgement.item.id, None), len(items))
            rows.append((row, person, labels.index(judgement.labels[0])))
            continue
        for option in judgement.item.names:
            row = items.setdefault((judgement.item.id, option), len(items))
            rows.append((row, person, int(option in judgement.labels)))
    if len(people) < FEWEST_ANNOTATORS:
        return None
    item, annotator, answer = np.array(rows, dtype=np.int64).T
    model = dawid_skene(
        item,
        annotator,
        answer,
        labels=len(labels) if names_one else 2,
        smoothing=_SMOOTHING,
    )
    return model, items, people


def _labels(study: Study) -> Sequence[str]:
    return study.task.labels if study.task is not None else ()


def _correlation_with_others(judgements: Sequence[Judgement]) -> dict[int, float]:
    """Return the correlation of each participant's ratings with the mean of the others'.

    Participants who rate everything alike, or share too few items with others, have none.
    """
    ratings_of = {
        item: [judgement.value for judgement in group]
        for item, group in by_item(judgements).items()
    }
    correlations: dict[int, float] = {}
    for person, group in by_participant(judgements).items():
        values = []
        others = []
        for judgement in group:
            ratings = ratings_of[judgement.item.id]
            if len(ratings) > 1:
                values.append(float(judgement.value))
                others.append((float(sum(ratings)) - judgement.value) / (len(ratings) - 1))
        if len(values) > 2 and np.std(values) > 0 and np.std(others) > 0:
            correlations[person] = float(np.corrcoef(values, others)[0, 1])
    return correlations
