"""The page of a task's questions: what is likely wrong stands first, with its picture."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.browser import chromium, serious_violations

from seesay.questions import Question, Task, Template
from seesay.reports.pages.items import write_item_page
from seesay.runs.items import Item, ItemModel


def item(number: int, **changes: Any) -> Item:
    values: dict[str, Any] = {
        "question": f"q{number}",
        "object": f"thing {number}",
        "gold": ["red"],
        "models": 9,
        "credit": 0.5,
        "discrimination": 1.0,
        "intercept": 0.0,
        "rival": "blue",
        "rival_share": 0.9 - number / 100,
        "rival_usual": 0.1,
        "people": None,
    }
    return Item(**{**values, **changes})


def model(items: list[Item]) -> ItemModel:
    return ItemModel(
        task="paints",
        task_fingerprint="0",
        metric="accuracy",
        runs=["model:a", "model:b"],
        mean=0.0,
        sd=1.0,
        items=items,
    )


def paints(count: int) -> Task:
    questions = tuple(
        Question(f"q{i}", {"n": str(i)}, ("red", "blue"), {"red": 1.0}, f"thing {i}")
        for i in range(count)
    )
    templates = (Template("paint", "Thing <{n}> is [MASK]."),)
    return Task("paints", "1", "", templates, questions, ("accuracy",))


def rows_of(page: str) -> list[str]:
    """The rows of the list, without the table of all questions."""
    listed = page.split('<section id="section-1"')[0]
    return re.findall(r"<tr>\s*<th scope=\"row\">.*?</tr>", listed, re.DOTALL)


def test_the_likeliest_errors_come_first_with_what_tells(tmp_path: Path) -> None:
    items = [item(1, discrimination=-0.4, people=0.25), item(0), *map(item, range(2, 80))]
    page = write_item_page(tmp_path / "items.html", paints(80), model(items)).read_text()
    rows = rows_of(page)
    assert len(rows) == 60
    assert "Thing &lt;1&gt; is [MASK]." in rows[0]
    assert '<span class="flag">-0.400</span>' in rows[0].replace("\N{MINUS SIGN}", "-")
    assert "0.250" in rows[0]
    assert "c-red" in rows[0]
    assert "c-blue" in rows[0]
    assert 'class="flag"' not in rows[1]
    # all of them are in the table, and the runs that it rests on
    assert "80 rows" in page
    assert "model:b" in page


def test_a_picture_is_part_of_the_page(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8), "red").save(tmp_path / "red.png")
    task = paints(2)
    pictures = (str(tmp_path / "red.png"), str(tmp_path / "gone.png"))
    questions = [replace(q, picture=p) for q, p in zip(task.questions, pictures, strict=True)]
    task = replace(task, questions=tuple(questions))
    page = write_item_page(tmp_path / "items.html", task, model([item(0), item(1)])).read_text()
    first, second = rows_of(page)
    assert 'class="thumbnail" src="data:image/png;base64,' in first
    assert "<img" not in second
    assert "1 picture could not be opened" in page


@pytest.mark.seconds
@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_overflows_and_all_can_use_it(tmp_path: Path, width: int) -> None:
    page = write_item_page(tmp_path / "items.html", paints(80), model([*map(item, range(80))]))
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": width, "height": 900})
        tab.goto(page.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        assert not serious_violations(tab)
