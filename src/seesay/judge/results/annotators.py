"""What each participant's answers look like: competence, straight-lining, speed.

The columns are there to be looked at; none of them excludes anybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from itertools import groupby
from math import ceil, isnan
from typing import Any

import numpy as np

from seesay.judge.results.competence import DawidSkene, dawid_skene
from seesay.judge.results.quality import Judgement, by_item, by_participant, median_seconds
from seesay.judge.study import Study
from seesay.quantities import quantity

ANNOTATOR_COLUMNS = ("competence", "longest_run", "same_share", "fast_share", "hasty_answers")
FEWEST_ANNOTATORS = 3
"""Of two who disagree nobody can tell which of them is right: competence and label stay empty.

So few have to judge an item, too, for it to say anything about those who judged it.
"""
HASTY_SECONDS = 0.3
"""Nobody reads a question and answers it in less time than this."""
_SMOOTHING = 0.5
"""Answers added to each cell of a confusion matrix: most people give a few dozen."""
_MAX_LABELS = 50
"""Of more labels no confusion matrix can be estimated from a few dozen answers: competence and
label stay empty."""
_FAST = 1 / 3
"""An answer is fast that took less than this part of the item's median time."""


def annotator_columns(
    study: Study,
    judgements: Sequence[Judgement],
    excluded: Container[int] = (),
) -> dict[int, dict[str, Any]]:
    """Return `ANNOTATOR_COLUMNS` for each participant with a measured judgement.

    `excluded`: the participants who do not count. They have no competence, and no part in that of
    the others.

    `competence`: of labels the probability of a true one (Dawid & Skene 1979), of ratings the
    correlation with the mean of the others.
    `longest_run`: answers in a row that are the same.
    `same_share`: the share of their most frequent answer.
    `fast_share`: of answers that took less than a third of the item's median time.
    `hasty_answers`: how many took less than `HASTY_SECONDS`.
    """
    measured = [judgement for judgement in judgements if not judgement.item.control]
    competence = _competence(
        study, [judgement for judgement in measured if judgement.person not in excluded]
    )
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


def remarks(
    study: Study,
    judgements: Sequence[Judgement],
    excluded: Container[int] = (),
) -> tuple[str, ...]:
    """Return what a reader of the results has to know about them, in sentences."""
    measured = [judgement for judgement in judgements if not judgement.item.control]
    people = by_participant(measured)
    counted = [judgement for judgement in measured if judgement.person not in excluded]
    sentences = [*_empty_estimates(study, counted)]
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


def _empty_estimates(study: Study, counted: Sequence[Judgement]) -> list[str]:
    """Return for whom and what nothing can be estimated, and why."""
    people = {judgement.person for judgement in counted}
    if not people:
        return []
    empty = "Competence and estimated labels stay empty"
    if len(people) < FEWEST_ANNOTATORS:
        count = quantity(len(people), "person counts", "people count")
        return [f"{empty}: they take {FEWEST_ANNOTATORS} people, and {count}."]
    if study.kind == "rating":
        return []
    if _model_labels(study) > _MAX_LABELS:
        return [f"{empty}: they take at most {_MAX_LABELS} labels."]
    answers = _shared_answers(study, counted)
    unit = "answers" if study.kind == "choice" else "options ticked or not"
    needs = (
        f"they take {FEWEST_ANNOTATORS} judgements that count of an item, and of each person at "
        f"least {_fewest_answers(study)} {unit} on such items"
    )
    if not answers:
        return [f"{empty}: {needs}."]
    items = {judgement.item.id for judgement in counted}
    items_without = items - {item for (item, _), _, _ in answers}
    people_without = people - {person for _, person, _ in answers}
    if not items_without and not people_without:
        return []
    return [
        f"Estimated labels stay empty for {len(items_without)} of {len(items)} judged items, and "
        f"competence for {len(people_without)} of {len(people)} people who count: {needs}."
    ]


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


ItemKey = tuple[str, str | None]
"""An item, and its option where several may be named."""
Answer = tuple[ItemKey, int, int]
"""What was judged, by whom, and the number of the label."""
Fit = tuple[DawidSkene, dict[ItemKey, int], dict[int, int]]
"""The model, its rows by what was judged, and its annotators."""


def _fit(study: Study, judgements: Sequence[Judgement]) -> Fit | None:
    """Return the model of a study's labels, of the answers that can be estimated from."""
    if _model_labels(study) > _MAX_LABELS:
        return None
    answers = _shared_answers(study, judgements)
    if not answers:
        return None
    # Whatever comes first gets the next row of the model.
    items: dict[ItemKey, int] = {}
    people: dict[int, int] = {}
    rows = []
    for item_key, number, label in answers:
        row = items.setdefault(item_key, len(items))
        rows.append((row, people.setdefault(number, len(people)), label))
    item, annotator, answer = np.array(rows, dtype=np.int64).T
    labels = len(_labels(study)) if study.kind == "choice" else 2
    model = dawid_skene(item, annotator, answer, labels=labels, smoothing=_SMOOTHING)
    return model, items, people


def _shared_answers(study: Study, judgements: Sequence[Judgement]) -> list[Answer]:
    """Return the answers from which the model can be estimated: item, person and label.

    Of an item that fewer than `FEWEST_ANNOTATORS` judged, no model tells who is right. Of a person
    with fewer answers than the smoothing adds, it would tell the smoothing. Without the ones there
    are fewer of the others, until all that remain have enough.
    """
    answers = _model_answers(study, judgements)
    fewest = _fewest_answers(study)
    while True:
        per_item = Counter(item for item, _, _ in answers)
        per_person = Counter(person for _, person, _ in answers)
        enough = [
            answer
            for answer in answers
            if per_item[answer[0]] >= FEWEST_ANNOTATORS and per_person[answer[1]] >= fewest
        ]
        if len(enough) == len(answers):
            return answers
        answers = enough


def _model_answers(study: Study, judgements: Sequence[Judgement]) -> list[Answer]:
    """Return the answers as the model takes them.

    Where several labels may be named, each option of an item is a question: named or not.
    """
    if study.kind == "choice":
        index = {label: number for number, label in enumerate(_labels(study))}
        return [
            ((judgement.item.id, None), judgement.person, index[judgement.labels[0]])
            for judgement in judgements
        ]
    return [
        ((judgement.item.id, option), judgement.person, int(option in judgement.labels))
        for judgement in judgements
        for option in judgement.item.names
    ]


def _fewest_answers(study: Study) -> int:
    """Return how many answers the smoothing adds to a person's."""
    labels = len(_labels(study)) if study.kind == "choice" else 2
    return ceil(_SMOOTHING * labels**2)


def _model_labels(study: Study) -> int:
    """Return how many labels an item may be given."""
    return len(_labels(study) if study.kind == "choice" else study.measured[0].names)


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
