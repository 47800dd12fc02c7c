"""The pictures in docs/images: `python -m tests.judge.screenshots docs/images`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect
from tests.browser import chromium
from tests.judge.crowd import Server
from tests.judge.studies import PASSWORD

from seesay.tasks import load_task

WORDS = ["above", "over", "under", "below", "near", "next", "left", "right", "in", "on", "far", "away"]
SIZES = {"desktop": {"width": 1100, "height": 800}, "phone": {"width": 390, "height": 800}}


def main(target: Path) -> None:
    """Take them all."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, chromium() as browser:
        folder = Path(temporary)
        pairs = folder / "relations.csv"
        pairs.write_text(
            "a,b\n" + "".join(f"{a},{b}\n" for i, a in enumerate(WORDS) for b in WORDS[i + 1 :]), encoding="utf-8"
        )
        (folder / "password").write_text(PASSWORD, encoding="utf-8")
        secret = ("--password-file", str(folder / "password"))
        for kind, source in (("slider", str(pairs)), ("choice", "core-color")):
            server = Server(Path(source), str(folder / f"{kind}.sqlite"), "--per-page", "8", *secret)
            addresses = server.start(links=12)
            try:
                for size, viewport in SIZES.items():
                    context = browser.new_context(viewport=viewport, device_scale_factor=1)  # type: ignore[arg-type]
                    page = context.new_page()
                    link = addresses["links"].pop()
                    page.goto(link)
                    if kind == "slider":
                        page.screenshot(path=target / f"judge-consent-{size}.png")
                    _begin(page)
                    _answer_some(page, kind)
                    page.screenshot(path=target / f"judge-{kind}-{size}.png")
                    if kind == "slider":
                        _researcher(page, addresses, target / f"judge-researcher-{size}.png")
                    context.close()
                if kind == "slider":
                    _finish(browser.new_page(viewport=SIZES["desktop"]), addresses["links"].pop(), target)  # type: ignore[arg-type]
            finally:
                server.stop()
        _other_kinds(browser, folder, target)


TEXTS = """
en:
  practice:
    - {text: "A lemon is [MASK].", options: [red, yellow], answer: yellow, explanation: Most lemons are yellow.}
de:
  title: Welche Farbe hat es?
  options: {black: schwarz, blue: blau, brown: braun, gray: grau, green: grün, orange: orange, pink: rosa,
            purple: lila, red: rot, white: weiß, yellow: gelb}
  items: {pea: "Eine Erbse ist [MASK].", panda: "Ein Panda ist [MASK].", housefly: "Eine Stubenfliege ist [MASK].",
          moose: "Ein Elch ist [MASK].", basil: "Basilikum ist [MASK].", sapphire: "Ein Saphir ist [MASK].",
          refrigerator: "Ein Kühlschrank ist [MASK].", golf ball: "Ein Golfball ist [MASK]."}
"""


def _other_kinds(browser: Browser, folder: Path, target: Path) -> None:
    """Several answers in German, typed answers, the mirrored layout and practice, on a phone."""
    (folder / "texts.yaml").write_text(TEXTS, encoding="utf-8")
    contact = ("--contact", "smith@example.org", "--researcher", "A. Smith", "--institution", "Example University")
    for kind, language, options in (
        ("several", "de", ("--most", "3", "--languages", "en,de,fr", "--texts", str(folder / "texts.yaml"))),
        ("text", "en", ()),
        ("choice", "ar-XB", ("--languages", "en,ar-XB")),
    ):
        common = ("--answer", kind, "--limit", "8", "--controls", "0", *contact)
        server = Server(Path("core-color"), str(folder / f"{kind}-{language}.sqlite"), *common, *options)
        link = server.start(links=1)["links"][0]
        try:
            page = browser.new_page(viewport=SIZES["phone"])  # type: ignore[arg-type]
            page.goto(f"{link}?lang={language}")
            page.screenshot(path=target / f"judge-consent-phone-{language}.png", full_page=True)
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
            page.screenshot(path=target / f"judge-{kind}-phone-{language}.png")
            page.close()
        finally:
            server.stop()


def _begin(page: Page) -> None:
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#page[data-ready]")).to_be_visible()


def _answer_some(page: Page, kind: str) -> None:
    if kind == "slider":
        for index, share in enumerate((0.82, 0.16, 0.64)):
            _click(page, index, share)
    else:
        gold = {f"The color of {q.fields['thing']} is .": next(iter(q.gold)) for q in load_task("core-color").questions}
        for item in page.locator(".item").all()[:2]:
            item.get_by_role("radio", name=gold[item.locator("legend").inner_text()], exact=True).check()
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


def _finish(page: Page, link: str, target: Path) -> None:
    page.goto(link)
    _begin(page)
    for number in (1, 2, 3):
        expect(page.locator(f'#page[data-ready][data-page="{number}"]')).to_be_visible()
        for index in range(page.get_by_role("slider").count()):
            _click(page, index, 0.5 + 0.04 * index)
        page.locator(".send button").click()
    expect(page.locator("#code")).to_be_visible()
    page.screenshot(path=target / "judge-end-desktop.png")
    page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
