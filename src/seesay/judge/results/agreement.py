"""How far the participants of a study agree, with intervals, and how well one predicts others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from seesay.documents import Document
from seesay.judge.items import StudyItem
from seesay.judge.results.annotators import remarks
from seesay.judge.results.quality import ExcludedParticipant, Judgement, QualityCriteria
from seesay.judge.study import Study
from seesay.metrics import METRICS, FloatArray, Resamples
from seesay.metrics.agreement import (
    AgreementStatistics,
    each_against_others,
    fleiss,
    krippendorff,
    krippendorff_counts,
    leave_one_out,
    split_half,
    split_halves,
    step_up,
)
from seesay.metrics.base import IntArray, ratio
from seesay.metrics.bootstrap import Bounds, not_degenerate
from seesay.metrics.correlation_interval import correlation_interval
from seesay.questions import THINGS_JOINT

AGREEMENT_SCALE = (
    "1 is perfect agreement. Kappa and alpha are 0 where people agree as often as chance would "
    "have it, and below 0 where they agree less; from 0.8 labels are usually called reliable, from "
    "0.67 usable (Krippendorff 2004)."
)
_SPLITS = 20
"""Splits of the people behind the interval of split halves."""
LEAVE_ONE_OUT_METRICS = ("relaxed_accuracy", "true_confidence", "macro_f1")


class Coefficient(Document):
    """An agreement coefficient with its 95 % interval; null where it is undefined."""

    value: float | None
    low: float | None = None
    """The lower end of the interval (bootstrap over objects, widened by the things that they share;
    of rank correlations, by leaving out words)."""
    high: float | None = None
    """The upper end of the interval."""
    meaning: str


class AgreementReport(Document):
    """Who counts, who was excluded and why, and how far those who count agree."""

    study: str
    """The name of the study."""
    fingerprint: str
    """Digest of the study."""
    kind: str
    """rating or choice."""
    criteria: QualityCriteria
    """The criteria for excluding participants."""
    people: int
    """Participants with at least one judgement."""
    people_counted: int
    """Participants whose judgements count."""
    excluded: tuple[ExcludedParticipant, ...]
    """Participants who were excluded, and why."""
    judgements: int
    """Judgements given, controls not counted."""
    judgements_counted: int
    """Judgements that count."""
    items: int
    """Items of the study."""
    items_judged: int
    """Items with a judgement that counts."""
    judgements_per_item: float
    """Mean number of judgements that count, over the judged items."""
    agreement: Mapping[str, Coefficient]
    """The coefficients by name."""
    remarks: tuple[str, ...] = ()
    """What a reader of the results has to know, in sentences."""


def _ratings(judgements: Sequence[Judgement], items: Sequence[StudyItem]) -> FloatArray:
    """Return items by participants, from 0 to 1; NaN where a participant did not judge an item."""
    row = {item.id: i for i, item in enumerate(items)}
    people = sorted({judgement.person for judgement in judgements})
    column = {person: i for i, person in enumerate(people)}
    table = np.full((len(row), len(column)), np.nan)
    for judgement in judgements:
        if judgement.number is not None:
            table[row[judgement.item.id], column[judgement.person]] = judgement.number
    return table


def _choice_counts(
    judgements: Sequence[Judgement],
    items: Sequence[StudyItem],
    labels: Sequence[str],
) -> IntArray:
    """Return items by labels: how many participants chose each."""
    counts = Counter(
        (judgement.item.id, label) for judgement in judgements for label in judgement.labels
    )
    rows = []
    for item in items:
        rows.append([counts[item.id, label] for label in labels])
    return np.array(rows, dtype=np.int64)


def agreement_coefficients(
    study: Study,
    judgements: Sequence[Judgement],
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, Coefficient]:
    """Return all coefficients for the study's kind, from judgements without controls."""
    judged = {judgement.item.id for judgement in judgements}
    items = [item for item in study.measured if item.id in judged]
    if not items:
        return {}
    objects = _objects(study, items)
    things = [name.split(THINGS_JOINT) for name in objects]
    draw = Resamples(objects, resamples, seed, things)
    if study.kind == "rating":
        return _rating_coefficients(_ratings(judgements, items), things, draw, seed)
    assert study.task is not None
    labels = study.task.labels
    counts = _choice_counts(judgements, items, labels)
    # A typed or ticked answer may name several labels, or none.
    if study.kind != "choice":
        return _naming_coefficients(counts, judgements, items, draw)
    offered = np.zeros(counts.shape)
    for row, item in zip(offered, items, strict=True):
        row[:] = [label in item.names for label in labels]
    return _choice_coefficients(counts, offered, draw)


def _rating_coefficients(
    table: FloatArray,
    things: Sequence[Sequence[str]],
    draw: Resamples,
    seed: int,
) -> dict[str, Coefficient]:
    """Return the coefficients of ratings, items by participants."""
    interval = krippendorff(table, "interval")
    # Without an interval: its statistics grow with the square of the number of different ratings.
    ordinal = krippendorff(table, "ordinal")()
    halves = split_half(table, seed=seed)
    # Fewer splits: each is taken once more for every word that is left out.
    between_halves = correlation_interval(
        *split_halves(table, splits=_SPLITS, seed=seed), things=things
    )
    alone = correlation_interval(*each_against_others(table), things=things)
    return {
        "krippendorff_alpha_interval": _interval(interval, draw, "Krippendorff's alpha, interval"),
        "krippendorff_alpha_ordinal": _coefficient(
            ordinal,
            math.nan,
            math.nan,
            "Krippendorff's alpha, ordinal",
        ),
        "split_half": _coefficient(
            halves.correlation,
            between_halves.low,
            between_halves.high,
            "Spearman correlation of two halves of the people, mean of 200 splits",
        ),
        "split_half_spearman_brown": _coefficient(
            halves.spearman_brown,
            step_up(between_halves.low),
            step_up(between_halves.high),
            "the same, stepped up to all of the people",
        ),
        "leave_one_out_spearman": _coefficient(
            alone.value,
            alone.low,
            alone.high,
            "Spearman correlation of one person with the mean of the others, mean over people",
        ),
    }


def _naming_coefficients(
    counts: IntArray,
    judgements: Sequence[Judgement],
    items: Sequence[StudyItem],
    draw: Resamples,
) -> dict[str, Coefficient]:
    """Return the coefficient of answers that may name several labels.

    Each label of an item is a judgement of its own: named or not.
    """
    judgements_of = Counter(judgement.item.id for judgement in judgements)
    judged = np.array([judgements_of[item.id] for item in items])
    # A label that nobody names has no kappa: all agree, and so would chance.
    label_counts = [label for label in counts.T if label.any()]
    kappas = [fleiss(np.stack([label, judged - label], axis=1)) for label in label_counts]
    meaning = "Fleiss' kappa of naming a label or not, mean over the labels that are named"
    # Everyone typed something else than a label.
    if not kappas:
        return {"fleiss_kappa_named": Coefficient(value=None, meaning=meaning)}
    # The statistics of all labels side by side, so that a resample draws the same items for each.
    rows = np.concatenate([statistics.rows for statistics in kappas], axis=1)
    value = kappas[0].value

    def mean(sums: FloatArray) -> FloatArray:
        values = [value(part) for part in np.split(sums, len(kappas), axis=-1)]
        defined = ~np.isnan(values)
        total = np.where(defined, values, 0.0).sum(axis=0)
        return ratio(total, defined.sum(axis=0), undefined=np.nan)

    return {"fleiss_kappa_named": _interval(AgreementStatistics(rows, mean), draw, meaning)}


def _choice_coefficients(
    counts: IntArray,
    offered: FloatArray,
    draw: Resamples,
) -> dict[str, Coefficient]:
    """Return the coefficients of answers that name one label; both tables are items by labels."""
    alpha = krippendorff_counts(counts, "nominal")
    coefficients = {
        "fleiss_kappa": _interval(fleiss(counts), draw, "Fleiss' kappa"),
        "krippendorff_alpha": _interval(alpha, draw, "Krippendorff's alpha, nominal"),
    }
    # Nobody can be compared with the others where there are none.
    if not (counts.sum(axis=1) >= 2).any():
        return coefficients
    judgements, rows = leave_one_out(counts, offered)
    for name in LEAVE_ONE_OUT_METRICS:
        metric = METRICS[name]
        stats = metric.stats(judgements)
        # An item's judgements stay together in a resample: they are not independent.
        by_item = np.zeros((len(counts), stats.shape[1]))
        np.add.at(by_item, rows, stats)
        coefficients[f"leave_one_out_{name}"] = _interval(
            AgreementStatistics(by_item, metric.value),
            draw,
            f"{name} of one person, gold being what is typical of the others' answers",
            metric.bounds,
        )
    return coefficients


def agreement_report(
    study: Study,
    judgements: Sequence[Judgement],
    counted: Sequence[Judgement],
    excluded: Sequence[ExcludedParticipant],
    criteria: QualityCriteria,
    coefficients: Mapping[str, Coefficient],
) -> AgreementReport:
    """Return everything in one document.

    `judgements`: all of them, controls included.
    `counted`: those that count, without controls.
    """
    people = {judgement.person for judgement in judgements}
    judged = {judgement.item.id for judgement in counted}
    return AgreementReport(
        study=study.name,
        fingerprint=study.fingerprint,
        kind=study.kind,
        criteria=criteria,
        people=len(people),
        people_counted=len(people) - len(excluded),
        excluded=tuple(excluded),
        judgements=sum(not judgement.item.control for judgement in judgements),
        judgements_counted=len(counted),
        items=len(study.measured),
        items_judged=len(judged),
        judgements_per_item=len(counted) / len(judged) if judged else 0.0,
        agreement=coefficients,
        remarks=remarks(study, judgements, {participant.person for participant in excluded}),
    )


def _objects(study: Study, items: Sequence[StudyItem]) -> list[str]:
    """Return the clusters of the bootstrap.

    They are a task's objects, so that questions about one object stay together, or pairs of words.
    """
    objects = {}
    if study.task:
        objects = {question.id: question.object for question in study.task.questions}
    return [objects.get(item.base, item.id) for item in items]


def _interval(
    statistics: AgreementStatistics,
    draw: Resamples,
    meaning: str,
    bounds: Bounds = (-1.0, 1.0),
) -> Coefficient:
    resampled = draw.interval(statistics.rows[None], statistics.value, bounds=bounds)
    objects = draw.count_objects(draw.sums(statistics.rows[None]))
    # people who agree on all that they were asked may not on what they were not
    interval = not_degenerate(resampled, objects, signed=bounds[0] < 0)
    return _coefficient(interval.value, interval.low, interval.high, meaning)


def _coefficient(value: float, low: float, high: float, meaning: str) -> Coefficient:
    return Coefficient(
        value=_finite(value),
        low=_finite(low),
        high=_finite(high),
        meaning=meaning,
    )


def _finite(number: float) -> float | None:
    """Return the number, or None where JSON has none for it."""
    return number if math.isfinite(number) else None
