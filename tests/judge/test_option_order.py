"""Participants see options in orders of their own, and an answer means the same for all."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.judge.conftest import Opener
from tests.judge.studies import COLOURS, ServedStudy, choice_study, task

from seesay.judge import OptionOrder
from seesay.judge.results.export import export_study
from seesay.judge.study import Study, StudyDesign
from seesay.judge.study_builder import study_from_task

RADIO = re.compile(r'name="v(\d+)" value="(\d)".*?<bdi>(\w+)</bdi>')


def study_with(options: tuple[str, ...], order: OptionOrder = OptionOrder.AUTO) -> Study:
    """A study of questions with these options."""
    coloured = task(6)
    questions = tuple(
        replace(question, options=options, gold={options[0]: 1.0})
        for question in coloured.questions
    )
    design = StudyDesign(controls=0, option_order=order)
    return study_from_task(replace(coloured, questions=questions), design)


def orders(study: Study, people: int = 60) -> Counter[tuple[int, ...]]:
    """How many people see the first item's options in each order."""
    item = study.measured[0]
    return Counter(study.option_order(person, item) for person in range(1, people + 1))


def test_all_orders_are_about_as_frequent() -> None:
    counts = orders(choice_study(), people=600)
    assert len(counts) == 6
    assert max(counts.values()) < 2 * min(counts.values())


@pytest.mark.parametrize("options", [("yes", "no"), ("False", "True"), ("1", "2", "10")])
def test_options_whose_order_means_something_keep_it(options: tuple[str, ...]) -> None:
    as_given = tuple(range(len(options)))
    assert list(orders(study_with(options))) == [as_given]
    assert len(orders(study_with(options, OptionOrder.SHUFFLED))) > 1


def test_the_order_can_be_kept() -> None:
    assert list(orders(study_with(COLOURS, OptionOrder.AS_GIVEN))) == [(0, 1, 2)]


def shown(served: ServedStudy, token: str) -> dict[int, list[tuple[int, str]]]:
    """The options on a participant's page: by place, the value and the text of each."""
    page = served.client.get(f"/a/{token}").text
    options: dict[int, list[tuple[int, str]]] = {}
    for place, value, text in RADIO.findall(page):
        options.setdefault(int(place), []).append((int(value), text))
    return options


def test_an_answer_is_the_option_that_was_read(serve: Opener, tmp_path: Path) -> None:
    """Whoever always takes the first option on the page names different colours."""
    served = serve(choice_study(controls=0))
    texts = []
    for _ in range(6):
        token = served.begin()
        options = shown(served, token)
        # the same order on every item of one person's page
        assert len({tuple(text for _, text in row) for row in options.values()}) == 1
        assert all(COLOURS[value] == text for row in options.values() for value, text in row)
        fields = served.fill(token, lambda place: options[place][0][0])  # noqa: B023
        texts += [row[0][1] for row in options.values()]
        assert served.send(token, 1, fields).status_code == 303
    assert len(set(texts)) > 1
    export_study(served.database, served.study, tmp_path / "out", resamples=100)
    with (tmp_path / "out" / "judgements.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert Counter(row["label"] for row in rows) == Counter(texts)
    assert {row["shown_at"] for row in rows} == {"1"}


def test_a_page_that_is_opened_again_has_the_same_order(serve: Opener) -> None:
    served = serve(choice_study())
    token = served.begin()
    assert shown(served, token) == shown(served, token)
