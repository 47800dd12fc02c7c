"""Visual Property Norms: its entries, and mean average precision of runs, panel by panel as in
print."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from seesay.data import store
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.papers.material import Material
from seesay.papers.memory_colors.figures import NORMS, bar_with_sd, few, runs_of
from seesay.papers.paper import Rendered
from seesay.questions import Slice
from seesay.reports.charts import Bar, Series, bars, lines
from seesay.reports.formatting import figure_cells
from seesay.reports.pages.sections import DataTable
from seesay.runs.records import Figure
from seesay.tasks import property_norms
from seesay.tasks.property_norms import (
    PUBLISHED_ENTRIES,
    entries_by_segment,
    read_files,
    read_words,
)
from seesay.tasks.template_files import read_template_file

CHANCE = "chance"
AP = "Mean average precision over the answer words (614 in print)."


def entries_table(material: Material) -> Rendered:
    """Table 4: entries in each segment, by relation."""
    entries, _, words, _ = read_files(material.task_data(NORMS))
    # the published answer words where they are at hand: those of the norms may be more
    published_words = store.find_file(NORMS, "labels.txt", material.data_of(NORMS))
    words = read_words(published_words) or words
    relations = list(property_norms.RELATIONS.values())
    body = []
    differences = []
    for segment, counts in entries_by_segment(entries, words).items():
        printed = PUBLISHED_ENTRIES[segment]
        total = counts.total()
        cells = [f"{counts[relation]:,}" for relation in relations]
        body.append(
            [
                f"PF ≥ {segment}",
                *cells,
                f"{total:,}",
                f"{printed:,}",
            ]
        )
        if total != printed:
            differences.append(f"PF ≥ {segment} by {total - printed:+,}".replace("-", "−"))
    text = "Entries are pairs of a concept and a feature; segments are nested."
    if differences:
        text += f" They differ from print: {', '.join(differences)}."
    else:
        text += " All five are as printed."
    return Rendered(text, [DataTable(["segment", *relations, "all", "published"], body)])


class PanelFigure(NamedTuple):
    """A figure of a model in one panel and segment of the norms."""

    panel: str
    model: str
    figure: Figure

    @property
    def segment(self) -> int:
        if self.figure.slice:
            return int(self.figure.slice["segment"].removeprefix("pf>="))
        return 0


Panel = Callable[[Figure], str | None]
"""The panel that a figure of a run belongs to, by its slice and template; None for none."""


def panel(tags: Sequence[str], name: Callable[[Figure, Slice], str | None]) -> Panel:
    """Return the panel of figures sliced by these tags; `name` takes a figure and its slice."""

    def panel_of(figure: Figure) -> str | None:
        if figure.slice is None or figure.slice.tags != tuple(tags):
            return None
        return name(figure, figure.slice)

    return panel_of


def _in_all_templates(figure: Figure, part: Slice) -> str | None:
    return None if figure.template else "all relations and templates"


def _relation(figure: Figure, part: Slice) -> str | None:
    return None if figure.template else part["relation"]


def _colors_only(figure: Figure, part: Slice) -> str | None:
    if figure.template or part["answers"] != "colour":
        return None
    return "answers that are colours"


SEGMENTS = panel(["segment"], _in_all_templates)
IN_TEMPLATES = panel(["segment"], lambda figure, _: figure.template)
RELATIONS = panel(["relation", "segment"], _relation)
COLORS_ONLY = panel(["answers", "segment"], _colors_only)


def norms_panels(
    panel_of: Panel, draw: Callable[[Sequence[PanelFigure]], Markup]
) -> Callable[[Material], Rendered]:
    """Return what renders mean average precision: a chart as in print, and a table of every panel
    and segment."""

    def render(material: Material) -> Rendered:
        charts: list[Markup] = []
        body: list[list[str]] = []
        for group in runs_of(material, NORMS):
            cells = []
            for entry in group.entries:
                for figure in entry.run.figures:
                    name = panel_of(figure)
                    if figure.metric == "average_precision" and name is not None:
                        cells.append(PanelFigure(name, entry.label, figure))
            if cells:
                charts.append(draw(cells))
            for name, model, figure in sorted(cells, key=lambda cell: cell.panel):
                value, ends, spread, chance = figure_cells(figure)
                part = figure.slice["segment"] if figure.slice else ""
                body.append(
                    [
                        name,
                        model,
                        part,
                        value,
                        spread,
                        ends,
                        chance,
                        f"{figure.n:,}",
                    ]
                )
        if not body:
            raise UserError(
                "The runs of property-norms have no such slice: run the same probe again with this "
                "version."
            )
        header = [
            "panel",
            "model",
            "segment",
            "mean AP",
            "sd over templates",
            "95 % interval",
            "chance",
            "questions",
        ]
        about = f"{AP} {DRAWN[draw]} Its values are published as a drawing only."
        about += few(material, NORMS)
        return Rendered(about, charts=charts, numbers=DataTable(header, body))

    return render


def by_segment(cells: Sequence[PanelFigure]) -> Markup:
    """Draw a curve for each model over the segments, and one for chance."""
    series = []
    for model, curve in group_by(cells, lambda cell: cell.model).items():
        curve.sort(key=lambda cell: cell.segment)
        figures = [cell.figure for cell in curve]
        one_series = Series(
            model,
            [cell.segment for cell in curve],
            [figure.value for figure in figures],
            [figure.low for figure in figures],
            [figure.high for figure in figures],
        )
        series.append(one_series)
    chances = {cell.segment: cell.figure.chance for cell in cells if cell.figure.chance is not None}
    if chances:
        series.append(Series(CHANCE, list(chances), list(chances.values())))
    return lines(
        series,
        title=cells[0].panel,
        x_label="production frequency, at least",
        y_label="mean AP",
    )


def over_questions(cells: Sequence[PanelFigure]) -> Markup:
    """Draw a bar for each panel and model: the mean over the questions of all segments."""
    return _panel_bars(
        cells, "mean AP over the questions of all segments", lambda figure: figure.n, whiskers=False
    )


def over_segments(cells: Sequence[PanelFigure]) -> Markup:
    """Draw a bar for each panel and model: mean and sd over the segments and templates."""
    return _panel_bars(
        cells, "mean AP, mean and sd over segments and templates", lambda _: 1, whiskers=True
    )


def _panel_bars(
    cells: Sequence[PanelFigure], x_label: str, weight: Callable[[Figure], int], *, whiskers: bool
) -> Markup:
    """Draw means of figures, weighted, with chance as a last bar of each panel."""

    def mean(values: Sequence[float], figures: Sequence[Figure]) -> float:
        weights = [weight(figure) for figure in figures]
        return float(np.average(values, weights=weights))

    templates = len(read_template_file("property-norms")["templates"])
    chart_bars = []
    for name, members in group_by(cells, lambda cell: cell.panel).items():
        figures: list[Figure] = []
        for model, cells_of_model in group_by(members, lambda cell: cell.model).items():
            figures = [cell.figure for cell in cells_of_model]
            sd = None
            if whiskers:
                sd = pooled_sd([(figure.value, figure.spread) for figure in figures], templates)
            value = mean([figure.value for figure in figures], figures)
            chart_bars.append(bar_with_sd(name, value, sd, model))
        # chance is the same for all models of a panel: the last one's stands for all
        chances = [figure.chance for figure in figures if figure.chance is not None]
        # a mean of chance over some of the segments would be that of other questions
        if len(chances) == len(figures):
            chart_bars.append(Bar(name, mean(chances, figures), series=CHANCE))
    return bars(chart_bars, title="Property Norms", x_label=x_label)


def pooled_sd(groups: Sequence[tuple[float, float | None]], size: int) -> float | None:
    """Return the standard deviation of all values of groups of one size, from the mean and standard
    deviation of each.

    >>> round(pooled_sd([(1.5, 0.5**0.5), (3.5, 0.5**0.5)], 2), 6)  # of 1, 2, 3 and 4
    1.290994
    """
    if any(sd is None for _, sd in groups):
        return None
    # all groups are of one size, so that the mean of their means is that of all values
    overall = fmean(mean for mean, _ in groups)
    # the sum of squares within the groups, and between them
    squares = sum(
        (size - 1) * (sd or 0.0) ** 2 + size * (mean - overall) ** 2 for mean, sd in groups
    )
    return math.sqrt(squares / (size * len(groups) - 1))


DRAWN: Mapping[Callable[[Sequence[PanelFigure]], Markup], str] = {
    by_segment: "The horizontal axis is the least production frequency of the answers; bands are "
    "95 % intervals over concepts. In print these are bars with the sd over templates.",
    over_questions: "As in print, a bar is the mean over the questions of all segments.",
    over_segments: "As in print, a bar is the mean over segments and templates, its whisker their "
    "sd.",
}
"""How each chart is to be read."""
