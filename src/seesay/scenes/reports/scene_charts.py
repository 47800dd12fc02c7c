"""Scenes on a page: pictures with their sentences, and which areas are asked about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from seesay.data.pictures import png_address
from seesay.reports.charts import histograms
from seesay.reports.charts.kernel import WIDTH, chart, element, text
from seesay.reports.pages.sections import DataTable
from seesay.scenes.raster import rgb
from seesay.scenes.reports.reasoner_charts import title_of
from seesay.scenes.statistics import AreaSummary, AskedArea
from seesay.scenes.world import Scene

IMAGE_SIZE = 192  # pixels per side
PANEL = 205.0
LINE = 16.0
_GROUPED = {
    "true": "by the adjective that is true of the thing",
    "used": "by the adjective of the sentence",
}


def area_charts(rows: Sequence[AskedArea]) -> list[Markup]:
    """A histogram per task, a colour per adjective that is true of the thing."""
    charts = []
    for task in dict.fromkeys(row.task for row in rows):
        words = sorted({row.true for row in rows if row.task == task})
        series = [
            (word, [row.area for row in rows if (row.task, row.true) == (task, word)])
            for word in words
        ]
        charts.append(
            histograms(
                series, title=f"{title_of(task)}: areas asked", x_label="pixels", y_label="items"
            )
        )
    return charts


def area_table(summaries: Sequence[AreaSummary]) -> DataTable:
    """The distributions as numbers."""
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
        group = [title_of(row.task), _GROUPED[row.by], row.adjective]
        body.append([*group, f"{row.items:,}", *(f"{value:,.0f}" for value in numbers)])
    return DataTable(header, body)


def scene_chart(panels: Sequence[tuple[Scene, str, str]], title: str) -> Markup:
    """Pictures two by two, each with two lines of text below it."""
    parts = []
    height = PANEL + 2 * LINE + 14
    for number, (scene, first, second) in enumerate(panels):
        x = number % 2 * (PANEL + 25)
        y = number // 2 * height
        parts.append(
            element("image", href=png(rgb(scene, IMAGE_SIZE)), x=x, y=y, width=PANEL, height=PANEL)
        )
        parts.append(text(x, y + PANEL + LINE - 2, first, "small", 1.3 * PANEL))
        parts.append(text(x, y + PANEL + 2 * LINE - 2, second, "note", PANEL + 20))
    return chart("scenes", WIDTH, height * -(-len(panels) // 2), title, parts)


def png(pixels: NDArray[np.uint8]) -> str:
    """A picture as a data address."""
    from PIL import Image

    return png_address(Image.fromarray(np.ascontiguousarray(pixels)))
