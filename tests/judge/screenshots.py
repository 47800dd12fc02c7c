"""The pictures in docs/images: `python -m tests.judge.screenshots docs/images`."""

from __future__ import annotations

import sys
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize, expect
from tests.browser import chromium
from tests.judge.crowd import Server
from tests.judge.studies import PASSWORD

from seesay.tasks import load_task

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
DESKTOP = ViewportSize(width=1100, height=800)
PHONE = ViewportSize(width=390, height=800)


def main(target: Path) -> None:
    """Take those that pages show."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, chromium() as browser:
        folder = Path(temporary)
        (folder / "password").write_text(PASSWORD, encoding="utf-8")
        _ratings(browser, folder, target)
        _choices(browser, folder, target)
        _other_kinds(browser, folder, target)


def _ratings(browser: Browser, folder: Path, target: Path) -> None:
    """Sliders and the researcher's page on a desktop, consent on a phone."""
    pairs = folder / "relations.csv"
    rows = [f"{first},{second}\n" for first, second in combinations(WORDS, 2)]
    pairs.write_text("a,b\n" + "".join(rows), encoding="utf-8")
    server = Server(pairs, str(folder / "slider.sqlite"), *_options(folder))
    addresses = server.start(links=12)
    try:
        page = browser.new_page(viewport=DESKTOP)
        page.goto(addresses["links"].pop())
        _begin(page)
        for index, share in enumerate((0.82, 0.16, 0.64)):
            _click(page, index, share)
        _rest(page)
        page.screenshot(path=target / "judge-slider-desktop.png")
        _researcher(page, addresses, target / "judge-researcher-desktop.png")
        page.close()
        phone = browser.new_page(viewport=PHONE)
        phone.goto(addresses["links"].pop())
        phone.screenshot(path=target / "judge-consent-phone.png")
        phone.close()
    finally:
        server.stop()


def _choices(browser: Browser, folder: Path, target: Path) -> None:
    """One answer of several, on a phone."""
    questions = load_task("core-color").questions
    gold = {
        f"The color of {question.fields['thing']} is .": next(iter(question.gold))
        for question in questions
    }
    server = Server(Path("core-color"), str(folder / "choice.sqlite"), *_options(folder))
    (link,) = server.start(links=1)["links"]
    try:
        page = browser.new_page(viewport=PHONE)
        page.goto(link)
        _begin(page)
        for item in page.locator(".item").all()[:2]:
            item.get_by_role(
                "radio", name=gold[item.locator("legend").inner_text()], exact=True
            ).check()
        _rest(page)
        page.screenshot(path=target / "judge-choice-phone.png")
        page.close()
    finally:
        server.stop()


def _options(folder: Path) -> tuple[str, ...]:
    return ("--per-page", "8", "--password-file", str(folder / "password"))


TEXTS = """
en:
  practice:
    - text: "A lemon is [MASK]."
      options: [red, yellow]
      answer: yellow
      explanation: Most lemons are yellow.
de:
  title: Welche Farbe hat es?
  options: {black: schwarz, blue: blau, brown: braun, gray: grau, green: grün, orange: orange,
            pink: rosa, purple: lila, red: rot, white: weiß, yellow: gelb}
  items: {pea: "Eine Erbse ist [MASK].", panda: "Ein Panda ist [MASK].",
          housefly: "Eine Stubenfliege ist [MASK].", moose: "Ein Elch ist [MASK].",
          basil: "Basilikum ist [MASK].", sapphire: "Ein Saphir ist [MASK].",
          refrigerator: "Ein Kühlschrank ist [MASK].", golf ball: "Ein Golfball ist [MASK]."}
"""


def _other_kinds(browser: Browser, folder: Path, target: Path) -> None:
    """Several answers in German, typed answers, the mirrored layout and practice, on a phone."""
    (folder / "texts.yaml").write_text(TEXTS, encoding="utf-8")
    contact = (
        "--contact",
        "smith@example.org",
        "--researcher",
        "A. Smith",
        "--institution",
        "Example University",
    )
    translated = ("--most", "3", "--languages", "en,de,fr", "--texts", str(folder / "texts.yaml"))
    mirrored = ("--languages", "en,ar-XB")
    for kind, language, name, options in (
        ("several", "de", "several-phone-de", translated),
        ("text", "en", "text-phone-en", ()),
        ("choice", "ar-XB", "choice-phone-rtl", mirrored),
    ):
        common = ("--answer", kind, "--limit", "8", "--controls", "0", *contact)
        server = Server(
            Path("core-color"), str(folder / f"{kind}-{language}.sqlite"), *common, *options
        )
        link = server.start(links=1)["links"][0]
        try:
            page = browser.new_page(viewport=PHONE)
            page.goto(f"{link}?lang={language}")
            page.locator("input[name=agree]").check()
            page.locator("form button").click()
            if page.locator("#practice").count():
                page.get_by_role("checkbox").first.check()
                page.locator("form button").click()
                page.screenshot(path=target / f"judge-practice-phone-{language}.png")
                page.locator("a.main").click()
            expect(page.locator("#page[data-ready]")).to_be_visible()
            for item in page.locator(".item").all()[:2]:
                if kind == "text":
                    item.get_by_role("textbox").fill("mostly green")
                else:
                    item.locator("label").nth(4).click()
            page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
            page.screenshot(path=target / f"judge-{name}.png")
            page.close()
        finally:
            server.stop()


def _begin(page: Page) -> None:
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#page[data-ready]")).to_be_visible()


def _rest(page: Page) -> None:
    """Wait until the answers are saved, and show the page from its top."""
    expect(page.locator("#status")).to_have_text("Saved")
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")


def _click(page: Page, index: int, share: float) -> None:
    slider = page.get_by_role("slider").nth(index)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)


def _researcher(page: Page, addresses: dict[str, Any], target: Path) -> None:
    page.goto(addresses["researcher"])
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.screenshot(path=target)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
