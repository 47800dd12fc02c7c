"""Every kind of item on a phone, by keyboard alone, in two languages, with axe-core on each
page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect
from tests.browser import chromium
from tests.judge.crowd import free_port
from tests.judge.studies import rating_study, task
from tests.needs import absent

from seesay.judge import participants
from seesay.judge.storage import studies
from seesay.judge.study import Study, StudyDesign
from seesay.judge.study_builder import study_from_task
from seesay.judge.web.app import make_app
from seesay.judge.web.languages import PSEUDO

PHONE = {"width": 360, "height": 740}
DESIGN: dict[str, Any] = {
    "judgements": 9,
    "per_page": 2,
    "pages": 1,
    "controls": 0,
    "languages": ("en", "de", PSEUDO),
    "option_order": "as-given",  # so that keys name the same options for everybody
}
KEYS = {
    "rating": ["ArrowRight"],
    "choice": ["Space"],
    "several": ["Space", "Tab", "Space"],
    "number": ["4"],
    "text": ["r", "e", "d"],
}
STORED = {"rating": "51", "choice": "0", "several": "3", "number": "4", "text": "red"}
WORDS = {
    "en": ("Begin", "Send and finish", "Thank you"),
    "de": ("Beginnen", "Senden und beenden", "Vielen Dank"),
}


class Site:
    """A study served by a thread of this process."""

    def __init__(self, study: Study, folder: Path) -> None:
        self.database = studies.open_database(str(folder / f"{study.kind}.sqlite"))
        studies.create_study(self.database, study)
        self.address = f"http://127.0.0.1:{(port := free_port())}"
        config = uvicorn.Config(make_app(study, self.database), port=port, log_level="warning")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()

    def link(self) -> str:
        (token,) = self.database.submit(lambda tx: participants.create_links(tx, 1, 1.0)).result()
        return f"{self.address}/a/{token}"

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.database.submit(lambda tx: tx.execute(sql)).result()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self.database.close()


def make_study(kind: str, folder: Path) -> Study:
    if kind == "rating":
        return rating_study(folder, 4, **DESIGN)
    colors = task(4)
    if kind == "number":
        questions = tuple(
            replace(q, options=("two", "4"), gold={"4": 1.0}) for q in colors.questions
        )
        colors = replace(colors, questions=questions)
    icons = folder / "icons"
    icons.mkdir()
    circle = '<circle cx="4" cy="4" r="4" fill="red"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{circle}</svg>'
    for name in colors.labels:
        (icons / f"{name}.svg").write_text(svg, encoding="utf-8")
    most = 2 if kind == "several" else 0
    return study_from_task(colors, StudyDesign(**DESIGN), answer=kind, most=most, icons=icons)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=20_000)  # a busy machine
    with chromium() as opened:
        yield opened
    expect.set_options(timeout=5_000)


@pytest.fixture(scope="module")
def axe() -> str:
    try:
        import axe_playwright_python  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        absent("axe-playwright-python is not installed")
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=list(KEYS))
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Site]]:
    folder = tmp_path_factory.mktemp(request.param)
    opened = Site(make_study(request.param, folder), folder)
    yield request.param, opened
    opened.stop()


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until something of this kind has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab never reaches {selector}")


def check_access(page: Page, axe: str) -> None:
    """No serious finding of axe-core, nothing wider than the screen, and every target as large as a
    finger."""
    page.evaluate(axe)
    violations = page.evaluate(
        "axe.run({resultTypes: ['violations']}).then((result) => result.violations)"
    )
    serious = [
        (violation["id"], [node["html"][:150] for node in violation["nodes"][:3]])
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    small = page.evaluate(
        """() => [...document.querySelectorAll(
          "button, a.main, .languages a, input:not([type=hidden])")]
          .map((control) => control.closest("label") ?? control)
          .filter((target) => target.getBoundingClientRect().height < 43.9)
          .map((target) => target.outerHTML.slice(0, 100))"""
    )
    assert small == []


@pytest.mark.parametrize("language", list(WORDS))
def test_by_keyboard_alone(
    site: tuple[str, Site], browser: Browser, axe: str, language: str
) -> None:
    kind, served = site
    begin, send, thanks = WORDS[language]
    context = browser.new_context(
        viewport=PHONE,  # type: ignore[arg-type]
        locale=f"{language}-{language.upper()}",
        is_mobile=True,
        has_touch=True,
        color_scheme="dark" if language == "de" else "light",
        reduced_motion="reduce",
    )
    try:
        page = context.new_page()
        page.goto(served.link())
        check_access(page, axe)
        tab_to(page, "input[name=agree]")
        page.keyboard.press("Space")
        tab_to(page, "button")
        expect(page.locator(":focus")).to_have_text(begin)
        page.keyboard.press("Enter")
        expect(page.locator("#page[data-ready]")).to_be_visible()
        if kind in ("choice", "several"):
            icons = page.locator(".icon")
            expect(icons).to_have_count(6)
            assert icons.first.evaluate("(icon) => icon.decode().then(() => icon.naturalWidth)") > 0
        for place in (1, 2):
            tab_to(page, f"#item-{place} input:not([type=hidden])")
            for key in KEYS[kind]:
                page.keyboard.press(key)
        expect(page.locator("#count")).to_have_text("2 of 2" if language == "en" else "2 von 2")
        check_access(page, axe)
        if not page.locator(".send button").evaluate(
            "(button) => button === document.activeElement"
        ):
            tab_to(page, ".send button")
        expect(page.locator(":focus")).to_have_text(send)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=thanks)).to_be_visible()
        check_access(page, axe)
    finally:
        context.close()
    column = (
        "SELECT DISTINCT text FROM typed"
        if kind in ("number", "text")
        else "SELECT DISTINCT value FROM answer"
    )
    assert [str(value) for (value,) in served.rows(column)] == [STORED[kind]]


def test_right_to_left(site: tuple[str, Site], browser: Browser, axe: str) -> None:
    """The layout is mirrored, and the language is changed by a link."""
    _kind, served = site
    context = browser.new_context(viewport=PHONE)  # type: ignore[arg-type]
    try:
        page = context.new_page()
        page.goto(served.link())
        page.locator(f".languages a[lang={PSEUDO}]").click()
        expect(page.locator("html")).to_have_attribute("dir", "rtl")
        page.locator("input[name=agree]").check()
        page.locator("form button").click()
        expect(page.locator("#page[data-ready]")).to_be_visible()
        check_access(page, axe)
        first = page.locator(".item .end.low, .item label, .item .typed input").first.bounding_box()
        assert first is not None
        assert first["x"] + first["width"] > PHONE["width"] - 30  # what comes first is on the right
    finally:
        context.close()
