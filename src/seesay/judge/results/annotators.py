"""What each participant's answers look like: competence, straight-lining, speed. Columns to look
at; none excludes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import Any

import numpy as np

from seesay.judge.results.competence import DawidSkene, dawid_skene
from seesay.judge.results.quality import Judgement, by_item, by_participant
from seesay.judge.study import Study

ANNOTATOR_COLUMNS = ("competence", "longest_run", "same_share", "fast_share")
_SMOOTHING = 0.5
"""Answers added to each cell of a confusion matrix: most people give a few dozen."""
_MAX_LABELS = 50
"""Of more labels no confusion matrix can be estimated from a few dozen answers: competence and
label stay empty."""
_FAST = 1 / 3
"""An answer is fast that took less than this part of the item's median time."""


def annotator_columns(study: Study, judgements: Sequence[Judgement]) -> dict[int, dict[str, Any]]:
    """For each participant with a measured judgement:

    competence: of labels the probability of a true one (Dawid & Skene 1979), of ratings the
    correlation with the mean of the others; longest_run: answers in a row that are the same;
    same_share: the share of their most frequent answer; fast_share: of answers given in less than a
    third of the item's median time.
    """
    measured = [judgement for judgement in judgements if not judgement.item.control]
    competence = _competence(study, measured)
    usual = {
        item: median(judgement.seconds for judgement in group)
        for item, group in by_item(measured).items()
    }
    columns: dict[int, dict[str, Any]] = {}
    for person, theirs in by_participant(measured).items():
        in_order = sorted(theirs, key=lambda judgement: judgement.given)
        values = [(judgement.value, judgement.text.strip().lower()) for judgement in in_order]
        columns[person] = {
            "competence": competence.get(person),
            "longest_run": max(len(list(run)) for _, run in groupby(values)),
            "same_share": max(map(values.count, set(values))) / len(values),
            "fast_share": sum(j.seconds < _FAST * usual[j.item.id] for j in theirs) / len(theirs),
        }
    return columns


def estimated_labels(
    study: Study, judgements: Sequence[Judgement]
) -> dict[str, tuple[tuple[str, ...], float]]:
    """The labels of each item that Dawid and Skene's model holds for true, and how sure it is of
    the least sure one."""
    fit = _fit(study, judgements)
    if fit is None:
        return {}
    model, items, _ = fit
    labels: dict[str, tuple[tuple[str, ...], float]] = {}
    for (item, option), row in items.items():
        if option is None:  # one label per item
            best = int(model.labels[row].argmax())
            labels[item] = ((_labels(study)[best],), float(model.labels[row, best]))
        else:
            chosen, sure = labels.get(item, ((), 1.0))
            named = model.labels[row, 1] > 0.5
            labels[item] = (
                (*chosen, option) if named else chosen,
                min(sure, float(model.labels[row].max())),
            )
    return labels


def _competence(study: Study, judgements: Sequence[Judgement]) -> Mapping[int, float]:
    if study.kind == "rating":
        return _correlation_with_others(judgements)
    fit = _fit(study, judgements)
    if fit is None:
        return {}
    model, _, people = fit
    return {person: float(model.competence[row]) for person, row in people.items()}


Fit = tuple[DawidSkene, dict[tuple[str, str | None], int], dict[int, int]]


def _fit(study: Study, judgements: Sequence[Judgement]) -> Fit | None:
    """The model of a study's labels. Where several may be named, each option of an item is a
    question: named or not."""
    one_label = study.kind == "choice"
    if len(_labels(study) if one_label else study.measured[0].names) > _MAX_LABELS:
        return None
    place = {label: i for i, label in enumerate(_labels(study))}
    items: dict[tuple[str, str | None], int] = {}
    people: dict[int, int] = {}
    rows: list[tuple[int, int, int]] = []
    for judgement in judgements:
        person = people.setdefault(judgement.person, len(people))
        if one_label:
            row = items.setdefault((judgement.item.id, None), len(items))
            rows.append((row, person, place[judgement.labels[0]]))
            continue
        for option in judgement.item.names:
            row = items.setdefault((judgement.item.id, option), len(items))
            rows.append((row, person, int(option in judgement.labels)))
    if not rows:
        return None
    item, annotator, label_given = np.array(rows, dtype=np.int64).T
    labels = len(place) if one_label else 2
    return (
        dawid_skene(item, annotator, label_given, labels=labels, smoothing=_SMOOTHING),
        items,
        people,
    )


def _labels(study: Study) -> Sequence[str]:
    return study.task.labels if study.task is not None else ()


def _correlation_with_others(judgements: Sequence[Judgement]) -> dict[int, float]:
    sums = {
        item: (float(sum(j.value for j in group)), len(group))
        for item, group in by_item(judgements).items()
    }
    correlations: dict[int, float] = {}
    for person, theirs in by_participant(judgements).items():
        shared = [(j.value, sums[j.item.id]) for j in theirs if sums[j.item.id][1] > 1]
        own = np.array([value for value, _ in shared], dtype=np.float64)
        others = np.array(
            [(total - value) / (count - 1) for value, (total, count) in shared], dtype=np.float64
        )
        if len(shared) > 2 and own.std() > 0 and others.std() > 0:
            correlations[person] = float(np.corrcoef(own, others)[0, 1])
    return correlations
