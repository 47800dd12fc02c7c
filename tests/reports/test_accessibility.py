"""axe-core on every kind of page, on a desk and on a phone, in light and in dark; nothing is wider than the screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser
from tests.browser import chromium
from tests.needs import absent
from tests.reports.made_up import comparison, run, task
from tests.reports.test_knowledge_page import COLORS_SEEN, PLACES_SEEN, SIZES_SEEN
from tests.reports.test_reasoner_page import FILM, OBJECTS

from seesay.relations.pvectors import PerplexityMatrix
from seesay.reports import write
from seesay.reports.pages import knowledge
from seesay.reports.pages.reasoners import reasoner_page
from seesay.reports.pages.relations import relations_page
from seesay.reports.pages.training import training_page

RELATIONS = ("above", "below", "on top of", "to the left of", "to the right of", "in front of", "behind", "next to")
SCREENS = [(1400, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    Image.fromarray(np.zeros((300, 400, 3), dtype=np.uint8)).save(folder / "1.png")
    colours = task("colours", ("lemon", "crow", "grass"), count=12)
    runs = [run(colours, "a-model"), run(colours, "b-model", seed=1)]
    history = [
        {"step": 10 * i, "epoch": float(i), "seconds": 60.0 * i, "loss": 2 / i, "validation_loss": 3 / i}
        for i in (1, 2, 3)
    ]
    perplexity = np.exp(np.random.default_rng(0).normal(3, 1, (len(RELATIONS), len(RELATIONS))))
    matrix = PerplexityMatrix(RELATIONS, RELATIONS, perplexity)

    def thumbnail(name: str) -> bytes | None:
        return knowledge.small_jpeg(folder / name)

    return {
        "report": write(folder / "report.html", runs, [comparison()]),
        "knowledge": knowledge.write(
            folder / "knowledge.html",
            COLORS_SEEN,
            SIZES_SEEN,
            PLACES_SEEN,
            lambda name: knowledge.small_jpeg(folder / name),
        ),
        "diagnosis": reasoner_page(folder / "diagnosis.html", [FILM, OBJECTS])[0],
        "curve": training_page(folder / "curve.html", "film", history, None)[0],
        "relations": relations_page(folder / "relations.html", matrix, {"model": "lstm"}, []),
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def axe() -> str:
    """The script, without the package's own way to add it, which the pages' content policy refuses."""
    try:
        import axe_playwright_python  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        absent("axe-playwright-python is not installed")
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize("kind", ["report", "knowledge", "diagnosis", "curve", "relations"])
def test_no_serious_violation(
    kind: str, width: int, scheme: Literal["light", "dark"], pages: dict[str, Path], browser: Browser, axe: str
) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    try:
        tab.goto(pages[kind].as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        tab.evaluate(axe)
        violations = tab.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
    finally:
        tab.close()
    serious = [
        (violation["id"], node["target"], node["html"][:120])
        for violation in violations
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:3]
    ]
    assert serious == []
