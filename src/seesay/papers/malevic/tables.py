"""Tables 1 to 3: the results of a sweep beside the published ones, and seen and unseen combinations
item by item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from seesay.papers.malevic.hard_test import reasoners, share_table
from seesay.papers.malevic.scene_figures import scene_test
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import PublishedTable, published_tables
from seesay.reports.charts import Bar, bars
from seesay.reports.formatting import NONE, interval, number
from seesay.reports.pages.sections import DataTable
from seesay.scenes.reasoners.diagnostics import share, shares
from seesay.scenes.reasoners.evaluate import CEILING, predict
from seesay.scenes.reasoners.networks.registry import NAMES
from seesay.scenes.reasoners.paper_tables import (
    TABLES,
    BestConfiguration,
    TableCell,
    best_configurations,
    column_test,
    published,
    summary,
)
from seesay.scenes.reasoners.selection import best_reasoners
from seesay.scenes.reasoners.sweep import SweepRow, read_results
from seesay.scenes.reports.reasoner_charts import RULES, title_of
from seesay.scenes.reports.reasoner_page import grid_cells
from seesay.scenes.rules import holds
from seesay.scenes.tasks.malevic import MODELS

NETWORKS = ("cnn-lstm", "stacked-attention", "film")
"""The paper's networks, in its order."""
SEEN = ("compositional-seen", "compositional-unseen")
SHORTCUTS = published_tables("malevic")["Accuracy of shortcuts"].numbers
"""What the paper's text reports of two shortcuts, rounded: by rule and test."""
HEADER = (
    "test",
    "network",
    "best configuration",
    "of",
    "learning rate, dropout, batch norm",
    "seeds",
    "validation: highest",
    "mean",
    "sd",
    "test: mean",
    "sd",
    "published",
    "difference",
)
SWEEP = (
    "The best configuration of each network by its mean validation accuracy, as in the paper, with "
    "the spread over its seeds; published are means over three seeds of the best of 16 "
    "configurations."
)
RULES_ALONE = (
    "There is no sweep with these trainings among the folders given, so that only the rules are "
    "ours: they know the scene, and k = 0.29 is about the ceiling, since a scene's own k cannot be "
    "seen."
)


def published_table(table: str) -> PublishedTable:
    """Return a table as printed."""
    columns = list(TABLES[table])
    rows = {}
    for model in MODELS:
        cells = [number(published(column, model)) for column in columns]
        # a model that this table does not have
        if any(cell != NONE for cell in cells):
            rows[model] = cells
    return PublishedTable(["published", *columns], rows)


def sweep_rows(material: Material) -> list[SweepRow]:
    """Return the trainings of every sweep at hand."""
    return [row for folder in material.folders["sweep"] for row in read_results(folder)]


def sweep_table(table: str) -> Callable[[Material], Rendered]:
    """Return what renders one of the tables from the sweeps at hand."""

    def render(material: Material) -> Rendered:
        results = sweep_rows(material)
        best = {}
        for configuration in best_configurations(results):
            best[configuration.network, configuration.task] = configuration
        cells = {}
        for cell in summary(results):
            if cell.table == table:
                cells[cell.column, cell.network] = cell
        body = []
        missing = []
        for column, (task, _) in TABLES[table].items():
            for network in NETWORKS:
                if (column, network) in cells:
                    body.append(_row(cells[column, network], best[network, task], results))
                else:
                    missing.append(f"{NAMES[network]} on {column}")
        text = RULES_ALONE
        tables = [rule_table(material, table)]
        if body:
            # networks come before rules, as in print
            tables.insert(0, DataTable(HEADER, body, "Ours"))
            text = SWEEP
            if missing:
                text += f"\n\nNot trained here: {', '.join(missing)}."
        return Rendered(text, tables, status=Status.of(not missing))

    return render


def rule_table(material: Material, table: str) -> DataTable:
    """Return the rules that know the scene, on generated items.

    Nobody who does not know k does better than the first.
    """
    body = []
    for column in TABLES[table]:
        test = scene_test(material, column_test(column))
        for name, rule in test.rules().items():
            answers = [holds(rule, item.scene, test.sentence(item)) for item in test.items]
            right = sum(
                answer == item.cell.answer for answer, item in zip(answers, test.items, strict=True)
            )
            row = share(test.name, (name,), right, len(test.items))
            # of the ceiling the table itself prints a row, of shortcuts the paper's text
            if name == CEILING:
                printed = published(column)
            else:
                printed = SHORTCUTS.get(name, {}).get(column)
            cells = [
                title_of(test.name),
                RULES[name],
                number(row.accuracy),
                interval(row.low, row.high),
                f"{row.items:,}",
                number(printed),
            ]
            body.append(cells)
    header = ["test", "rule", "accuracy", "95 % interval", "items", "published"]
    return DataTable(header, body, "Rules on generated items of ours")


def _row(
    cell: TableCell, best: BestConfiguration, results: list[SweepRow]
) -> list[str | float | None]:
    """Return a row of our table: the best configuration, and its distance from print."""
    same_task = [row for row in results if (row.network, row.task) == (best.network, best.task)]
    configurations = {row.config for row in same_task}
    difference = None
    if cell.published is not None:
        difference = cell.mean - cell.published
    return [
        cell.column,
        NAMES[cell.network],
        cell.config,
        str(len(configurations)),
        ", ".join(grid_cells(best)),
        str(cell.seeds),
        number(best.highest),
        number(best.mean),
        number(best.sd),
        number(cell.mean),
        number(cell.sd),
        number(cell.published),
        number(difference, sign=True),
    ]


def seen_and_unseen(material: Material) -> Rendered:
    """Table 3, and with a compositional reasoner at hand the accuracy of every combination.

    The latter is counted item by item.
    """
    from seesay.models.options import ModelOptions
    from seesay.scenes.reasoners.model import load_reasoner

    candidates = [reasoner for reasoner in reasoners(material) if reasoner.task == "compositional"]
    best = best_reasoners(candidates)
    table = sweep_table("Table 3")(material)
    tables = list(table.tables)
    charts = []
    for reasoner in best.values():
        model = load_reasoner(str(reasoner.folder), ModelOptions())
        rows = []
        chart_bars = []
        for name in SEEN:
            test = scene_test(material, name)
            group = name.removeprefix("compositional-")
            for row in shares(predict(model, test), lambda row: (row.adjective, row.shape)):
                # the table tells seen combinations from unseen ones, which are in two tests
                rows.append(replace(row, group=(group, *row.group)))
                combination = " ".join(row.group)
                chart_bars.append(Bar(combination, row.accuracy, row.low, row.high, group))
        title = f"{NAMES[reasoner.network]}: every combination of adjective and shape"
        charts.append(bars(chart_bars, title=title, x_label="accuracy"))
        tables.append(share_table(["combination", "adjective", "shape"], rows, title))
    text = table.text
    if best:
        text += (
            "\n\nItem by item: the best reasoner of each network, by validation accuracy, on the "
            "combinations that its training has and on those that it lacks. A network that has "
            "learnt what small means is as good on small circles as on small squares; one that has "
            "learnt whole combinations answers the unseen ones the wrong way round, below chance."
        )
    return Rendered(text, tables, charts, status=table.status)
