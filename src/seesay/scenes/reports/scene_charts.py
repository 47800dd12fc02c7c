"""Scenes on a page: pictures with their sentences, and the areas of queried objects."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from seesay.data.pictures import data_address
from seesay.reports.charts import histograms
from seesay.reports.charts.kernel import WIDTH, chart, element, text
from seesay.reports.pages.sections import DataTable
from seesay.scenes.png import encode_rgb
from seesay.scenes.raster import rgb
from seesay.scenes.reports.reasoner_charts import title_of
from seesay.scenes.statistics import AreaSummary, QueriedArea
from seesay.scenes.world import Scene

IMAGE_SIZE = 192  # pixels per side
PANEL = 205.0
LINE = 16.0
_GROUPED = {
    "true": "by the adjective that is true of the thing",
    "used": "by the adjective of the sentence",
}


def area_charts(rows: Sequence[QueriedArea]) -> list[Markup]:
    """Draw a histogram per task, with a colour per adjective that is true of the thing."""
    tasks: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        tasks.setdefault(row.task, {}).setdefault(row.true, []).append(row.area)
    charts = []
    for task, areas in tasks.items():
        chart = histograms(
            sorted(areas.items()),
            title=f"{title_of(task)}: areas of queried objects",
            x_label="pixels",
            y_label="items",
        )
        charts.append(chart)
    return charts


def area_table(summaries: Sequence[AreaSummary]) -> DataTable:
    """Return the distributions as numbers."""
    header = [
        "task",
        "grouped",
        "adjective",
        "items",
        "mean",
        "sd",
        "least",
        "25 %",
        "median",
        "75 %",
        "greatest",
    ]
    body = []
    for row in summaries:
        numbers = (row.mean, row.sd, row.low, *row.quartiles, row.high)
        group = [title_of(row.task), _GROUPED[row.by], row.adjective, f"{row.items:,}"]
        body.append([*group, *(f"{value:,.0f}" for value in numbers)])
    return DataTable(header, body)


def scene_chart(panels: Sequence[tuple[Scene, str, str]], title: str) -> Markup:
    """Draw pictures two by two, each with two lines of text below it."""
    parts = []
    height = PANEL + 2 * LINE + 14
    for number, (scene, first, second) in enumerate(panels):
        x = number % 2 * (PANEL + 25)
        y = number // 2 * height
        picture = data_address(encode_rgb(rgb(scene, IMAGE_SIZE)))
        below = y + PANEL - 2
        parts.append(
            element(
                "image",
                href=picture,
                x=x,
                y=y,
                width=PANEL,
                height=PANEL,
            )
        )
        parts.append(text(x, below + LINE, first, "small", 1.3 * PANEL))
        parts.append(text(x, below + 2 * LINE, second, "note", PANEL + 20))
    rows = -(-len(panels) // 2)
    return chart("scenes", WIDTH, height * rows, title, parts)
