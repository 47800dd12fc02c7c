"""Visual Property Norms: its entries, and mean average precision of runs, figure by figure as in
print."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from seesay import metrics
from seesay.data import store
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.papers.material import Material
from seesay.papers.memory_colors.figures import (
    KINDS,
    NORMS,
    bar_with_sd,
    few,
    kind_of,
    runs_of,
    text_runs,
)
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import published_tables
from seesay.questions import Slice, Template
from seesay.reports.charts import Bar, bars
from seesay.reports.formatting import figure_cells
from seesay.reports.groups import LabelledRun
from seesay.reports.pages.sections import DataTable
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.records import Figure
from seesay.runs.run import Run
from seesay.tasks.property_norms import RELATIONS as ASKED_AS
from seesay.tasks.property_norms import Entry, entries_by_segment, read_files, read_words
from seesay.tasks.template_files import read_template_file

WARM = KINDS[1]
COOL = f"{KINDS[0]} or chance"
CHANCE = "Random"
"""What the paper's legends call chance."""
METRIC = "average_precision"
ALL_RELATIONS = "all relations"
AP = "Mean average precision over the answer words (614 in print)."
NOT_PRINTED = "Its values are drawn in print, and in no file of the authors'."
SHOWN_TEMPLATES = (
    "describe-usually",
    "describe",
    "q-a",
    "q-a-usually",
    "plain",
    "usually",
    "generally-first",
    "generally",
    "everybody-knows",
)
"""The templates in the order of Figure 4, from top to bottom."""


def read_entries(material: Material) -> tuple[list[Entry], list[str]]:
    """Return the entries of the norms, and the words that are asked for."""
    entries, _, words, _ = read_files(material.task_data(NORMS))
    # the published answer words where they are at hand: those of the norms may be more
    published_words = store.find_file(NORMS, "labels.txt", material.data_of(NORMS))
    return entries, read_words(published_words) or words


def example_entries(material: Material) -> Rendered:
    """Table 1: the printed concepts with the production frequency that the norms at hand have."""
    entries, _ = read_entries(material)
    columns = published_tables("memory_colors")["Table 1"].rows
    body = []
    are_equal = True
    for concept, relation, feature, pf in zip(*columns.values(), strict=True):
        frequencies = [
            str(entry.pf)
            for entry in entries
            if entry.concept == concept.lower()
            and entry.relation == ASKED_AS[relation]
            and entry.answer == feature
        ]
        ours = ", ".join(frequencies) or "not there"
        are_equal = are_equal and ours == pf
        body.append([concept, relation, feature, pf, ours])
    header = ["concept", "relation", "feature", "PF in print", "PF in the norms here"]
    text = "The same four entries in the norms at hand."
    return Rendered(text, [DataTable(header, body, "Ours")], status=Status.of(are_equal))


def entries_table(material: Material) -> Rendered:
    """Table 4: entries in each segment, by relation."""
    entries, words = read_entries(material)
    counts = entries_by_segment(entries, words)
    table = published_tables("memory_colors")["Table 4"]
    body = []
    differences = 0
    total_differences = []
    for name, cells in table.rows.items():
        # print calls the relation by its words in the norms
        relation = ASKED_AS.get(name)
        row = [name]
        for (segment, by_relation), cell in zip(counts.items(), cells, strict=True):
            count = by_relation.total() if relation is None else by_relation[relation]
            row.append(f"{count:,}")
            difference = count - int(cell.replace(",", ""))
            differences += difference != 0
            # those of relations can be read off the two tables
            if difference and relation is None:
                sign = f"{difference:+,}".replace("-", "−")
                total_differences.append(f"PF ≥ {segment} by {sign}")
        body.append(row)
    text = "Entries are pairs of a concept and a feature; segments are nested."
    if differences:
        text += f" In the norms at hand {differences} of 25 counts are not those in print"
        text += f" (entries: {', '.join(total_differences)})." if total_differences else "."
    else:
        text += " All 25 counts of the norms at hand are those in print."
    ours = DataTable(table.header, body, "Ours, from the norms at hand")
    return Rendered(text, [ours], status=Status.of(not differences))


class PanelFigure(NamedTuple):
    """A figure of a model in one panel and segment of the norms, and the run that it is from."""

    panel: str
    model: str
    figure: Figure
    run: Run

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
    return None if figure.template else ALL_RELATIONS


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


Draw = Callable[[Sequence[PanelFigure]], Markup]


def norms_panels(panel_of: Panel, draw: Draw) -> Callable[[Material], Rendered]:
    """Return what renders mean average precision: a chart as in print, and a table of every panel
    and segment."""

    def render(material: Material) -> Rendered:
        charts: list[Markup] = []
        body: list[list[str]] = []
        for group in runs_of(material, NORMS):
            cells = panel_figures(text_runs(group), panel_of)
            if cells:
                charts.append(draw(cells))
            body += _rows(cells)
        if not body:
            raise UserError(
                "The runs of property-norms have no such slice: run the same probe again with this "
                "version."
            )
        about = f"{AP} {DRAWN[panel_of]} {NOT_PRINTED}{few(material, NORMS)}"
        return Rendered(about, charts=charts, numbers=DataTable(HEADER, body))

    return render


HEADER = (
    "panel",
    "model",
    "segment",
    "mean AP",
    "sd over templates",
    "95 % interval",
    "chance",
    "questions",
)


def panel_figures(entries: Sequence[LabelledRun], panel_of: Panel) -> list[PanelFigure]:
    """Return the figures of runs that belong to a panel."""
    cells = []
    for entry in entries:
        for figure in entry.run.figures:
            name = panel_of(figure)
            if figure.metric == METRIC and name is not None:
                cells.append(PanelFigure(name, entry.label, figure, entry.run))
    return cells


def _rows(cells: Sequence[PanelFigure]) -> list[list[str]]:
    """Return the numbers behind a chart."""
    rows = []
    for cell in sorted(cells, key=lambda cell: cell.panel):
        value, ends, spread, chance = figure_cells(cell.figure)
        rows.append(
            [
                cell.panel,
                cell.model,
                f"PF ≥ {cell.segment}",
                value,
                spread,
                ends,
                chance,
                f"{cell.figure.n:,}",
            ]
        )
    return rows


def by_segment(cells: Sequence[PanelFigure]) -> Markup:
    """Draw a chart for each least production frequency: the models' bars with the sd over
    templates, those of models that see in a warmer color."""
    panel_name = cells[0].panel
    # the second half of Figure 2 has all relations, Figure 5 the colours
    title = "(b) Visual Property Norms"
    if panel_name != ALL_RELATIONS:
        title = f"Visual Property Norms, {panel_name}"
    charts = []
    # one scale for all, so that segments can be compared
    x_end = max(cell.figure.value + (cell.figure.spread or 0.0) for cell in cells)
    by_frequency = group_by(sorted(cells, key=lambda cell: cell.segment), lambda cell: cell.segment)
    for segment, members in by_frequency.items():
        chance = members[0].figure.chance
        # chance comes first: the first series has a cool color, the second a warm one
        chart_bars = [Bar(CHANCE, math.nan if chance is None else chance, series=COOL)]
        for cell in members:
            figure = cell.figure
            series = WARM if kind_of(cell.run) == WARM else COOL
            chart_bars.append(bar_with_sd(cell.model, figure.value, figure.spread, series))
        charts.append(
            bars(
                chart_bars,
                title=f"{title}, PF ≥ {segment}",
                x_label="score, mean and sd over templates",
                x_end=x_end,
            )
        )
    return Markup("").join(charts)


def by_template(cells: Sequence[PanelFigure]) -> Markup:
    """Draw a bar for each template and model: the mean over the questions of all segments."""
    chart_bars = []
    by_panel = group_by(cells, lambda cell: cell.panel)
    # as in print from top to bottom; a run may have been asked in some templates only
    for place, template in enumerate(SHOWN_TEMPLATES, 1):
        members = by_panel.get(template, [])
        by_model = group_by(members, lambda cell: cell.model)
        for model, cells_of_model in by_model.items():
            chart_bars.append(Bar(str(place), overall(cells_of_model), series=model))
    return bars(
        chart_bars,
        title="Visual Property Norms, by template",
        x_label="score over the questions of all segments",
    )


def overall(cells: Sequence[PanelFigure]) -> float:
    """Return the mean score over the questions of all segments."""
    values = [cell.figure.value for cell in cells]
    return float(np.average(values, weights=[cell.figure.n for cell in cells]))


def by_relation(cells: Sequence[PanelFigure]) -> Markup:
    """Draw a bar for each relation and model: mean and sd over templates of the mean over
    segments."""
    chart_bars = []
    scores = {}
    for model, members in group_by(cells, lambda cell: cell.model).items():
        scores[model] = relation_scores(members[0].run)
    for relation, members in sorted(group_by(cells, lambda cell: cell.panel).items()):
        by_model = group_by(members, lambda cell: cell.model)
        for model in by_model:
            of_templates = scores[model][relation]
            sd = stdev(of_templates) if len(of_templates) > 1 else None
            chart_bars.append(bar_with_sd(relation, fmean(of_templates), sd, model))
        chart_bars += _chance_bar(relation, next(iter(by_model.values())))
    return bars(
        chart_bars,
        title="Visual Property Norms, by relation",
        x_label="score over segments, mean and sd over templates",
    )


def relation_scores(run: Run) -> dict[str, list[float]]:
    """Return for each relation the score in every template: the mean over segments, each of which
    has the same weight."""
    metric = metrics.get(METRIC)
    items = items_by_template(run.task, run.answers, run.manifest.condition.length)
    by_template = statistics([metric], items)[metric.name]
    places: dict[str, dict[str, list[int]]] = {}
    for place, question in enumerate(run.task.questions):
        segments = places.setdefault(question.tags["relation"], {})
        segments.setdefault(question.tags["segment"], []).append(place)
    scores: dict[str, list[float]] = {}
    for relation, segments in places.items():
        for stats in by_template:
            values = [float(metric.value(stats[rows].sum(axis=0))) for rows in segments.values()]
            scores.setdefault(relation, []).append(fmean(values))
    return scores


def _chance_bar(name: str, cells: Sequence[PanelFigure]) -> list[Bar]:
    """Return the bar of chance over these figures of one model; it is the same for all models."""
    chances = [cell.figure.chance for cell in cells]
    known = [chance for chance in chances if chance is not None]
    # a mean of chance over some of the segments would be that of other questions
    if not known or len(known) < len(chances):
        return []
    return [Bar(name, fmean(known), series=CHANCE)]


def templates_written_out(material: Material) -> Rendered:
    """Figure 4, with the templates under the numbers of the chart."""
    rendered = norms_panels(IN_TEMPLATES, by_template)(material)
    templates = {template.name: template for template in TEMPLATES}
    rows = []
    for place, name in enumerate(SHOWN_TEMPLATES, 1):
        rows.append([str(place), templates[name].text, name])
    table = DataTable(["number", "asked as", "in the runs"], rows, "Ours: the nine templates")
    return replace(rendered, tables=[table])


TEMPLATES: Sequence[Template] = read_template_file("property-norms")["templates"]

DRAWN: Mapping[Panel, str] = {
    SEGMENTS: "Bars at the least production frequencies 2, 5, 10, 20 and 30, chance beside them; "
    "as the caption says, whiskers are the sd over templates, and models that see are in a warmer "
    "colour.",
    COLORS_ONLY: "Bars at the least production frequencies 2, 5, 10, 20 and 30, chance beside "
    "them; the whiskers, the sd over templates, are ours.",
    IN_TEMPLATES: "A bar is the mean over the questions of all segments, in one template; print "
    "does not say how segments are weighted. The numbers are those of the templates above, in "
    "print from top to bottom. Section 2.2 counts 8 templates, the drawing has 9; the two that "
    "begin with `describe` have no full stop after the first concept there, and one in the "
    "authors' code, as asked here.",
    RELATIONS: "As the caption says, whiskers are the sd over templates; a bar is the mean over "
    "segments of equal weight.",
}
"""How each chart is to be read."""
