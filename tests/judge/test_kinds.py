"""Every kind of item: what its answers are, what they name, and how they come in by script and by
form."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.judge.studies import ServedStudy, form_token, serve_in_test, task

from seesay.errors import UserError
from seesay.judge.items import ITEM_TYPES, ItemAnswer, NumberItem, SeveralItem, TextItem
from seesay.judge.rejections import InvalidAnswerError
from seesay.judge.results.export import export_study
from seesay.judge.study import Study, StudyDesign
from seesay.judge.study_builder import build_study, study_from_pairs, study_from_task

COUNTS = ("two", "4", "ten")
DESIGN: dict[str, Any] = {"judgements": 2, "per_page": 20, "controls": 0}


def study(kind: str, **choices: Any) -> Study:
    """Six things; numbers have numbers for options."""
    colors = task(6)
    if kind == "number":
        questions = tuple(replace(q, options=COUNTS, gold={"4": 1.0}) for q in colors.questions)
        colors = replace(colors, questions=questions)
    return study_from_task(colors, StudyDesign(**DESIGN), answer=kind, **choices)


def answers(kind: str, place: int) -> dict[str, str]:
    """An item's fields of a form."""
    fields = {"choice": {f"v{place}": "0"}, "several": {f"o0-{place}": "0", f"o2-{place}": "2"}}
    typed = {"number": "4,0", "text": "mostly red, not blue"}
    return fields.get(kind) or {f"t{place}": typed[kind]}


NAMED = {"choice": "red", "several": "red; blue", "number": "4", "text": "red"}


@pytest.mark.parametrize("kind", ITEM_TYPES)
def test_answers_by_form_reach_the_export(kind: str, tmp_path: Path) -> None:
    served = serve_in_test(study(kind), str(tmp_path / "study.sqlite"))
    try:
        for _ in range(2):
            token = served.begin()
            fields = {"form": form_token(served.client.get(f"/a/{token}").text)}
            for place in range(1, 7):
                fields |= answers(kind, place)
            assert served.send(token, 1, fields).status_code == 303
            assert served.send(token, 1, fields).status_code == 303  # sent twice, it counts once
        exported = export_study(served.database, served.study, tmp_path / "export", resamples=100)
    finally:
        served.database.close()
    assert exported.run is not None
    assert exported.report.judgements == 12
    rows = (tmp_path / "export" / "judgements.csv").read_text(encoding="utf-8").splitlines()
    assert all(f",{NAMED[kind]}," in row for row in rows[1:])
    items = (tmp_path / "export" / "items.csv").read_text(encoding="utf-8")
    assert ("mean" in items.splitlines()[0]) == (kind == "number")


def test_texts_that_name_no_option_are_exported(tmp_path: Path) -> None:
    served = serve_in_test(study("text"), str(tmp_path / "study.sqlite"))
    token = served.begin()
    form = form_token(served.client.get(f"/a/{token}").text)
    served.send(token, 1, {"form": form} | {f"t{place}": "xyzzy" for place in range(1, 7)})
    exported = export_study(served.database, served.study, tmp_path / "export", resamples=100)
    served.database.close()
    assert exported.report.judgements_counted == 6
    assert exported.report.agreement["fleiss_kappa_named"].value is None


def save(served: ServedStudy, token: str, **answer: Any) -> Any:
    body = {
        "page": 1,
        "place": 1,
        "key": "k" * 16 + json.dumps(answer).encode().hex()[-40:],
        **answer,
    }
    return served.client.post(
        "/api/answers", json=body, headers={"Authorization": f"Bearer {token}"}
    )


def test_typed_answers_by_script(tmp_path: Path) -> None:
    served = serve_in_test(study("number"), str(tmp_path / "study.sqlite"))
    try:
        token = served.begin()
        served.client.get(f"/a/{token}")
        for text, status in (("many", 422), ("", 422), ("4" * 400, 422), ("12", 200), ("4.0", 200)):
            assert save(served, token, how="typed", text=text).status_code == status, text
        assert save(served, token, how="chosen", value=1).status_code == 422
        assert served.rows("SELECT text FROM typed") == [("4.0",)]
        page = served.client.get(f"/a/{token}").text
        assert 'value="4.0"' in page
    finally:
        served.database.close()


def test_mistaken_answer_does_not_lose_the_others(tmp_path: Path) -> None:
    served = serve_in_test(study("several", most=2), str(tmp_path / "study.sqlite"))
    try:
        token = served.begin()
        fields = {"form": form_token(served.client.get(f"/a/{token}").text), "o1-1": "1"}
        for place in range(1, 7):
            fields |= answers("several", place)
        reply = served.send(token, 1, fields)
        assert reply.status_code == 422
        assert "Choose at most 2 answers." in reply.text
        assert served.rows("SELECT COUNT(*) FROM answer") == [(5,)]
        del fields["o1-1"]
        assert served.send(token, 1, fields).status_code == 303
    finally:
        served.database.close()


def test_limits_of_several_and_numbers() -> None:
    three = SeveralItem(id="a", base="a", options=("x", "y", "z"), most=2)
    three.check(ItemAnswer(0b101, "chosen"))
    with pytest.raises(InvalidAnswerError, match="at most 2"):
        three.check(ItemAnswer(0b111, "chosen"))
    number = NumberItem(id="a", base="a", low=1, high=10)
    number.check(ItemAnswer(0, "typed", " 2,5 "))
    for text in ("0", "11", "3 cats"):
        with pytest.raises(InvalidAnswerError):
            number.check(ItemAnswer(0, "typed", text))


def test_typed_texts_are_matched_like_model_answers() -> None:
    item = TextItem(
        id="a",
        base="a",
        text="A lime is [MASK].",
        options=("red", "green"),
        aliases={"green": ("grün",)},
    )
    labels = {
        text: item.labels(0, text)
        for text in ("Green.", "not red but green", "grün", "purple", "red or green")
    }
    assert labels == {
        "Green.": ("green",),
        "not red but green": ("green",),
        "grün": ("green",),
        "purple": (),
        "red or green": ("red", "green"),
    }


def test_impossible_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'red' of 'colours' is not a number"):
        study_from_task(task(), StudyDesign(), answer="number")
    with pytest.raises(UserError, match="--answer is one of choice, several, number, text"):
        study_from_task(task(), StudyDesign(), answer="slider")
    many = replace(
        task(1).questions[0], options=tuple(f"o{i}" for i in range(60)), gold={"o1": 1.0}
    )
    with pytest.raises(UserError, match="more than 50 options"):
        study_from_task(replace(task(1), questions=(many,)), StudyDesign(), answer="several")
    with pytest.raises(UserError, match="called after a word or option, such as red"):
        study_from_task(task(), StudyDesign(), icons=tmp_path)


def test_six_items_are_one_page(tmp_path: Path) -> None:
    served = serve_in_test(study("choice"), str(tmp_path / "study.sqlite"))
    try:
        page = served.client.get(f"/a/{served.begin()}").text
    finally:
        served.database.close()
    assert "Page 1 of 1" in page
    assert "Send and finish" in page


def test_icons_and_pictures(tmp_path: Path) -> None:
    (tmp_path / "icons").mkdir()
    circle = '<circle cx="4" cy="4" r="4" fill="red"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{circle}</svg>'
    (tmp_path / "icons" / "red.svg").write_text(svg, encoding="utf-8")
    served = serve_in_test(
        study("choice", icons=tmp_path / "icons"), str(tmp_path / "study.sqlite")
    )
    try:
        token = served.begin()
        page = served.client.get(f"/a/{token}").text
        assert f'src="/a/{token}/icon/1/1/0"' in page
        assert f"/a/{token}/icon/1/1/1" not in page
        reply = served.client.get(f"/a/{token}/icon/1/1/0")
        assert (reply.status_code, reply.headers["content-type"]) == (200, "image/svg+xml")
        for path in ("1/1/1", "1/1/9", "1/99/0", "2/1/0"):
            assert served.client.get(f"/a/{token}/icon/{path}").status_code == 404
    finally:
        served.database.close()
    (tmp_path / "pairs.csv").write_text(
        "a,b,picture\ncat,dog,icons/red.svg\nsun,moon,\n", encoding="utf-8"
    )
    first, second = study_from_pairs(tmp_path / "pairs.csv", StudyDesign(**DESIGN)).measured
    assert first.picture == str(tmp_path / "icons" / "red.svg")
    assert second.picture is None
    (tmp_path / "pairs.csv").write_text("a,b,picture\ncat,dog,none.png\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"none\.png' does not exist"):
        build_study(str(tmp_path / "pairs.csv"), DESIGN)
