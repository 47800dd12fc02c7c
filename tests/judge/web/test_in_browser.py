"""The page as people and the researcher use it, in a real browser."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.browser import chromium, serious_violations
from tests.judge.crowd import Server
from tests.judge.studies import PASSWORD, pairs_file

from seesay.judge.storage.studies import open_study


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


class Site:
    """A served study, with links to give away."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.where = str(folder / "study.sqlite")
        password = folder / "password"
        password.write_text(PASSWORD, encoding="utf-8")
        design = (
            "--per-page",
            "3",
            "--pages",
            "2",
            "--judgements",
            "3",
            "--password-file",
            str(password),
        )
        self.server = Server(pairs_file(folder), self.where, *design, *options)
        self.addresses = self.server.start(links=4)
        self.links: list[str] = list(self.addresses["links"])

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        opened = open_study(self.where)
        try:
            return opened.database.submit(lambda tx: tx.execute(sql)).result()
        finally:
            opened.database.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    new_site = Site(tmp_path)
    yield new_site
    new_site.server.stop()


@pytest.fixture
def context(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """A visitor; at the end the pages must have asked nothing of anyone else and complained of
    nothing."""
    opened = browser.new_context()
    noise: list[str] = []
    address = site.addresses["address"]
    opened.on("console", lambda message: noise.append(message.text))
    opened.on("weberror", lambda error: noise.append(str(error.error)))
    opened.on(
        "request",
        lambda request: noise.append(request.url) if not request.url.startswith(address) else None,
    )
    yield opened
    opened.close()
    assert [
        message
        for message in noise
        if "ERR_INTERNET_DISCONNECTED" not in message and "status of 409" not in message
    ] == []


def consent(page: Page, link: str, script: bool = True) -> None:
    page.goto(link)
    page.get_by_role("checkbox", name="I have read this").check()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".item")).to_have_count(5)
    if script:
        expect(page.locator("#page[data-ready]")).to_be_visible()


def click_slider(page: Page, index: int, share: float) -> None:
    slider = page.get_by_role("slider").nth(index)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)


def saved(page: Page) -> None:
    expect(page.locator("#status")).to_have_text("Saved")


def values(page: Page) -> list[str]:
    return [slider.input_value() for slider in page.get_by_role("slider").all()]


def test_from_the_link_to_the_code_and_the_export(site: Site, context: BrowserContext) -> None:
    page = context.new_page()
    consent(page, site.links[0])

    for index in range(2):
        click_slider(page, index, 0.2 + 0.3 * index)
    saved(page)
    expect(page.locator("#count")).to_have_text("2 of 5")
    before = values(page)
    page.reload()
    expect(page.locator("#count")).to_have_text("2 of 5")
    assert values(page) == before
    for index in range(2, 5):
        click_slider(page, index, 0.9)
    expect(page.locator("#count")).to_have_text("5 of 5")
    page.get_by_role("button", name="Send and continue").click()

    expect(page.get_by_text("Page 2 of 2")).to_be_visible()
    page.wait_for_load_state()  # a key pressed while the page loads is lost
    page.bring_to_front()
    page.keyboard.press("Tab")  # the skip link
    for _ in range(5):
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_attribute("type", "range")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("PageUp")
        page.keyboard.press("Tab")  # the box beside it
        expect(page.locator(":focus")).to_be_checked()
    expect(page.locator("#count")).to_have_text("5 of 5")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Send and finish")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    code = page.locator("#code").inner_text()
    assert len(code) == 10
    page.reload()
    expect(page.locator("#code")).to_have_text(code)
    assert site.rows("SELECT COUNT(*), MIN(start), MAX(start) FROM answer") == [(10, 50, 50)]
    assert len(site.rows("SELECT value FROM answer WHERE value > 50 AND how = 'moved'")) >= 5

    researcher = context.new_page()
    researcher.goto(site.addresses["researcher"])
    researcher.get_by_label("Password").fill(PASSWORD)
    researcher.get_by_role("button", name="Log in").click()
    count = researcher.locator('b[data-count="judgements"]')
    expect(count).to_have_text("6")
    consent(page, site.links[1])
    click_slider(page, 0, 0.5)
    click_slider(page, 1, 0.7)
    click_slider(page, 2, 0.7)
    click_slider(page, 3, 0.7)
    saved(page)
    expect(count).not_to_have_text("6", timeout=10_000)  # it watches by itself
    expect(researcher.locator('[data-count="active"]')).to_have_text("1")
    with researcher.expect_download() as download:
        researcher.get_by_role("link", name="Export").click()
    archive = zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes()))
    assert {"items.csv", "judgements.parquet", "people.csv", "agreement.json"} <= set(
        archive.namelist()
    )
    assert json.loads(archive.read("agreement.json"))["people"] == 2


def test_enter_confirms_and_goes_to_the_next(site: Site, context: BrowserContext) -> None:
    page = context.new_page()
    consent(page, site.links[0])
    page.get_by_role("slider").first.focus()
    for _ in range(5):
        page.keyboard.press("Enter")
    expect(page.locator("#count")).to_have_text("5 of 5")
    expect(page.locator(":focus")).to_have_text("Send and continue")
    saved(page)
    assert set(site.rows("SELECT how, value, start FROM answer")) == {("confirmed", 50, 50)}


def test_untouched_sliders_are_not_sent(site: Site, context: BrowserContext) -> None:
    page = context.new_page()
    consent(page, site.links[0])
    click_slider(page, 0, 0.4)
    saved(page)
    page.get_by_role("button", name="Send and continue").click()
    expect(page.locator("#status")).to_contain_text("4 answers are missing")
    expect(page.locator(".item.missing")).to_have_count(4)
    expect(page.locator(":focus")).to_have_attribute("name", "v2")
    assert site.rows("SELECT COUNT(*) FROM answer") == [(1,)]


def test_lost_connection_loses_no_answers(site: Site, context: BrowserContext) -> None:
    page = context.new_page()
    consent(page, site.links[0])
    context.set_offline(True)
    click_slider(page, 0, 0.1)
    click_slider(page, 1, 0.8)
    expect(page.locator("#status")).to_contain_text("Not saved yet")
    before = values(page)
    assert site.rows("SELECT COUNT(*) FROM answer") == [(0,)]
    context.set_offline(False)
    page.reload()  # the page is new, the answers that never arrived are not lost with the old one
    saved(page)
    assert values(page) == before
    assert site.rows("SELECT COUNT(*) FROM answer") == [(2,)]


def test_restarted_server_receives_waiting_answers(site: Site, context: BrowserContext) -> None:
    page = context.new_page()
    consent(page, site.links[0])
    context.set_offline(True)
    click_slider(page, 2, 0.3)
    expect(page.locator("#status")).to_contain_text("Not saved yet")
    context.set_offline(False)
    saved(page)
    assert site.rows("SELECT COUNT(*) FROM answer") == [(1,)]


def test_a_second_tab(site: Site, context: BrowserContext) -> None:
    first, second = context.new_page(), context.new_page()
    consent(first, site.links[0])
    second.goto(site.links[0])
    for index in range(5):
        click_slider(first, index, 0.6)
    saved(first)
    click_slider(second, 0, 0.3)
    saved(second)
    assert site.rows("SELECT COUNT(*), SUM(changes) FROM answer") == [(5, 1)]
    second.reload()
    second.get_by_role("button", name="Send and continue").click()
    expect(second.get_by_text("Page 2 of 2")).to_be_visible()
    # the same page, with another first answer
    first.get_by_role("button", name="Send and continue").click()
    expect(first.get_by_text("the first ones are kept")).to_be_visible()
    assert site.rows("SELECT COUNT(*), SUM(changes) FROM answer") == [(5, 1)]


def test_page_works_without_the_script(site: Site, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    consent(page, site.links[0], script=False)
    click_slider(page, 0, 0.9)
    page.get_by_role("button", name="Send and continue").click()
    expect(page.get_by_role("alert")).to_contain_text("Some answers are missing")
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Send and continue").click()
    expect(page.get_by_text("Page 2 of 2")).to_be_visible()
    assert site.rows("SELECT COUNT(*) FROM answer WHERE how = 'confirmed'") == [(5,)]
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(site: Site, browser: Browser, scheme: str) -> None:
    """Nothing scrolls sideways, every target is as large as a finger, and a touch moves a
    slider."""
    context = browser.new_context(
        viewport={"width": 360, "height": 740},
        has_touch=True,
        is_mobile=True,
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page = context.new_page()
    consent(page, site.links[0])
    slider = page.get_by_role("slider").first
    box = slider.bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + 0.75 * box["width"], box["y"] + box["height"] / 2)
    saved(page)
    assert abs(int(slider.input_value()) - 75) <= 6
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    heights = page.evaluate(
        "[...document.querySelectorAll('input[type=range], .ok, button')].map((e) => "
        "e.getBoundingClientRect().height)"
    )
    assert min(heights) >= 43.9
    context.close()


def test_labels_and_contrast(site: Site, browser: Browser) -> None:
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(site.links[1])
        if page.get_by_role("checkbox", name="I have read this").count():
            consent(page, site.links[1])
        assert page.get_by_role("slider").first.get_attribute("aria-labelledby") == "pair-1"
        assert all(slider.is_visible() for slider in page.get_by_role("slider").all())
        has_names = page.evaluate(
            "[...document.querySelectorAll('.ok')].every((e) => e.textContent.includes('and'))"
        )
        assert has_names
        ratios = page.evaluate(
            """() => {
              const style = getComputedStyle(document.documentElement);
              const light = (name) => {
                const hex = style.getPropertyValue(name).trim().slice(1);
                const [r, g, b] = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
                  .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
              };
              const ratio = (a, b) => {
                const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
                return (high + 0.05) / (low + 0.05);
              };
              return {
                text: Math.min(...["--ink", "--quiet", "--link", "--wrong", "--right"].flatMap(
                  (ink) => [ratio(ink, "--paper"), ratio(ink, "--raised")])),
                button: ratio("--on-link", "--link"),
                track: ratio("--track", "--paper"),
              };
            }"""
        )
        assert ratios["text"] >= 4.5, (scheme, ratios)
        assert ratios["button"] >= 4.5, (scheme, ratios)
        assert ratios["track"] >= 3, (scheme, ratios)  # WCAG 1.4.11: parts of controls
        context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_axe_finds_no_serious_violation(
    site: Site, browser: Browser, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    violations = {}
    page.goto(site.links[0])
    violations["consent"] = serious_violations(page)
    consent(page, site.links[0])
    violations["items"] = serious_violations(page)
    page.goto(site.addresses["researcher"])
    violations["login"] = serious_violations(page)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator('b[data-count="judgements"]')).to_be_visible()
    violations["researcher"] = serious_violations(page)
    page.goto(site.links[0] + "x")
    violations["error"] = serious_violations(page)
    assert violations == {page_name: [] for page_name in violations}
    context.close()
