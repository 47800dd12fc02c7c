"""Tables 1 to 3: the results of a sweep beside the published ones, and seen and unseen combinations
item by item."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from seesay.papers.malevic.hard_test import TRAINING_ITEMS, chance_caution, reasoners, share_of
from seesay.papers.malevic.scene_figures import published_test, scene_test
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import published_tables
from seesay.reports.charts import Bar, bars
from seesay.reports.formatting import NONE, interval, number
from seesay.reports.pages.sections import DataTable
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.diagnostics import GroupAccuracy, share, shares
from seesay.scenes.reasoners.evaluate import CEILING, SceneTest, predict
from seesay.scenes.reasoners.networks.registry import NAMES
from seesay.scenes.reasoners.paper_tables import (
    TABLES,
    BestConfiguration,
    TableCell,
    best_configurations,
    column_test,
    summary,
)
from seesay.scenes.reasoners.selection import best_reasoners
from seesay.scenes.reasoners.sweep import SweepRow, read_results
from seesay.scenes.reports.reasoner_charts import RULES, title_of
from seesay.scenes.reports.reasoner_page import ACCURACY_COLUMNS, accuracy_cells, grid_cells
from seesay.scenes.rules import Positive, holds
from seesay.scenes.tasks.malevic import CEILING_PLACE

NETWORKS = ("cnn-lstm", "stacked-attention", "film")
"""The paper's networks, in its order."""
SEEN = ("compositional-seen", "compositional-unseen")
SEEN_ITEMS = 8_000
"""In print, of seen combinations."""
RULE_ROWS = {
    (CEILING, "POS1"): "POS1 and POS: ceiling",
    (CEILING, "POS"): "POS1 and POS: ceiling",
    (CEILING, "SET+POS"): "SET+POS: ceiling",
    (CEILING, "POS-hard"): "POS-hard: ceiling",
    ("whole-scene", "SET+POS"): "SET+POS: whole scene",
    ("max-is-big", "SET+POS"): "SET+POS: max and min",
}
"""What the paper's text says of a rule on a test, as a row of the published table."""
SWEEP = (
    "Ours are of the sweeps given, in the paper's columns: `max val` is the highest validation "
    "accuracy of all runs of an architecture on the task (in brackets, of those from pixels); the "
    "other columns are of its best configuration by mean validation accuracy, over its seeds."
)
RULES_ALONE = (
    "There is no sweep with these trainings among the folders given, so that only the rules are "
    "ours: they know the scene, and k = 0.29 is about the ceiling, since a scene's own k cannot be "
    "seen."
)


@dataclass(frozen=True)
class Trainings:
    """The trainings of the sweeps at hand: those from features, and those from pixels."""

    features: list[SweepRow]
    pixels: list[SweepRow]
    samples: dict[tuple[str, str], int]
    """Networks and tasks of trainings on fewer items than in print, with their number."""

    @cached_property
    def compared(self) -> list[SweepRow]:
        """Those of each network and task that the table is made of: from features if there are any.

        The paper's main results are, and the two must not be taken for seeds of one configuration.
        """
        with_features = {(row.network, row.task) for row in self.features}
        others = [row for row in self.pixels if (row.network, row.task) not in with_features]
        return [*self.features, *others]

    def highest(self, network: str, task: str) -> str:
        """Return the column `max val (pixels)`."""
        cells = []
        for rows in (self.features, self.pixels):
            values = [
                row.validation
                for row in rows
                if (row.network, row.task) == (network, task) and not row.error
            ]
            cells.append(f"{max(values):.4f}" if values else NONE)
        of_features, of_pixels = cells
        return of_features if of_pixels == NONE else f"{of_features} ({of_pixels})"


def trainings(material: Material) -> Trainings:
    """Return the trainings of every sweep at hand."""
    parts = Trainings([], [], {})
    for folder in material.folders["sweep"]:
        for row in read_results(folder):
            # the table of a sweep does not say what its networks look at
            settings = checkpoints.read_settings(row.folder)
            is_pixels = settings.get("features") == "pixels"
            (parts.pixels if is_pixels else parts.features).append(row)
            published = SEEN_ITEMS if row.task == "compositional" else TRAINING_ITEMS
            items = settings.get("items", published)
            if items < published:
                parts.samples[row.network, row.task] = items
    return parts


def sweep_table(table: str) -> Callable[[Material], Rendered]:
    """Return what renders one of the tables from the sweeps at hand."""

    def render(material: Material) -> Rendered:
        runs = material.once("trainings", lambda: trainings(material))
        best = {}
        for configuration in best_configurations(runs.compared):
            best[configuration.network, configuration.task] = configuration
        cells = {}
        for cell in summary(runs.compared):
            if cell.table == table:
                cells[cell.column, cell.network] = cell
        body = []
        missing = []
        for column, (task, _) in TABLES[table].items():
            for network in NETWORKS:
                if (column, network) in cells:
                    row = _row(cells[column, network], best[network, task], runs)
                    body.append(row)
                else:
                    missing.append(f"{NAMES[network]} on {column}")
        text = RULES_ALONE
        status = Status.NEEDS_RUN
        tables = [rule_table(material, table)]
        if body:
            # networks come before rules, as in print
            tables.insert(0, DataTable(HEADER, body, "Ours"))
            samples = _samples(runs, table)
            text = SWEEP + _differences(runs) + samples
            status = Status.of(not missing and not samples)
            text += _unlearnt_caution(cells.values())
            if missing:
                text += f"\n\nNot trained here: {', '.join(missing)}."
        return Rendered(text, tables, status=status)

    return render


HEADER = (
    "test",
    "model",
    "max val (pixels)",
    "avg val ± sd",
    "avg test ± sd",
    "lr",
    "drop",
    "b norm",
    "seeds",
    "configurations",
    "published avg test",
    "difference",
)


def _row(cell: TableCell, best: BestConfiguration, runs: Trainings) -> list[str | float | None]:
    """Return a row of our table: the best configuration, and its distance from print."""
    # how many configurations the best was chosen from: 16 in the paper
    same_task = [
        row for row in runs.compared if (row.network, row.task) == (best.network, best.task)
    ]
    configurations = {row.config for row in same_task}
    difference = None
    printed = NONE
    if cell.published is not None:
        difference = cell.mean - cell.published
        printed = f"{cell.published:g}"
    return [
        cell.column,
        NAMES[cell.network],
        runs.highest(best.network, best.task),
        _mean_and_sd(best.mean, best.sd),
        _mean_and_sd(cell.mean, cell.sd),
        *grid_cells(best),
        str(cell.seeds),
        str(len(configurations)),
        printed,
        number(difference, sign=True),
    ]


def _mean_and_sd(mean: float, sd: float | None) -> str:
    """Return both as the paper prints them; one seed has no deviation."""
    return f"{mean:.4f}" if sd is None else f"{mean:.4f} ± {sd:.3f}"


def _unlearnt_caution(cells: Iterable[TableCell]) -> str:
    """Return a paragraph about the trainings that learnt nothing, if any."""
    names = [
        f"{cell.unlearnt} of {cell.seeds} of {NAMES[cell.network]} on {cell.column}"
        for cell in cells
        if cell.unlearnt
    ]
    if not names:
        return ""
    return (
        "\n\nCaution: trainings whose validation accuracy is no better than luck, so that their "
        f"test accuracy is chance: {', '.join(names)}."
    )


def _samples(runs: Trainings, table: str) -> str:
    """Return a paragraph about the trainings of a table that had fewer items than in print."""
    tasks = {task for task, _ in TABLES[table].values()}
    names = [
        f"{NAMES[network]} on {title_of(task)} ({items:,})"
        for (network, task), items in runs.samples.items()
        if task in tasks
    ]
    if not names:
        return ""
    return (
        f"\n\nTrained on a sample of the items, which in print are {TRAINING_ITEMS:,}, and "
        f"{SEEN_ITEMS:,} of seen combinations: {', '.join(names)}."
    )


def _differences(runs: Trainings) -> str:
    """Say how the trainings differ from the published ones."""
    if runs.features or not runs.pixels:
        return ""
    return (
        " All of them are from pixels, so that their highest validation accuracy stands in "
        "brackets and the other columns are theirs, too; the paper's are from features of "
        "ResNet-101."
    )


def rule_table(material: Material, table: str) -> DataTable:
    """Return the rules that know the scene, on generated items.

    Nobody who does not know k does better than the first.
    """
    printed = published_tables("malevic")[CEILING_PLACE].rows
    body = []
    for column in TABLES[table]:
        test = scene_test(material, column_test(column))
        authors = published_test(material, test.name)
        for name, rule in test.rules().items():
            row = rule_share(test, name, rule)
            of_authors = None
            if authors is not None:
                of_authors = rule_share(authors, name, rule).accuracy
            place = RULE_ROWS.get((name, column))
            cells = [
                title_of(test.name),
                RULES[name],
                printed[place][0] if place else NONE,
                number(of_authors),
                number(row.accuracy),
                interval(row.low, row.high),
                f"{row.items:,}",
            ]
            body.append(cells)
    header = [
        "test",
        "rule",
        "published",
        "from the authors' files",
        "ours",
        "95 % interval",
        "items",
    ]
    return DataTable(header, body, "Rules that know the scene")


def rule_share(test: SceneTest, name: str, rule: Positive) -> GroupAccuracy:
    """Return the accuracy of a rule on a test."""
    right = 0
    for item in test.items:
        answer = holds(rule, item.scene, test.sentence(item))
        right += answer == item.cell.answer
    return share(test.name, (name,), right, len(test.items))


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
    cautions = ""
    for reasoner in best.values():
        model = load_reasoner(str(reasoner.folder), ModelOptions())
        rows = []
        chart_bars = []
        for name in SEEN:
            test = scene_test(material, name)
            group = name.removeprefix("compositional-")
            predictions = predict(model, test)
            if name == SEEN[0]:
                # a network that has not learnt the seen combinations says nothing of the unseen
                overall = share_of(predictions, "right")
                cautions += chance_caution(NAMES[reasoner.network], overall)
            for row in shares(predictions, lambda row: (row.adjective, row.shape)):
                # the table tells seen combinations from unseen ones, which are in two tests
                rows.append([group, *row.group, *accuracy_cells(row)])
                combination = " ".join(row.group)
                chart_bars.append(Bar(combination, row.accuracy, row.low, row.high, group))
        title = f"{NAMES[reasoner.network]}: every combination of adjective and shape"
        charts.append(bars(chart_bars, title=title, x_label="accuracy"))
        header = ["combination", "adjective", "shape", *ACCURACY_COLUMNS]
        tables.append(DataTable(header, rows, title))
    text = table.text
    if best:
        text += (
            "\n\nItem by item: the best reasoner of each network, by validation accuracy, on the "
            "combinations that its training has and on those that it lacks. A network that has "
            "learnt what small means is as good on small circles as on small squares; one that has "
            "learnt whole combinations answers the unseen ones the wrong way round, below chance."
            + cautions
        )
    return Rendered(text, tables, charts, status=table.status)
