"""The learning curve's page and figures."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from seesay.reports.pages.training import curves, training_page
from seesay.training.loop import Result

HISTORY: list[dict[str, float]] = [
    {
        "step": 0,
        "epoch": 0.0,
        "seconds": 1.0,
        "validation_loss": 6.5,
        "validation_core-color": 0.09,
    },
    {
        "step": 10,
        "epoch": 0.5,
        "seconds": 60.0,
        "loss": 4.0,
        "validation_loss": 3.5,
        "validation_core-color": 0.25,
    },
    {
        "step": 20,
        "epoch": 1.0,
        "seconds": 120.0,
        "loss": 3.0,
        "validation_loss": 3.25,
        "validation_core-color": 0.3,
    },
]


def spots(chart: str) -> list[str]:
    return [
        node.text or ""
        for node in ElementTree.fromstring(chart).iter()
        if node.tag.endswith("title")
    ]


def test_every_point_is_drawn() -> None:
    charts = curves(HISTORY)
    assert list(charts) == ["loss", "core-color"]
    titles = spots(str(charts["loss"]))
    assert [text for text in titles if text.startswith("held out")] == [
        "held out: 0, 6.5",
        "held out: 10, 3.5",
        "held out: 20, 3.25",
    ]
    assert [text for text in titles if text.startswith("training")] == [
        "training: 10, 4",
        "training: 20, 3",
    ]
    assert "core-color: 20, 0.3" in spots(str(charts["core-color"]))


def test_no_perplexity_chart_beside_the_loss() -> None:
    assert list(curves([{"step": 0, "validation_loss": 6.5, "validation_perplexity": 665.0}])) == [
        "loss"
    ]


def test_page_and_figures(tmp_path: Path) -> None:
    result = Result(
        steps=20, epochs=1.0, seconds=120.0, best=3.25, best_step=20, stopped_early=False
    )
    written = training_page(tmp_path / "curve.html", "<capbert>", HISTORY, result)
    assert [path.name for path in written] == [
        "curve.html",
        "curve-loss.svg",
        "curve-core-color.svg",
    ]
    page = written[0].read_text(encoding="utf-8")
    assert "Learning curve of &lt;capbert&gt;" in page
    assert "2.0 minutes" in page
    assert "those of step 20" in page
    assert "3.2500" in page
    for path in written[1:]:
        ElementTree.parse(path)
    training_page(tmp_path / "curve.html", "capbert", HISTORY[:1], None)
    assert "has not ended" in written[0].read_text(encoding="utf-8")
