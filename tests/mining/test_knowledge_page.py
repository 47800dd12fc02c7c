"""The page of mined knowledge, in a real browser."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.browser import chromium

from seesay.data.knowledge import COLORS, ColorFact, PlaceFact, SizeFact
from seesay.mining import knowledge_page as knowledge
from seesay.reports.charts.ladder import heights, ladder


def shares(**by_color: float) -> tuple[float, ...]:
    return tuple(by_color.get(color, 0.0) for color in COLORS)


COLORS_SEEN = [
    ColorFact("crow", shares(black=1.0), ("black",), 40, ("1.png",)),
    ColorFact("<b>apple</b>", shares(red=0.6, green=0.4), ("red", "green"), 90),
]
SIZES_SEEN = [SizeFact("bus", "cup", 90, 10, (">",)), SizeFact("cup", "bus", 10, 90, ("<",))]
PLACES_SEEN = [
    PlaceFact("living_room", "lamp", "table", 8, 2, 0, (">",)),
    PlaceFact("living_room", "table", "rug", 9, 1, 0, (">",)),
    PlaceFact("kitchen", "hood", "sink", 7, 0, 0, (">",)),
]


def annotated(folder: Path, ids: Iterable[str]) -> list[dict[str, Any]]:
    """The annotation of a crow at the left of each picture."""
    regions = [{"name": "crow", "box": [0.0, 0.0, 100.0, 300.0]}]
    size = {"width": 400, "height": 300}
    return [{"id": name, "path": str(folder / name), **size, "regions": regions} for name in ids]


def test_page_shows_the_knowledge(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((300, 400, 3), dtype=np.uint8)).save(tmp_path / "1.png")
    page = knowledge.write(
        tmp_path / "page.html",
        COLORS_SEEN,
        SIZES_SEEN,
        PLACES_SEEN,
        lambda ids: annotated(tmp_path, ids),
    )
    with chromium() as browser:
        tab = browser.new_page()
        problems: list[str] = []
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.goto(page.as_uri())
        rows = tab.locator("#fact-table tbody tr")
        assert rows.count() == 2
        # most seen first, and no markup of its own
        assert "<b>apple</b>" in rows.nth(0).inner_text()
        assert rows.nth(0).locator("svg").get_attribute("aria-label") == "red 60 %, green 40 %"
        assert rows.nth(1).locator("img").count() == 1
        assert rows.nth(1).locator("rect.k0").get_attribute("width") == "250"
        tab.fill("#search", "crow")
        assert rows.count() == 1
        tab.fill("#search", "")
        tab.select_option("#kind", "sizes")
        assert rows.count() == 1  # a pair and its mirror image are one fact
        assert rows.nth(0).locator("td").nth(0).inner_text() == "bus"
        tab.select_option("#kind", "places")
        tab.select_option("#scene", "kitchen")
        assert rows.count() == 1
        assert tab.locator("svg.ladder").count() == 2
        assert problems == []


def test_ladder_orders_objects_by_height() -> None:
    chart = str(ladder([("lamp", "table", 0.8), ("table", "rug", 0.9)], title="living room"))
    assert chart.index(">lamp<") < chart.index(">table<") < chart.index(">rug<")
    # two differences that both can be met: they are
    result = heights([("lamp", "table", 0.8), ("table", "rug", 0.9)])
    assert result["lamp"] - result["table"] == pytest.approx(0.8)
    assert result["table"] - result["rug"] == pytest.approx(0.9)
    # three that cannot: the error of 0.3 is shared by all
    result = heights([("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", 1.7)])
    assert result["a"] - result["b"] == pytest.approx(0.9)


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("efgh"), st.floats(-1, 1)),
        min_size=1,
        max_size=9,
    )
)
def test_reversing_every_pair_changes_no_height(pairs: list[tuple[str, str, float]]) -> None:
    there, back = heights(pairs), heights([(b, a, -d) for a, b, d in pairs])
    assert there == pytest.approx(back, abs=1e-6)
    assert sum(there.values()) == pytest.approx(0, abs=1e-6)


def test_page_without_facts(tmp_path: Path) -> None:
    page = knowledge.write(tmp_path / "page.html", [], [], [])
    assert "0 objects" in page.read_text()


def test_broken_picture_has_no_thumbnail(tmp_path: Path) -> None:
    (tmp_path / "1.png").write_text("rubbish")
    for folder in (tmp_path, tmp_path / "none"):
        page = knowledge.write(
            tmp_path / "page.html", COLORS_SEEN, [], [], partial(annotated, folder)
        )
        assert '"pictures":[]' in page.read_text().replace(" ", "")


def test_uncounted_pair_is_on_no_ladder() -> None:
    facts = [
        PlaceFact("kitchen", "lamp", "floor", 3, 0, 0, (">",)),
        PlaceFact("kitchen", "cup", "lid", 0, 0, 0, (">",)),
    ]
    (chart,) = knowledge.ladders(facts)
    assert "lamp" in chart
    assert "cup" not in chart
