"""Charts as a browser draws them: nothing is cut off."""

from __future__ import annotations

from pathlib import Path

from tests.browser import chromium

from seesay.reports.charts import Series, columns, dendrogram, heat_map, histograms, lines
from seesay.reports.charts.scatter import Spot, scatter
from seesay.reports.pages.sections import Section, write_page

OUTSIDE = """() => {
  const cut = [];
  for (const chart of document.querySelectorAll("svg.chart")) {
    const frame = chart.getBoundingClientRect();
    for (const text of chart.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      const over = Math.max(frame.left - box.left, box.right - frame.right);
      if (over > 0.5) cut.push([chart.getAttribute("aria-label"), text.textContent, over]);
    }
  }
  return cut;
}"""
OVERFLOWING = """() => {
  const wide = [];
  for (const cell of document.querySelectorAll(".heat-map rect.heat, .heat-map rect.cold")) {
    const label = cell.nextElementSibling;
    if (label === null || label.tagName !== "text") continue;
    const over = label.getBoundingClientRect().width - cell.getBoundingClientRect().width;
    if (over > 0) wide.push([label.textContent, over]);
  }
  return wide;
}"""


def test_no_label_is_cut_off(tmp_path: Path) -> None:
    counts = [("a", 2_000_000.0), ("b", 15_000.0)]
    charts = [
        lines(
            [Series("loss", [0, 100_000], [-20_000.5, 31_000.25])],
            title="lines",
            x_label="step",
            y_label="loss",
        ),
        scatter(
            [Spot("m", 0.26, 0.5125, 0.5001, 0.5250), Spot("n", 1_100, 0.513, 0.51, 0.516)],
            title="scatter",
            x_label="size",
            y_label="score",
            chance=0.5,
        ),
        columns(counts, title="columns", y_label="count"),
        histograms([("s", [1.0] * 200_000 + [2.0])], title="histogram", x_label="x"),
        dendrogram([(0, 1, 12.25, 2)], ["above", "below"], title="tree"),
    ]
    page = write_page(tmp_path / "page.html", "Charts", [Section("Charts", "", charts)])
    with chromium() as browser:
        opened = browser.new_page(viewport={"width": 1400, "height": 900})
        opened.goto(page.as_uri())
        assert opened.locator("svg.chart").count() == len(charts)
        assert opened.evaluate(OUTSIDE) == []


def test_numbers_fit_into_their_cells(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(10)]
    strip = [-12.77, *(0.5 * i for i in range(9))]
    chart = heat_map([strip], ["difference"], words, title="Difference", zero=True)
    page = write_page(tmp_path / "page.html", "Charts", [Section("Charts", "", [chart])])
    with chromium() as browser:
        opened = browser.new_page(viewport={"width": 1400, "height": 900})
        opened.goto(page.as_uri())
        assert opened.locator(".heat-map rect.cold + text").all_text_contents() == ["−12.8"]
        assert opened.evaluate(OVERFLOWING) == []
