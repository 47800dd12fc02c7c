"""axe-core on every kind of page, on a desktop and on a phone, in light and dark; nothing is wider
than the screen.

Those of `seesay judge` are in tests/judge/web/test_in_browser.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser
from tests.browser import chromium, serious_violations
from tests.mining.test_knowledge_page import COLORS_SEEN, PLACES_SEEN, SIZES_SEEN, annotated
from tests.reports.made_up import comparison, run, task
from tests.reports.test_gold_analyses import made_up as viphy_colors
from tests.reports.test_site import board, paired_tests
from tests.scenes.reports.test_reasoner_page import FILM, OBJECTS, row

from seesay.language.relations.page import relations_page
from seesay.language.relations.pvectors import PerplexityMatrix
from seesay.mining import knowledge_page as knowledge
from seesay.papers import load_paper
from seesay.papers.material import Material
from seesay.papers.paper import render_entries, write_paper
from seesay.reports import write
from seesay.reports.analysis import write_analyses
from seesay.reports.gold_analyses import task_analyses
from seesay.reports.pages.sections import Section, write_page
from seesay.reports.pages.training import training_page
from seesay.reports.site import write_site
from seesay.scenes.reasoners.paper_tables import summary
from seesay.scenes.reports.reasoner_page import reasoner_page, sweep_page
from seesay.scenes.reports.scene_charts import area_charts, area_table
from seesay.scenes.statistics import generate_areas, summaries

RELATIONS = (
    "above",
    "below",
    "on top of",
    "to the left of",
    "to the right of",
    "in front of",
    "behind",
    "next to",
)
SCREENS = [(1400, "light"), (390, "dark")]
KINDS = (
    *(
        "report",
        "knowledge",
        "diagnosis",
        "sweep",
        "curve",
        "relations",
        "analyses",
        "areas",
        "paper",
    ),
    *("leaderboard", "leaderboard: task", "leaderboard: model"),
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_pages(tmp_path_factory.mktemp("pages"))


def write_pages(folder: Path) -> dict[str, Path]:
    """A page of every kind."""
    Image.fromarray(np.zeros((300, 400, 3), dtype=np.uint8)).save(folder / "1.png")
    colours = task("colours", ("lemon", "crow", "grass"), count=12)
    runs = [run(colours, "a-model"), run(colours, "b-model", seed=1)]
    history = [
        {
            "step": 10 * i,
            "epoch": float(i),
            "seconds": 60.0 * i,
            "loss": 2 / i,
            "validation_loss": 3 / i,
        }
        for i in (1, 2, 3)
    ]
    perplexity = np.exp(np.random.default_rng(0).normal(3, 1, (len(RELATIONS), len(RELATIONS))))
    matrix = PerplexityMatrix(RELATIONS, RELATIONS, perplexity)

    areas = generate_areas("set+pos", 80, 0)
    paper = load_paper("memory-colors")
    runs_of_site = board()
    site = write_site(folder / "public", runs_of_site, paired_tests(runs_of_site)).parent

    return {
        "report": write(folder / "report.html", runs, [comparison()]),
        "knowledge": knowledge.write(
            folder / "knowledge.html",
            COLORS_SEEN,
            SIZES_SEEN,
            PLACES_SEEN,
            lambda ids: annotated(folder, ids),
        ),
        "diagnosis": reasoner_page(folder / "diagnosis.html", [FILM, OBJECTS])[0],
        "sweep": sweep_page(folder / "sweep.html", summary([row("film", "pos", test=0.9)]), [FILM])[
            0
        ],
        "analyses": write_analyses(
            folder / "analyses.html", "The data", task_analyses(viphy_colors())
        ),
        "areas": write_page(
            folder / "areas.html",
            "Areas",
            [Section("Areas", "", area_charts(areas), area_table(summaries(areas)))],
        ),
        "paper": write_paper(folder / "paper.html", paper, render_entries(paper, Material())),
        "leaderboard": site / "index.html",
        "leaderboard: task": sorted((site / "tasks").glob("*.html"))[0],
        "leaderboard: model": sorted((site / "models").glob("*.html"))[0],
        "curve": training_page(folder / "curve.html", "film", history, None)[0],
        "relations": relations_page(folder / "relations.html", matrix, {"model": "lstm"}, []),
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_serious_violation(
    kind: str,
    width: int,
    scheme: Literal["light", "dark"],
    pages: dict[str, Path],
    browser: Browser,
) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    try:
        tab.goto(pages[kind].as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert serious_violations(tab) == []
    finally:
        tab.close()
