"""ViPhy's human evaluation, collected on the page from simulated people: several labels, and macro
F1 by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.judge.studies import form_token, serve_in_test
from tests.shared_data import shared

from seesay.judge.results.export import export_study
from seesay.judge.study import StudyDesign
from seesay.judge.study_builder import study_from_task
from seesay.questions import Question
from seesay.tasks import load_task


def gold(question: Question) -> list[str]:
    return [label for label, weight in question.gold.items() if weight > 0]


def test_macro_f1_by_hand(tmp_path: Path) -> None:
    """Three things of the published file, four people who tick boxes.

    The first is of one color A: all name A, one also D: shares 4/5 and 1/5, of two labels 1/5 is
    below 0.3, so A alone is typical. The second is of the colors B and C: all name B alone. The
    third is of A too: two name A, two D, so both are typical. F1: A 1 (predicted twice, gold twice,
    both hits), B 1, C 0 (gold, never predicted), D 0 (predicted once, never gold): macro F1 = 1/2.
    """
    task = load_task("viphy-color", shared("viphy/results/colors.json").parents[1])
    single = [question for question in task.questions if len(gold(question)) == 1]
    first = single[0]
    (a,) = gold(first)
    third = next(question for question in single[1:] if gold(question) == [a])
    second = next(
        question
        for question in task.questions
        if len(gold(question)) == 2 and a not in gold(question)
    )
    b, c = gold(second)
    d = next(label for label in first.options if label not in (a, b, c))
    labels_by_question = {
        first.id: [[a], [a], [a], [a, d]],
        second.id: [[b]] * 4,
        third.id: [[a], [a], [d], [d]],
    }
    three = replace(task, questions=(first, second, third))
    study = study_from_task(three, StudyDesign(judgements=4, controls=0), answer="several")
    served = serve_in_test(study, str(tmp_path / "study.sqlite"))
    try:
        for person in range(4):
            token = served.begin()
            page = served.client.get(f"/a/{token}").text
            fields = {"form": form_token(page)}
            rows = served.rows("SELECT place, item FROM assignment WHERE person = ?", person + 1)
            for place, item in rows:
                options = study.items_by_id[item].names
                fields |= {
                    f"o{options.index(label)}-{place}": "1"
                    for label in labels_by_question[item][person]
                }
            assert len(re.findall('type="checkbox"', page)) == sum(
                len(study.items_by_id[i].names) for _, i in rows
            )
            assert served.send(token, 1, fields).status_code == 303
        exported = export_study(served.database, study, tmp_path / "export", resamples=200)
    finally:
        served.database.close()
    assert exported.run is not None
    assert exported.report.judgements_counted == 12
    value = {
        figure.metric: figure.value
        for figure in exported.run.figures
        if not figure.template and not figure.slice
    }
    assert value["macro_f1"] == pytest.approx(1 / 2, abs=1e-5)
    assert value["true_confidence"] == pytest.approx((4 / 5 + 1 + 1 / 2) / 3, abs=1e-5)
    assert "labels:several" in exported.run.manifest.signature
    kappa = exported.report.agreement["fleiss_kappa_named"].value
    assert kappa is not None
    assert 0 < kappa < 1
