"""How far the people of a study agree, as figures with intervals; and how well one of them predicts the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from seesay.judge.results.quality import Dropped, Judgement, Rule
from seesay.judge.study import TOP, Item, Study
from seesay.metrics import METRICS, FloatArray, Resamples
from seesay.metrics.agreement import (
    Agreement,
    fleiss,
    krippendorff,
    krippendorff_counts,
    leave_one_out,
    one_against_others,
    split_half,
)
from seesay.metrics.base import IntArray

_REDRAWN = 200
LEFT_OUT = ("relaxed_accuracy", "true_confidence", "macro_f1")


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Coefficient(_Document):
    """A figure with its 95 % interval (bootstrap over items); null where it is not defined."""

    value: float | None
    low: float | None = None
    high: float | None = None
    meaning: str


class Report(_Document):
    """Who counted, who did not and why, and how far they agree."""

    study: str = Field(description="The study's name.")
    fingerprint: str = Field(description="Digest of the study.")
    kind: str = Field(description="rating or choice.")
    rule: Rule = Field(description="The rule that people were dropped by.")
    people: int = Field(description="People with at least one judgement.")
    people_kept: int = Field(description="People whose judgements count.")
    dropped: tuple[Dropped, ...] = Field(description="People whose judgements do not count, and why.")
    judgements: int = Field(description="Judgements given, controls not counted.")
    judgements_kept: int = Field(description="Judgements that count.")
    items: int = Field(description="Items of the study.")
    items_judged: int = Field(description="Items with a judgement that counts.")
    judgements_an_item: float = Field(description="Judgements that count for a judged item, on average.")
    agreement: dict[str, Coefficient] = Field(description="The coefficients by name.")


def ratings(judgements: Sequence[Judgement], items: Sequence[Item]) -> FloatArray:
    """Items by people, from 0 to 1, NaN where a person did not judge an item."""
    row = {item.id: i for i, item in enumerate(items)}
    column = {person: i for i, person in enumerate(sorted({j.person for j in judgements}))}
    made = np.full((len(row), len(column)), np.nan)
    for judgement in judgements:
        if judgement.item.id in row:
            made[row[judgement.item.id], column[judgement.person]] = judgement.value / TOP
    return made


def choices(judgements: Sequence[Judgement], items: Sequence[Item], labels: Sequence[str]) -> IntArray:
    """Items by labels: how many people chose each."""
    row = {item.id: i for i, item in enumerate(items)}
    column = {label: i for i, label in enumerate(labels)}
    made = np.zeros((len(row), len(column)), dtype=np.int64)
    for judgement in judgements:
        if judgement.item.id in row:
            made[row[judgement.item.id], column[judgement.item.options[judgement.value]]] += 1
    return made


def coefficients(
    study: Study, kept: Sequence[Judgement], *, resamples: int = 2000, seed: int = 0
) -> dict[str, Coefficient]:
    """Every coefficient that the study's kind has."""
    judged = {judgement.item.id for judgement in kept}
    items = [item for item in study.measured if item.id in judged]
    if not items:
        return {}
    draw = Resamples(_objects(study, items), resamples, seed)
    if study.kind == "rating":
        return _of_ratings(ratings(kept, items), draw, seed)
    assert study.task is not None
    labels = study.task.labels
    offered = np.array([[label in item.options for label in labels] for item in items], dtype=np.float64)
    return _of_choices(choices(kept, items, labels), offered, draw)


def _of_ratings(table: FloatArray, draw: Resamples, seed: int) -> dict[str, Coefficient]:
    halves = split_half(table, seed=seed)
    alone = "Spearman correlation of one person with the mean of the others, mean over people"
    return {
        "krippendorff_alpha_interval": _interval(
            krippendorff(table, "interval"), draw, "Krippendorff's alpha, interval"
        ),
        "krippendorff_alpha_ordinal": Coefficient(
            value=_number(krippendorff(table, "ordinal")()), meaning="Krippendorff's alpha, ordinal"
        ),
        "split_half": _resampled(
            table,
            halves.correlation,
            lambda drawn, n: split_half(drawn, splits=2, seed=n).correlation,
            "Spearman correlation of two halves of the people, mean of 200 splits",
            seed,
        ),
        "split_half_spearman_brown": _resampled(
            table,
            halves.spearman_brown,
            lambda drawn, n: split_half(drawn, splits=2, seed=n).spearman_brown,
            "the same, stepped up to all of the people",
            seed,
        ),
        "leave_one_out_spearman": _resampled(
            table, one_against_others(table), lambda drawn, n: one_against_others(drawn), alone, seed
        ),
    }


def _of_choices(table: IntArray, offered: FloatArray, draw: Resamples) -> dict[str, Coefficient]:
    made = {
        "fleiss_kappa": _interval(fleiss(table), draw, "Fleiss' kappa"),
        "krippendorff_alpha": _interval(krippendorff_counts(table, "nominal"), draw, "Krippendorff's alpha, nominal"),
    }
    if (table.sum(axis=1) >= 2).any():
        alone, rows = leave_one_out(table, offered)
        for name in LEFT_OUT:
            metric = METRICS[name]
            stats = metric.stats(alone)
            by_item = np.zeros((len(table), stats.shape[1]))
            np.add.at(by_item, rows, stats)
            meaning = f"{name} of one person, gold being what is typical of the others' answers"
            made[f"leave_one_out_{name}"] = _interval(Agreement(by_item, metric.value), draw, meaning)
    return made


def report(
    study: Study,
    every: Sequence[Judgement],
    kept: Sequence[Judgement],
    dropped: Sequence[Dropped],
    rule: Rule,
    found: dict[str, Coefficient],
) -> Report:
    """All of it in one document."""
    people, judged = {j.person for j in every}, {j.item.id for j in kept}
    return Report(
        study=study.name,
        fingerprint=study.fingerprint,
        kind=study.kind,
        rule=rule,
        people=len(people),
        people_kept=len(people) - len(dropped),
        dropped=tuple(dropped),
        judgements=sum(not j.item.control for j in every),
        judgements_kept=len(kept),
        items=len(study.measured),
        items_judged=len(judged),
        judgements_an_item=len(kept) / len(judged) if judged else 0.0,
        agreement=found,
    )


def _objects(study: Study, items: Sequence[Item]) -> list[str]:
    """What the bootstrap draws: a task's objects, so that questions about one thing stay together; else the pairs."""
    known = {question.id: question.object for question in study.task.questions} if study.task else {}
    return [known.get(item.question, item.id) for item in items]


def _interval(found: Agreement, draw: Resamples, meaning: str) -> Coefficient:
    made = draw.interval(found.rows[None], found.value)
    return Coefficient(value=_number(made.value), low=_number(made.low), high=_number(made.high), meaning=meaning)


def _resampled(
    table: FloatArray, value: float, figure: Callable[[FloatArray, int], float], meaning: str, seed: int
) -> Coefficient:
    """For figures that are not sums over items: the items are drawn again and the figure computed anew."""
    rng = np.random.default_rng(seed)
    drawn = np.array([figure(table[rng.integers(0, len(table), len(table))], n) for n in range(_REDRAWN)])
    known = drawn[~np.isnan(drawn)]
    low, high = np.quantile(known, [0.025, 0.975]) if known.size else (math.nan, math.nan)
    return Coefficient(value=_number(value), low=_number(float(low)), high=_number(float(high)), meaning=meaning)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
