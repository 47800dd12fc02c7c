"""The page as a reader uses it, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Browser, Dialog, Page, expect
from tests.browser import chromium
from tests.reports.made_up import COLORS, comparison, hostile_run, run, task

from seesay.reports import write

Scheme = Literal["light", "dark"]
THINGS = ("lemon", "crow", "grass", "sky", "<b>bold</b>")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    example = task("colours", THINGS, count=120)
    runs = [run(example, "a-model"), run(example, "b-model", seed=1), hostile_run()]
    return write(tmp_path_factory.mktemp("page") / "report.html", runs, [comparison()])


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    """The open page; at the end it must have been silent."""
    opened = browser.new_page()
    noise: list[str] = []

    def refuse(dialog: Dialog) -> None:
        noise.append(dialog.message)
        dialog.dismiss()

    opened.on("console", lambda message: noise.append(message.text))
    opened.on("pageerror", lambda error: noise.append(str(error)))
    opened.on(
        "request",
        lambda request: (
            noise.append(request.url) if not request.url.startswith(("file:", "data:")) else None
        ),
    )
    opened.on("dialog", refuse)
    opened.goto(file.as_uri())
    yield opened
    opened.close()
    assert noise == []


def objects(page: Page) -> list[str]:
    return page.locator("#question-table tbody .object").all_text_contents()


def test_search_narrows(page: Page) -> None:
    assert len(objects(page)) == 50
    page.get_by_label("Search").fill("LEMON 1")
    expect(page.locator("#status")).to_contain_text("of 120")
    assert objects(page)
    assert all("lemon 1" in name for name in objects(page))
    page.get_by_label("Search").fill("nothing like it")
    expect(page.locator("#status")).to_have_text("No question matches.")


def test_sorting_changes_order_and_says_so(page: Page) -> None:
    heading = page.locator("#question-table th", has=page.get_by_role("button", name="Question"))
    expect(heading).to_have_attribute("aria-sort", "none")
    page.get_by_role("button", name="Question").press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    rising = objects(page)
    assert rising[:2] == ["<b>bold</b>", "<b>bold</b> 9"]
    page.get_by_role("button", name="Question").press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending")
    assert objects(page)[0].startswith("sky")
    page.get_by_role("button", name="Probability, b-model").click()
    shown = page.locator("#question-table tbody tr td:last-child").all_text_contents()
    assert shown == sorted(shown)


def test_another_template_shows_other_prompts(page: Page) -> None:
    first = page.locator("#question-table tbody .prompt").first
    expect(first).to_have_text("The lemon is .")
    page.get_by_role("combobox", name="Template").select_option(index=1)
    expect(first).to_have_text("What colour is the lemon? .")


BARS = """
rows => rows.map((row) => [...row.querySelectorAll("td.answer")].map((cell) => {
  const [first, ...others] = cell.nextElementSibling.querySelectorAll("rect");
  const [line, ...lines] = cell.nextElementSibling.querySelectorAll("line");
  const swatch = (node) => node.querySelector(".swatch").className.split(" ")[1];
  const gold = swatch(row.querySelector("td.gold"));
  // an option whose share rounds to nothing has no part of the bar
  const part = [first, ...others].find((rect) => rect.classList.contains(gold));
  return {
    answer: swatch(cell),
    gold,
    first: [...first.classList],
    opacities: [first, ...others].map((part) => Number(getComputedStyle(part).opacity)),
    start: parseFloat(first.getAttribute("x")),
    part: part ? part.getAttribute("x") : null,
    line: line.getAttribute("x1"),
    golds: 1 + lines.length,
  };
}))
"""


@pytest.mark.parametrize("options", [("larger", "smaller"), COLORS])
def test_a_bar_begins_with_the_answer_and_marks_gold(
    browser: Browser, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """In colors that the words beside it wear, whichever option comes first."""
    example = task("things", THINGS, count=24)
    questions = tuple(
        replace(q, options=options, gold={options[number % len(options)]: 1.0})
        for number, q in enumerate(example.questions)
    )
    shuffled_task = replace(example, questions=questions)
    opened = open_at(
        browser, write(tmp_path / "report.html", [run(shuffled_task, "a-model")]), 1400
    )
    bars = [
        bar for row in opened.eval_on_selector_all("#question-table tbody tr", BARS) for bar in row
    ]
    assert len(bars) == 24
    # both kinds of question are there
    assert {bar["answer"] == bar["gold"] for bar in bars} == {True, False}
    for bar in bars:
        assert bar["first"] == [bar["answer"], "answered"]
        assert bar["start"] == 0
        assert bar["opacities"][0] == 1
        assert max(bar["opacities"][1:], default=0) < 0.5
        assert bar["golds"] == 1
        assert bar["part"] in (bar["line"], None)
    assert sum(bar["part"] is not None for bar in bars) >= 8
    expect(opened.locator("#bar-note")).to_be_visible()
    opened.close()


def test_filters_and_pages(page: Page) -> None:
    page.get_by_role("combobox", name="Show").select_option(label="wrong: b-model")
    marks = page.locator("#question-table tbody td:nth-child(5) .mark").all_text_contents()
    assert marks
    assert set(marks) == {"✗"}
    page.get_by_role("combobox", name="Show").select_option(label="all answers")
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#status")).to_have_text("51–100 of 120")
    page.get_by_role("combobox", name="Slice").select_option(label="first")
    expect(page.locator("#status")).to_have_text("1–50 of 60 (of 120)")


def test_hostile_names_stay_text(page: Page) -> None:
    page.get_by_role("combobox", name="Task").select_option(index=1)
    assert objects(page)[0] == "<script>alert(1)</script>"
    assert (
        page.locator("#question-table img, #question-table b, #question-table script").count() == 0
    )
    for index in range(page.get_by_role("combobox", name="Show").locator("option").count()):
        page.get_by_role("combobox", name="Show").select_option(index=index)


def test_the_policy_stops_inline_script(browser: Browser, file: Path, tmp_path: Path) -> None:
    """Were a name ever to slip through unescaped, the browser would still refuse to run it."""
    broken = tmp_path / "broken.html"
    broken.write_text(
        file.read_text(encoding="utf-8").replace("<main>", "<main><script>window.hit = 1</script>"),
        encoding="utf-8",
    )
    opened = browser.new_page()
    opened.goto(broken.as_uri())
    assert opened.evaluate("window.hit") is None
    opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_sideways_scrolling_on_a_phone(browser: Browser, file: Path, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)  # type: ignore[arg-type]
    opened = context.new_page()
    opened.goto(file.as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of four models that were asked about pictures."""
    folder = tmp_path_factory.mktemp("four")
    Image.new("RGB", (300, 200), "red").save(folder / "red.png")
    example = task("colours", THINGS, count=8)
    first, *others = example.questions
    seen = replace(first, picture=str(folder / "red.png"))
    example = replace(example, questions=(seen, *others))
    models = ["/models/a-rather-long/path-of-a-model", "b-model", "c-model", "d-model"]
    runs = [run(example, model, seed) for seed, model in enumerate(models)]
    return write(folder / "report.html", runs, [comparison()])


def open_at(browser: Browser, file: Path, width: int, scheme: Scheme = "light") -> Page:
    opened = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened.goto(file.as_uri())
    return opened


@pytest.mark.parametrize("width", [1400, 390])
def test_a_picture_stands_beside_its_question(browser: Browser, four: Path, width: int) -> None:
    opened = open_at(browser, four, width)
    image = opened.locator("#question-table img")
    expect(image).to_have_count(1)
    expect(image).to_have_attribute("alt", "Picture: lemon")
    # loaded under the page's own policy, and drawn beside the words
    assert image.evaluate("image => [image.complete, image.naturalWidth]") == [True, 96]
    picture = image.bounding_box()
    words = opened.locator("#question-table .object").first.bounding_box()
    assert picture is not None
    assert words is not None
    assert words["x"] >= picture["x"] + picture["width"]
    assert abs(words["y"] - picture["y"]) < 20
    opened.close()


def test_four_models_fit_into_a_window(browser: Browser, four: Path) -> None:
    opened = open_at(browser, four, 1400)
    right = opened.locator("#question-table tbody tr").first.locator("td").last.bounding_box()
    assert right is not None
    assert right["x"] + right["width"] <= 1400
    opened.close()


def test_rows_are_stacked_on_a_phone(browser: Browser, four: Path) -> None:
    """No table that readers go through row by row is wider than its box."""
    opened = open_at(browser, four, 390)
    opened.locator("details").last.evaluate(
        "() => document.querySelectorAll('details').forEach((part) => { part.open = true; })"
    )
    tests = ".stack:not(.metrics, .questions)"
    for name in (".overview", ".metrics", ".questions", ".compare", tests):
        box = opened.locator(f".scroll:has(> {name})")
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0, name
    # every answer says whose it is
    labels = (
        opened.locator("#question-table tbody tr")
        .first.locator("td.answer")
        .evaluate_all("cells => cells.map((cell) => getComputedStyle(cell, '::before').content)")
    )
    assert [label.strip('"') for label in labels][1:] == ["b-model", "c-model", "d-model"]
    # sorting is still there, and no button of it is cut off
    headers = opened.locator(".questions thead tr").last
    assert headers.evaluate("row => row.scrollWidth - row.clientWidth") <= 0
    opened.get_by_role("button", name="Probability, d-model").click()
    shown = opened.locator("#question-table tbody tr td:last-child").all_text_contents()
    assert shown == sorted(shown)
    opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_black_is_told_from_the_paper(browser: Browser, four: Path, scheme: Scheme) -> None:
    """By its brightness, as a picture's viewer would tell it, and not by its outline alone."""
    opened = open_at(browser, four, 1400, scheme)
    levels = opened.evaluate(
        """() => [".swatch.c-black", "body"].map((name) => {
          const color = getComputedStyle(document.querySelector(name)).backgroundColor;
          return Math.max(...color.match(/[0-9]+/g).slice(0, 3).map(Number));
        })"""
    )
    black, paper = levels
    assert paper - black >= 40
    opened.close()


def test_text_has_contrast(browser: Browser, file: Path) -> None:
    """WCAG AA for the page's own inks on its paper, in both schemes."""
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        opened = context.new_page()
        opened.goto(file.as_uri())
        ratios = opened.evaluate(
            """() => {
              const style = getComputedStyle(document.documentElement);
              const light = (name) => {
                const hex = style.getPropertyValue(name).trim().slice(1);
                const [r, g, b] = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
                  .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
              };
              const paper = light("--paper");
              const names = ["ink", "quiet", "link", "right", "wrong"];
              names.push("m0", "m1", "m2", "m3", "m4", "m5");
              return Object.fromEntries(names.map((name) => {
                const [low, high] = [paper, light("--" + name)].sort((a, b) => a - b);
                return [name, (high + 0.05) / (low + 0.05)];
              }));
            }"""
        )
        assert min(ratios.values()) >= 4.5, (scheme, ratios)
        context.close()
