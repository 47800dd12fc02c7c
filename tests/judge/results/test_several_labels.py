"""People who may name several labels: their run, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.judge.studies import task

from seesay.judge.items import ItemAnswer
from seesay.judge.rejections import RequestRejectedError
from seesay.judge.results.agreement import agreement_coefficients
from seesay.judge.results.export_tables import item_rows, judgement_rows
from seesay.judge.results.human_run import write_human_run
from seesay.judge.results.quality import Judgement, QualityCriteria, exclude_careless
from seesay.judge.study import Study, StudyDesign
from seesay.judge.study_builder import study_from_task

RED, GREEN, BLUE = 1, 2, 4


def study() -> Study:
    """Three things: red; red and green; blue."""
    golds = ({"red": 1.0}, {"red": 0.5, "green": 0.5}, {"blue": 1.0})
    full_task = task(3)
    questions = tuple(
        replace(q, gold=gold) for q, gold in zip(full_task.questions, golds, strict=True)
    )
    return study_from_task(
        replace(full_task, questions=questions), StudyDesign(controls=0), answer="several"
    )


def judged(several: Study, *values: tuple[int, ...]) -> list[Judgement]:
    """What each person says of each thing."""
    return [
        Judgement(person, item, value, None, "chosen", 1.0, 0, 0.0)
        for item, people in zip(several.measured, values, strict=True)
        for person, value in enumerate(people, start=1)
    ]


def test_an_answer_names_labels_by_bits() -> None:
    item = study().measured[0]
    assert item.names == ("red", "green", "blue")
    assert [item.labels(value) for value in (1, 2, 5, 7)] == [
        ("red",),
        ("green",),
        ("red", "blue"),
        ("red", "green", "blue"),
    ]
    for value in (1, 7):
        item.check(ItemAnswer(value, "chosen"))
    for value in (0, 8):
        with pytest.raises(RequestRejectedError, match="from 1 to 7"):
            item.check(ItemAnswer(value, "chosen"))


def test_the_run_by_hand(tmp_path: Path) -> None:
    """Four people. Thing 1: red 4, green 1 of 5 labels named: 0.8 and 0.2, of two 0.2 < 0.3, so red
    alone is typical. Thing 2: red 3, green 3 of 6: both. Thing 3: blue 2, green 2, red 1 of 5: 0.4,
    0.4 and 0.2, all three.

    Red: predicted three times, gold twice, two hits: F1 4/5. Green: predicted twice, gold once, one
    hit: 2/3. Blue: 1. Macro F1 (4/5 + 2/3 + 1) / 3 = 37/45. Confidence (0.8 + 1 + 0.4) / 3. The
    most frequent label is right, right, and for the third half right, as blue and green tie.
    """
    several = study()
    judgements = judged(
        several,
        (RED, RED, RED, RED | GREEN),
        (RED | GREEN, RED | GREEN, RED, GREEN),
        (BLUE, BLUE, GREEN, GREEN | RED),
    )
    run = write_human_run(several, judgements, {}, tmp_path, resamples=100)
    value = {
        figure.metric: figure.value
        for figure in run.figures
        if not figure.template and not figure.slice
    }
    assert value["macro_f1"] == pytest.approx(37 / 45, abs=1e-5)
    assert value["true_confidence"] == pytest.approx(2.2 / 3, abs=1e-5)
    assert value["relaxed_accuracy"] == pytest.approx(2.5 / 3, abs=1e-5)
    assert "labels:several" in run.manifest.signature
    assert item_rows(several, judgements)[0]["answers"] == "red: 4; green: 1"
    assert judgement_rows(several, judgements, [])[3]["label"] == "red; green"


def test_agreement_on_naming() -> None:
    """Two people, three things. Red is named by both, by both, by none: kappa 1; green never by one
    alone: 1; blue by none, none, both: 1. One disagreement about green of three things: kappa of
    green (2/3 − 1/2) / (1/2) = 1/3."""
    several = study()
    agreed = judged(several, (RED, RED), (RED | GREEN, RED | GREEN), (BLUE, BLUE))
    (kappa,) = agreement_coefficients(several, agreed, resamples=100).values()
    assert kappa.value == pytest.approx(1.0)
    # green: both name it of the first, one of the second, none of the third: half of the six
    # answers
    apart = judged(several, (RED | GREEN, RED | GREEN), (RED | GREEN, RED), (BLUE, BLUE))
    (kappa,) = agreement_coefficients(several, apart, resamples=100).values()
    assert kappa.value == pytest.approx((1 + 1 / 3 + 1) / 3)


def test_a_known_answer_is_right_if_nothing_else_is_named() -> None:
    item = study().measured[0].model_copy(update={"control": "known", "known": ("red",)})
    for value, excluded in ((RED, 0), (RED | GREEN, 1)):
        careless = exclude_careless(
            [Judgement(1, item, value, None, "chosen", 1.0, 0, 0.0)], QualityCriteria()
        )[1]
        assert len(careless) == excluded


def test_people_who_agree_on_three_things_may_not_on_others() -> None:
    """Wilson's interval of none of three reaches 3.8415 / (3 + 3.8415) = 0.5615."""
    several = study()
    judgements = judged(several, (RED, RED, RED), (GREEN, GREEN, GREEN), (BLUE, BLUE, BLUE))
    kappa = agreement_coefficients(several, judgements, resamples=100)["fleiss_kappa_named"]
    assert (kappa.value, kappa.high) == (1, 1)
    assert kappa.low == pytest.approx(1 - 2 * 0.5615, abs=1e-4)
