"""Before the first page: contact, languages, comprehension check, practice, and the time it
takes."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po
from tests.judge.studies import ServedStudy, form_token, rating_study, serve_in_test, task

import seesay.judge
from seesay.errors import UserError
from seesay.judge.storage.studies import (
    create_or_open_study,
    create_study,
    minutes_per_person,
    open_database,
    seconds_per_item,
)
from seesay.judge.study import Study, StudyDesign
from seesay.judge.study_builder import add_texts, study_from_task
from seesay.judge.texts import ContactDetails
from seesay.judge.web.languages import DRAFTS, LANGUAGES, PSEUDO, check_languages, translations
from seesay.judge.web.server import check_contact
from seesay.questions import Question

TEXTS = """
en:
  check:
    - question: What if several answers fit?
      options: [Choose none, Take the first that comes to mind]
      answer: Take the first that comes to mind
      explanation: The first one that comes to mind counts.
  practice:
    - text: A lemon is [MASK].
      options: [red, yellow]
      answer: yellow
      explanation: Lemons are yellow.
de:
  title: Welche Farbe hat es?
  options: {red: rot, green: grün, blue: blau}
  items: {thing 0: "Ein Ding ist [MASK]."}
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedStudy]:
    (tmp_path / "texts.yaml").write_text(TEXTS, encoding="utf-8")
    study = add_texts(
        study_from_task(task(6), StudyDesign(judgements=2, controls=0, minutes=4.2)),
        tmp_path / "texts.yaml",
    )
    study = study.model_copy(
        update={"contact": ContactDetails(researcher="A. Smith", contact="a@example.org")}
    )
    opened = serve_in_test(study, str(tmp_path / "study.sqlite"))
    yield opened
    opened.database.close()


def step(served: ServedStudy, token: str, name: str, **fields: str) -> str:
    form = form_token(served.client.get(f"/a/{token}").text)
    return served.client.post(f"/a/{token}/{name}", data={"form": form, **fields}).text


def test_steps_before_the_first_page(served: ServedStudy) -> None:
    token = served.invite()
    consent = served.client.get(f"/a/{token}").text
    assert "A. Smith" in consent
    assert "mailto:a@example.org" in consent
    assert "It takes about 4 minutes." in consent
    step(served, token, "consent", agree="yes")
    assert "Is everything clear?" in served.client.get(f"/a/{token}").text
    assert "The first one that comes to mind counts." in step(served, token, "check", v1="0")
    assert "These are for practice" in step(served, token, "check", v1="1")
    assert "Some answers are missing." in step(served, token, "practice")
    feedback = step(served, token, "practice", v1="0")
    assert "Not quite." in feedback
    assert "Expected: yellow." in feedback
    assert "Lemons are yellow." in feedback
    assert "Page 1 of 1" in served.client.get(f"/a/{token}").text
    details = dict(served.rows("SELECT key, value FROM detail"))
    assert details == {"language": "en", "check": "passed 2", "practice": "passed 0 of 1"}
    assert served.rows("SELECT COUNT(*) FROM answer") == [(0,)]


def test_invalid_practice_answers(served: ServedStudy, tmp_path: Path) -> None:
    token = served.begin()
    step(served, token, "check", v1="1")
    assert "whole number from 0 to 1" in step(served, token, "practice", v1="99")
    texts = "en: {practice: [{text: 'A dog has [MASK] legs.', options: [four], answer: four}]}"
    (tmp_path / "numbers.yaml").write_text(texts, encoding="utf-8")
    numbers = replace(
        task(1),
        questions=(Question("dog", {"thing": "dog"}, ("two", "four"), {"four": 1.0}, "dog"),),
    )
    study = study_from_task(numbers, StudyDesign(controls=0), answer="number")
    other = serve_in_test(
        add_texts(study, tmp_path / "numbers.yaml"), str(tmp_path / "numbers.sqlite")
    )
    token = other.begin()
    assert "Type a number, such as 3 or 2.5." in step(other, token, "practice", t1="many")
    assert "Right." in step(other, token, "practice", t1="4")
    other.database.close()


def test_second_failed_check_ends_participation(served: ServedStudy) -> None:
    token = served.begin()
    for _ in range(2):
        form = {"form": form_token(served.client.get(f"/a/{token}").text), "v1": "0"}
        reply = served.client.post(f"/a/{token}/check", data=form)
    assert "you cannot take part" in reply.text
    served.client.post(f"/a/{token}/check", data={**form, "v1": "1"})  # a third try changes nothing
    assert "you cannot take part" in served.client.get(f"/a/{token}").text
    assert served.rows("SELECT value FROM detail WHERE key = 'check'") == [("failed",)]


def test_language_of_the_browser_and_of_the_visitor(served: ServedStudy) -> None:
    token = served.invite()
    german = served.client.get(
        f"/a/{token}", headers={"Accept-Language": "fr, de-CH;q=0.8, en;q=0.5"}
    ).text
    assert 'lang="de" dir="ltr"' in german
    assert "Welche Farbe hat es?" in german
    assert "Ich habe das gelesen" in german
    assert "Es dauert etwa 4 Minuten." in german
    assert 'lang="en"' in served.client.get(f"/a/{token}", headers={"Accept-Language": "ja"}).text
    served.client.get(f"/a/{token}?lang=de")  # kept in a cookie
    step(served, token, "consent", agree="yes")
    step(served, token, "check", v1="1")
    step(served, token, "practice", v1="1")
    page = served.client.get(f"/a/{token}").text
    assert "Seite 1 von 1" in page
    assert "<bdi>rot</bdi>" in page
    assert "Ein Ding ist" in page
    assert "Dieser Link ist unbekannt." in served.client.get("/a/none").text
    assert served.rows("SELECT value FROM detail WHERE key = 'language'") == [("de",)]
    assert "Set-Cookie" not in served.client.get(f"/a/{token}?lang=xx").headers


def test_every_text_is_in_every_complete_catalogue() -> None:
    root = Path(next(iter(seesay.judge.__path__)))
    keywords: dict[str, Any] = {"_": None, "gettext": None, "ngettext": (1, 2), "mark": None}
    keywords |= {
        "RequestRejectedError": (2,),
        "InvalidAnswerError": (1,),
        "MistakenAnswerError": (1,),
    }
    methods = [("**.py", "python"), ("**/templates/**.html", "jinja2")]
    options = {"**/templates/**.html": {"trimmed": "true"}}
    texts = {message for _, _, message, _, _ in extract_from_dir(root, methods, options, keywords)}
    singles = {text if isinstance(text, str) else text[0] for text in texts}
    assert len(singles) > 90
    for language in LANGUAGES:
        if language in ("en", PSEUDO):
            continue
        path = root / "web" / "locale" / language / "LC_MESSAGES" / "judge.po"
        with path.open("rb") as file:
            catalogue = read_po(file)
        messages = {m.id if isinstance(m.id, str) else m.id[0]: m for m in catalogue if m.id}
        assert set(messages) == singles, f"{language}: run `make messages`"
        translated = {
            name for name, message in messages.items() if message.string and any(message.string)
        }
        assert (translated == singles) == (language not in DRAFTS)
        assert ("draft" in catalogue.header_comment) == (language in DRAFTS)
        compiled = translations(language)
        for name in translated:
            message = messages[name]
            if isinstance(message.id, str):
                assert compiled.gettext(name) == message.string, f"{language}: run `make messages`"
                assert re.findall(r"%\(\w+\)\w", name) == re.findall(
                    r"%\(\w+\)\w", str(message.string)
                ), name


def test_right_to_left(tmp_path: Path) -> None:
    study = rating_study(tmp_path, languages=("en", PSEUDO))
    opened = serve_in_test(study, str(tmp_path / "study.sqlite"))
    try:
        page = opened.client.get(f"/a/{opened.invite()}?lang={PSEUDO}").text
    finally:
        opened.database.close()
    assert f'lang="{PSEUDO}" dir="rtl"' in page
    with pytest.raises(UserError, match="no texts in 'xx'"):
        check_languages(["en", "xx"])


def test_public_study_needs_a_contact(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    study = rating_study(tmp_path)
    with caplog.at_level(logging.WARNING):
        check_contact(study, "")
    assert "--contact" in caplog.text
    with pytest.raises(UserError, match="--contact"):
        check_contact(study, "https://study.example.org")
    check_contact(
        study.model_copy(update={"contact": ContactDetails(contact="me")}),
        "https://study.example.org",
    )


def test_same_command_continues_a_study_with_texts(tmp_path: Path) -> None:
    texts = tmp_path / "texts.yaml"
    texts.write_text(TEXTS.replace("thing 0", "lemon"), encoding="utf-8")
    location = str(tmp_path / "study.sqlite")
    options: dict[str, Any] = {"location": location, "text_file": texts}
    for design in ({"languages": ("en",)}, {"languages": ("en",)}, {"languages": ("en", "de")}, {}):
        with create_or_open_study("core-color", design=design, **options) as opened:
            assert opened.study.design.languages == ("en", "de")
    with pytest.raises(UserError, match="another --languages"):
        create_or_open_study("core-color", design={"languages": ("en", "fr")}, **options)
    texts.write_text(
        texts.read_text(encoding="utf-8").replace("Welche", "Was für eine"), encoding="utf-8"
    )
    with pytest.raises(UserError, match="created with other texts"):
        create_or_open_study("core-color", **options)


def test_unusable_texts_are_refused(tmp_path: Path) -> None:
    study = study_from_task(task(6), StudyDesign())
    wrong = {
        "de": "one block of texts per language",
        "de: {titel: x}": "titel",
        "de: {check: [{question: q, options: [a, b], answer: c}]}": "'c' is not one of the options",
        "de: {items: {thing 0: no blank}}": "needs one",
        "de: {items: {no thing: 'A [MASK].'}}": "'no thing' in .* is not an item",
        "de: {practice: [x]}": "needs a text and an answer",
        "de: {practice: }": "`practice` needs a list",
        "de: {check: [{question: q, options: [a, b], answer: a}]}": "no `check` in 'en'",
        "de: [": "cannot be read",
    }
    for text, message in wrong.items():
        (tmp_path / "texts.yaml").write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match=message):
            add_texts(study, tmp_path / "texts.yaml")


def test_minutes_come_from_a_pilot(tmp_path: Path) -> None:
    study: Study = rating_study(tmp_path, per_page=4, pages=2, controls=1)
    database = open_database(str(tmp_path / "pilot.sqlite"))
    create_study(database, study)
    database.close()
    with pytest.raises(UserError, match="has no answers"):
        seconds_per_item(str(tmp_path / "pilot.sqlite"))
    served = serve_in_test(study, str(tmp_path / "run.sqlite"))
    token = served.begin()
    fields = served.fill(token)
    served.clock.now += 30  # for five items
    served.send(token, 1, fields)
    served.database.close()
    assert seconds_per_item(str(tmp_path / "run.sqlite")) == pytest.approx(6.0)
    # two pages of four items and one control
    assert minutes_per_person(study, 6.0) == pytest.approx((8 + 2) * 6 / 60)
