"""The published rule, and what it does to careless people."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from tests.judge.annotators import Rater, always_middle, always_similar, at_random, careful, judge
from tests.judge.studies import choice_study, rating_study

from seesay.judge.items import RatingItem
from seesay.judge.results.agreement import agreement_coefficients
from seesay.judge.results.export_tables import item_rows
from seesay.judge.results.quality import Judgement, QualityCriteria, exclude_careless
from seesay.judge.study import Study, StudyDesign
from seesay.judge.study_builder import study_from_pairs
from seesay.metrics.agreement import rank_correlation

WORDS = [
    "above",
    "over",
    "under",
    "below",
    "near",
    "next",
    "left",
    "right",
    "in",
    "on",
    "far",
    "away",
]


def published_size(folder: Path) -> tuple[Study, dict[str, float]]:
    """66 pairs of 12 relations, 10 judgements each, as in the published collection; the truth is
    made up."""
    path = folder / "relations.csv"
    pairs = list(combinations(WORDS, 2))
    path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in pairs), encoding="utf-8")
    study = study_from_pairs(path, StudyDesign(judgements=10, per_page=10, pages=1))
    chance = random.Random(5)
    return study, {item.id: chance.random() for item in study.measured}


def judgement(study: Study, person: int, control: str, value: int) -> Judgement:
    item = next(item for item in study.controls if item.control == control)
    return Judgement(person, item, value, 50, "moved", 3.0, 0, 0.0)


@pytest.mark.parametrize(
    ("control", "value", "dropped"),
    [("distinct", 60, False), ("distinct", 61, True), ("same", 90, False), ("same", 89, True)],
)
def test_the_published_thresholds(tmp_path: Path, control: str, value: int, dropped: bool) -> None:
    """Above 60 % on a green item, or below 90 % on a self item: all contributions are lost (facts
    of the paper)."""
    study = rating_study(tmp_path)
    judgements = [Judgement(1, item, 40, 50, "moved", 3.0, 0, 0.0) for item in study.measured]
    counted, excluded = exclude_careless(
        [*judgements, judgement(study, 1, control, value)], QualityCriteria(), {1: "CODE"}
    )
    assert (len(excluded), len(counted)) == ((1, 0) if dropped else (0, len(judgements)))
    if dropped:
        assert excluded[0].code == "CODE"
        assert excluded[0].judgements == len(judgements)
        assert str(value) in excluded[0].reasons[0]


def test_one_failed_control_is_enough_and_others_are_untouched(tmp_path: Path) -> None:
    study = rating_study(tmp_path)
    good = [judgement(study, 1, "distinct", 5), judgement(study, 1, "same", 99)]
    bad = [judgement(study, 2, "distinct", 5), judgement(study, 2, "same", 20)]
    measured = [
        Judgement(person, study.measured[0], 40, 50, "moved", 3.0, 0, 0.0) for person in (1, 2)
    ]
    counted, excluded = exclude_careless([*good, *bad, *measured], QualityCriteria())
    assert [j.person for j in counted] == [1]
    assert [person.person for person in excluded] == [2]
    counted, excluded = exclude_careless([*good, *bad, *measured], QualityCriteria(same_below=0.1))
    assert not excluded


def test_known_answers_and_speed() -> None:
    study = choice_study(count=12)
    controls = study.controls[:2]
    right = [item.names.index(item.known[0]) for item in controls]
    answers = {1: right, 2: [right[0], (right[1] + 1) % 3], 3: right}
    judgements = [
        Judgement(person, item, value, None, "chosen", 0.2 if person == 3 else 3.0, 0, 0.0)
        for person, values in answers.items()
        for item, value in zip(controls, values, strict=True)
    ]
    assert [p.person for p in exclude_careless(judgements, QualityCriteria())[1]] == [2]
    assert [
        p.person for p in exclude_careless(judgements, QualityCriteria(known_below=0.5))[1]
    ] == []
    assert [
        p.person for p in exclude_careless(judgements, QualityCriteria(seconds_below=1))[1]
    ] == [
        2,
        3,
    ]


def test_excluding_careless_people_restores_the_truth(tmp_path: Path) -> None:
    """66 people as published, 9 of them careless: those go, about 8.6 judgements a pair remain, and
    means follow truth.

    A careless person passes only if their sliders happen to fall right on both controls: the rule
    is about them.
    """
    study, truth = published_size(tmp_path)
    careless: list[Rater] = [at_random, always_similar, always_middle] * 3
    people: list[Rater] = [*careless, *[careful(truth)] * 57]
    every = judge(study, people)
    counted, excluded = exclude_careless(every, QualityCriteria())
    assert {person.person for person in excluded} == set(range(1, 10))
    assert {j.person for j in counted} == set(range(10, 67))
    assert len(counted) / len(study.measured) == pytest.approx(8.6, abs=0.3)

    def recovered(judgements: list[Judgement]) -> float:
        means = {row["item"]: row["mean"] for row in item_rows(study, judgements)}
        return rank_correlation(*np.array([(means[item], truth[item]) for item in truth]).T)

    with_all = recovered([j for j in every if not j.item.control])
    print(f"Spearman with the truth: {with_all:.3f} with all, {recovered(counted):.3f} cleaned")
    assert recovered(counted) > 0.97
    assert recovered(counted) > with_all


@pytest.mark.seconds
def test_exclusion_raises_agreement(tmp_path: Path) -> None:
    study, truth = published_size(tmp_path)
    people: list[Rater] = [at_random, always_similar] * 11 + [careful(truth)] * 44
    every = judge(study, people)
    counted, excluded = exclude_careless(every, QualityCriteria())
    assert {person.person for person in excluded} <= set(range(1, 23))  # no careful person is lost
    assert len(excluded) >= 20  # a random slider passes both controls once in about sixteen times
    before = agreement_coefficients(study, [j for j in every if not j.item.control], resamples=200)
    after = agreement_coefficients(study, counted, resamples=200)
    for name in before:
        low, high = before[name].value, after[name].value
        assert low is not None
        assert high is not None
        assert high > low, name
    assert after["split_half_spearman_brown"].value == pytest.approx(0.98, abs=0.02)


def test_pairs_that_share_words_say_less_of_agreement(tmp_path: Path) -> None:
    """Each person has a view of their own of every word, and so of all its pairs."""
    names = list(combinations(range(12), 2))
    chance = np.random.default_rng(0)
    views = 50 + 8 * chance.normal(size=12) + 8 * chance.normal(size=(6, 12))
    agreement = {}
    for name, pairs in {
        "shared": [(WORDS[a], WORDS[b]) for a, b in names],
        "apart": [(f"a{number}", f"b{number}") for number in range(len(names))],
    }.items():
        path = tmp_path / f"{name}.csv"
        path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in pairs), encoding="utf-8")
        study = study_from_pairs(path, StudyDesign(judgements=6, per_page=10, pages=1))
        rows = {pair: number for number, pair in enumerate(pairs)}
        judgements = []
        for item in study.measured:
            assert isinstance(item, RatingItem)
            a, b = names[rows[item.words]]
            for person, view in enumerate(views):
                value = int(np.clip((view[a] + view[b]) / 2, 0, 100))
                judgements.append(Judgement(person, item, value, 50, "moved", 4.0, 0, 0.0))
        agreement[name] = agreement_coefficients(study, judgements, resamples=500)
    for name in ("krippendorff_alpha_interval", "split_half", "leave_one_out_spearman"):
        widths = []
        for coefficients in agreement.values():
            coefficient = coefficients[name]
            assert coefficient.low is not None
            assert coefficient.high is not None
            widths.append(coefficient.high - coefficient.low)
        assert widths[0] > 1.3 * widths[1], name
