"""How far the participants of a study agree, with intervals, and how well one of them predicts the
others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from seesay.documents import Document
from seesay.judge.items import RatingItem, StudyItem
from seesay.judge.results.quality import ExcludedParticipant, Judgement, QualityCriteria
from seesay.judge.study import Study
from seesay.metrics import METRICS, FloatArray, Resamples
from seesay.metrics.agreement import (
    AgreementStatistics,
    fleiss,
    krippendorff,
    krippendorff_counts,
    leave_one_out,
    one_against_others,
    split_half,
)
from seesay.metrics.base import IntArray, ratio

AGREEMENT_SCALE = (
    "1 is perfect agreement. Kappa and alpha are 0 where people agree as often as chance would "
    "have it, and below 0 "
    "where they agree less; from 0.8 labels are usually called reliable, from 0.67 usable "
    "(Krippendorff 2004)."
)
_REDRAWS = 200
LEAVE_ONE_OUT_METRICS = ("relaxed_accuracy", "true_confidence", "macro_f1")


class Coefficient(Document):
    """An agreement coefficient with its 95 % interval (bootstrap over items); null where it is
    undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None
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


def _ratings(judgements: Sequence[Judgement], items: Sequence[StudyItem]) -> FloatArray:
    """Items by participants, from 0 to 1; NaN where a participant did not judge an item."""
    row = {item.id: i for i, item in enumerate(items)}
    column = {person: i for i, person in enumerate(sorted({j.person for j in judgements}))}
    table = np.full((len(row), len(column)), np.nan)
    for j in judgements:
        table[row[j.item.id], column[j.person]] = np.nan if j.number is None else j.number
    return table


def _choice_counts(
    judgements: Sequence[Judgement], items: Sequence[StudyItem], labels: Sequence[str]
) -> IntArray:
    """Items by labels: how many participants chose each."""
    counts = Counter((j.item.id, label) for j in judgements for label in j.labels)
    return np.array(
        [[counts[item.id, label] for label in labels] for item in items], dtype=np.int64
    )


def agreement_coefficients(
    study: Study, judgements: Sequence[Judgement], *, resamples: int = 2000, seed: int = 0
) -> dict[str, Coefficient]:
    """All coefficients for the study's kind, from judgements without controls."""
    judged = {judgement.item.id for judgement in judgements}
    items = [item for item in study.measured if item.id in judged]
    if not items:
        return {}
    draw = Resamples(_objects(study, items), resamples, seed)
    if study.kind == "rating":
        return _rating_coefficients(_ratings(judgements, items), draw, seed)
    assert study.task is not None
    labels = study.task.labels
    if study.kind != "choice":  # a text may name several labels, or none
        return _naming_coefficients(
            _choice_counts(judgements, items, labels), judgements, items, draw
        )
    offered = np.array(
        [[label in _options(item) for label in labels] for item in items], dtype=np.float64
    )
    return _choice_coefficients(_choice_counts(judgements, items, labels), offered, draw)


def _options(item: StudyItem) -> tuple[str, ...]:
    return () if isinstance(item, RatingItem) else item.options


def _rating_coefficients(table: FloatArray, draw: Resamples, seed: int) -> dict[str, Coefficient]:
    halves = split_half(table, seed=seed)
    draws = _item_draws(len(table), seed)
    redrawn_halves = [split_half(table[drawn], splits=2, seed=n) for n, drawn in enumerate(draws)]
    ordinal = krippendorff(table, "ordinal")()
    interval = krippendorff(table, "interval")
    return {
        "krippendorff_alpha_interval": _interval(interval, draw, "Krippendorff's alpha, interval"),
        "krippendorff_alpha_ordinal": _coefficient(
            ordinal, math.nan, math.nan, "Krippendorff's alpha, ordinal"
        ),
        "split_half": _coefficient(
            halves.correlation,
            *_percentiles([half.correlation for half in redrawn_halves]),
            "Spearman correlation of two halves of the people, mean of 200 splits",
        ),
        "split_half_spearman_brown": _coefficient(
            halves.spearman_brown,
            *_percentiles([half.spearman_brown for half in redrawn_halves]),
            "the same, stepped up to all of the people",
        ),
        "leave_one_out_spearman": _coefficient(
            one_against_others(table),
            *_percentiles([one_against_others(table[drawn]) for drawn in draws]),
            "Spearman correlation of one person with the mean of the others, mean over people",
        ),
    }


def _naming_coefficients(
    named: IntArray, judgements: Sequence[Judgement], items: Sequence[StudyItem], draw: Resamples
) -> dict[str, Coefficient]:
    """Where several labels may be named, each label of an item is a judgement of its own: named or
    not."""
    people = Counter(j.item.id for j in judgements)
    judged = np.array([people[item.id] for item in items])
    kappas = [fleiss(np.stack([label, judged - label], axis=1)) for label in named.T if label.any()]
    meaning = "Fleiss' kappa of naming a label or not, mean over the labels that are named"
    if not kappas:  # everyone typed something else
        return {"fleiss_kappa_named": Coefficient(value=None, meaning=meaning)}
    rows = np.concatenate([statistics.rows for statistics in kappas], axis=1)
    width = kappas[0].rows.shape[1]

    def mean(sums: FloatArray) -> FloatArray:
        values = [
            kappas[0].value(sums[..., i * width : (i + 1) * width]) for i in range(len(kappas))
        ]
        defined = ~np.isnan(values)
        return ratio(
            np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0), undefined=np.nan
        )

    return {"fleiss_kappa_named": _interval(AgreementStatistics(rows, mean), draw, meaning)}


def _choice_coefficients(
    table: IntArray, offered: FloatArray, draw: Resamples
) -> dict[str, Coefficient]:
    coefficients = {
        "fleiss_kappa": _interval(fleiss(table), draw, "Fleiss' kappa"),
        "krippendorff_alpha": _interval(
            krippendorff_counts(table, "nominal"), draw, "Krippendorff's alpha, nominal"
        ),
    }
    if (table.sum(axis=1) >= 2).any():
        judgements, rows = leave_one_out(table, offered)
        for name in LEAVE_ONE_OUT_METRICS:
            metric = METRICS[name]
            stats = metric.stats(judgements)
            by_item = np.zeros((len(table), stats.shape[1]))
            np.add.at(by_item, rows, stats)
            meaning = f"{name} of one person, gold being what is typical of the others' answers"
            coefficients[f"leave_one_out_{name}"] = _interval(
                AgreementStatistics(by_item, metric.value), draw, meaning
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
    """Everything in one document."""
    people = {j.person for j in judgements}
    judged = {j.item.id for j in counted}
    return AgreementReport(
        study=study.name,
        fingerprint=study.fingerprint,
        kind=study.kind,
        criteria=criteria,
        people=len(people),
        people_counted=len(people) - len(excluded),
        excluded=tuple(excluded),
        judgements=sum(not j.item.control for j in judgements),
        judgements_counted=len(counted),
        items=len(study.measured),
        items_judged=len(judged),
        judgements_per_item=len(counted) / len(judged) if judged else 0.0,
        agreement=coefficients,
    )


def _objects(study: Study, items: Sequence[StudyItem]) -> list[str]:
    """The clusters of the bootstrap: a task's objects, so that questions about one object stay
    together, or pairs."""
    if study.task:
        objects = {question.id: question.object for question in study.task.questions}
    else:
        objects = {}
    return [objects.get(item.base, item.id) for item in items]


def _interval(statistics: AgreementStatistics, draw: Resamples, meaning: str) -> Coefficient:
    interval = draw.interval(statistics.rows[None], statistics.value)
    return _coefficient(interval.value, interval.low, interval.high, meaning)


def _item_draws(items: int, seed: int) -> list[IntArray]:
    """Items redrawn, for statistics that are not sums over items and are computed anew."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, items, items) for _ in range(_REDRAWS)]


def _percentiles(redrawn: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a statistic of redrawn items."""
    values = np.array(redrawn)
    defined = values[~np.isnan(values)]
    low, high = np.quantile(defined, [0.025, 0.975]) if defined.size else (math.nan, math.nan)
    return float(low), float(high)


def _coefficient(value: float, low: float, high: float, meaning: str) -> Coefficient:
    finite = {
        name: x if math.isfinite(x) else None
        for name, x in (("value", value), ("low", low), ("high", high))
    }
    return Coefficient(**finite, meaning=meaning)
