"""Scenes on a page: pictures with their sentences, and the areas of queried objects."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from statistics import NormalDist

from markupsafe import Markup

from seesay.data.pictures import data_address
from seesay.reports.charts import histograms
from seesay.reports.charts.kernel import (
    WIDTH,
    chart,
    coordinate,
    element,
    group,
    text,
    tooltip,
    vertical_line,
)
from seesay.reports.pages.sections import DataTable
from seesay.scenes.png import encode_rgb
from seesay.scenes.raster import rgb
from seesay.scenes.reports.reasoner_charts import title_of
from seesay.scenes.statistics import AreaSummary, QueriedArea
from seesay.scenes.thresholds import Threshold
from seesay.scenes.world import RGB, Scene, area

IMAGE_SIZE = 192  # pixels per side
PANEL = 205.0
SENTENCE = 38
"""Characters of a sentence in a line below a picture."""
LINE = 16.0
_THING = 0.17
"""Units of a drawn thing per pixel of the canvas."""
_LANE = 54.0
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
    """Draw pictures two by two, each with a sentence and a note below it."""
    parts = []
    sentences = [textwrap.wrap(sentence, SENTENCE) for _, sentence, _ in panels]
    lines = max(map(len, sentences), default=1)
    height = PANEL + (lines + 1) * LINE + 14
    for number, (scene, _, note) in enumerate(panels):
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
        for line in sentences[number]:
            below += LINE
            parts.append(text(x, below, line, "small"))
        parts.append(text(x, below + LINE, note, "note", PANEL + 20))
    rows = -(-len(panels) // 2)
    return chart("scenes", WIDTH, height * rows, title, parts)


def threshold_chart(scene: Scene, words: Sequence[str], rule: Threshold, title: str) -> Markup:
    """Draw the things of a scene by size, from Max to Min, with T among them and k's distribution
    above (as in MALeViC's Figure 1).

    A place between Max (0) and Min (1) is the k whose threshold lies there.
    """
    areas = [area(thing.shape, thing.radius) for thing in scene.objects]
    most = max(areas)
    span = max(most - min(areas), 1)
    left = 34.0
    width = WIDTH - 2 * left
    top = 74.0
    parts = [_density(rule, left, width, top)]
    lanes: list[float] = []
    marks = []
    order = sorted(range(len(areas)), key=lambda i: -areas[i])
    for i in order:
        thing = scene.objects[i]
        x = left + width * (most - areas[i]) / span
        size = 2 * thing.radius * _THING
        # a thing that would cover the one before goes into the next lane
        lane = next((n for n, end in enumerate(lanes) if end < x - size / 2 - 3), len(lanes))
        if lane == len(lanes):
            lanes.append(0.0)
        lanes[lane] = x + max(size / 2, 14)
        y = top + 30 + lane * _LANE
        fill = "#{:02x}{:02x}{:02x}".format(*RGB[thing.color])
        hint = tooltip(f"{thing.color} {thing.shape}, {areas[i]:,} pixels: {words[i]}")
        marks.append(
            element(
                "rect",
                hint,
                x=x - size / 2,
                y=y - size / 2,
                width=size,
                height=size,
                fill=fill,
            )
        )
        # the ground is black in light and dark pages alike, so that the page's ink will not do
        word = element("tspan", words[i], fill="#fff")
        marks.append(element("text", word, x=x, y=y + size / 2 + 11, class_="middle small"))
    bottom = top + 20 + len(lanes) * _LANE
    ground = element("rect", x=0, y=top, width=WIDTH, height=bottom - top, fill="#000")
    parts += [ground, *marks]
    k = 0.0 if scene.k is None else scene.k
    at = left + width * k
    line = vertical_line(at, top - 58, bottom, "threshold")
    parts.append(element("g", line, stroke="#c33", stroke_width="2", stroke_dasharray="7 4"))
    for share, end in ((0.0, "Max"), (1.0, "Min")):
        parts.append(text(left + width * share, bottom + 15, end, "middle"))
    parts.append(text(at, bottom + 15, "T", "middle"))
    parts.append(text(at, top - 62, f"k = {k:.3f}", "small middle"))
    formula = "T = Max − k · (Max − Min)"
    parts.append(text(WIDTH / 2, bottom + 34, formula, "note middle"))
    return chart("threshold", WIDTH, bottom + 42, title, parts)


def _density(rule: Threshold, left: float, width: float, bottom: float) -> Markup:
    """Draw the normal distribution of k over the places between Max and Min, within three sd."""
    normal = NormalDist(rule.mean, rule.deviation)
    points = []
    labels = []
    for step in range(-30, 31):
        k = rule.mean + step / 10 * rule.deviation
        height = 52 * normal.pdf(k) / normal.pdf(rule.mean)
        points.append(f"{coordinate(left + width * k)},{coordinate(bottom - height)}")
    for deviations, anchor in ((-3, "end"), (3, "")):
        k = rule.mean + deviations * rule.deviation
        place = left + width * k + 2 * deviations
        labels.append(text(place, bottom - 4, f"{k:.2f}", f"small {anchor}"))
    curve = element("polygon", points=" ".join(points), class_="band")
    return group([curve], "m1") + Markup("").join(labels)
