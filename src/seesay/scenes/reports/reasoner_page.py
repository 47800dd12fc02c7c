"""Pages of trained reasoners: their diagnosis, and a sweep beside the published tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from seesay.reports.charts import Bar, Series, bars, lines
from seesay.reports.formatting import NONE, interval, number
from seesay.reports.pages.sections import DataTable, Section, write_page, write_svg
from seesay.scenes.reasoners.diagnostics import (
    REASONER,
    BinAccuracy,
    Diagnosis,
    GroupAccuracy,
    mixtures,
)
from seesay.scenes.reasoners.evaluate import CEILING
from seesay.scenes.reasoners.networks.registry import NAMES
from seesay.scenes.reasoners.paper_tables import (
    OTHERS,
    TABLES,
    BestConfiguration,
    TableCell,
    column_test,
    printed,
    published,
)
from seesay.scenes.reports import reasoner_charts
from seesay.scenes.reports.attention_overlay import attention_chart
from seesay.scenes.reports.reasoner_charts import RULES, title_of
from seesay.training.checkpoint import HISTORY, read_history

ACCURACY = (
    "The share of generated test items answered right, with Wilson's 95 % interval; chance is "
    "0.5.\n\n"
    "Rules answer the same items from the scene itself: k = 0.29 is about the ceiling, since "
    "a scene's own k cannot be seen. A reasoner no better than a shortcut (the whole scene in "
    "place of the target's own shape; only the biggest is big) may have learnt just that. The "
    "hard tests leave out the largest and the smallest things, so that shortcuts fail. Unseen "
    "combinations are pairs of adjective and shape that training never showed."
)
TYPES = (
    'On the tests of the reasoner\'s own task. One that has learnt "big" is about equally good '
    "on every bar. A bias towards yes raises the true sentences and lowers the false ones; an "
    "adjective that was learnt shape by shape fails on some shapes only. Whiskers are 95 % "
    "intervals. The paper's own Figures 4 to 7, on SET+POS-hard: `seesay paper malevic`."
)
BY_K = (
    "k sets the threshold of the scene's speaker: the higher it is, the more things are big. "
    "It cannot be seen in the picture, so even a perfect observer errs at both ends: at a "
    "high k about things that are just big (big and true, small and false), at a low k about "
    "those that are just small. Each mark is at the mean k of its bin; bands are 95 % "
    "intervals."
)
DISTANCE = (
    "How far the thing's area is from the threshold between big and small, as a share of the "
    "range of its reference set. Errors near the threshold are due to vagueness, and the "
    "ceiling (k = 0.29) makes them too; errors far from it are the reasoner's own."
)
ATTENTION = (
    "The first items of the test that were answered right, and the first wrong ones; none is "
    "chosen by hand. The target of the sentence is framed; the number is the probability of "
    "the answer.\n\n"
    "The overlay shows, for FiLM, how many channels take their maximum from a cell and, for "
    "stacked attention, the weight of the cell in each round, both as far as they exceed an "
    "even share. For the object-centred reasoner it shows the probability that an object is "
    "the target, and its membership in the reference set (the highest shown as 1). CNN+LSTM "
    "has no attention to show."
)
UNSEEN = (
    "Training items pair adjectives and shapes in one way, with this many examples of the "
    "other pairs among them. Horizontal lines (0) show the accuracy of a network trained "
    "without any of those."
)
SWEEP = (
    "The best configuration of each network by validation accuracy: mean ± standard deviation "
    "over its seeds, with the number of seeds in brackets; the ceiling is that of the items "
    "diagnosed below. A seed that learnt nothing (its best weights are those it started with, or "
    "no better than guesses) is counted as such, and part of the mean.\n\n"
    "Published figures are means over three runs of the best of sixteen "
    "configurations (Pezzelle & Fernández 2019)."
)
BEST = (
    "Validation accuracy of the configuration with the highest mean: its mean ± standard "
    "deviation over seeds, and the run with the maximum. The classifier's dropout and batch "
    "norm are those of the paper's grid."
)
CURVES = (
    "Validation accuracy of the best runs, epoch by epoch; the weights kept are those of the "
    "highest point. A curve that still rises at its end was cut short by its number of "
    "epochs."
)
CHART = "Whiskers are one standard deviation to either side."
_TABLES = {
    "Table 1": "the four tasks",
    "Table 2": "hard tests",
    "Table 3": "seen and unseen combinations",
}
_CEILING = "ceiling, k = 0.29"
ACCURACY_COLUMNS = ("right", "items", "accuracy", "95 % interval")

LabelledDiagnoses = Sequence[tuple[str, Diagnosis]]
Charts = dict[str, Markup]


def reasoner_page(path: Path, diagnoses: Sequence[Diagnosis]) -> list[Path]:
    """Write the page, and beside it each chart of numbers as a file.

    Returns the paths written.
    """
    names = reasoner_charts.labels(diagnoses)
    subject = names[0] if len(names) == 1 else f"{len(names)} reasoners"
    return _write(path, f"Diagnosis of {subject}", *diagnosis_sections(diagnoses))


def sweep_page(
    path: Path,
    cells: Sequence[TableCell],
    diagnoses: Sequence[Diagnosis] = (),
    best: Sequence[BestConfiguration] = (),
) -> list[Path]:
    """Write the paper's Tables 1 to 3 beside ours, and the diagnosis of the best reasoners."""
    sections, charts = sweep_sections(cells, diagnoses, best)
    if diagnoses:
        more, others = diagnosis_sections(diagnoses)
        sections = [*sections, *more]
        charts = {**charts, **others}
    return _write(path, "Reasoners beside the published ones", sections, charts)


def diagnosis_sections(diagnoses: Sequence[Diagnosis]) -> tuple[list[Section], Charts]:
    """Return the sections, and the charts of numbers by name."""
    labelled = list(zip(reasoner_charts.labels(diagnoses), diagnoses, strict=True))
    # names of charts become names of files
    charts: Charts = {}
    for test, chart in reasoner_charts.accuracy(diagnoses).items():
        charts[f"accuracy {test}"] = chart
    sections = [
        Section(
            "Accuracy",
            ACCURACY,
            list(charts.values()),
            _accuracy_table(labelled),
        )
    ]
    unseen = reasoner_charts.unseen(diagnoses)
    if unseen is not None:
        charts["unseen"] = unseen
        sections.append(
            Section(
                "Few unseen examples",
                UNSEEN,
                [unseen],
                _unseen_table(diagnoses),
            )
        )
    for key, heading, text, draw, table in (
        (
            "types",
            "Sentence types, shapes and colours",
            TYPES,
            reasoner_charts.types,
            _types_table(labelled),
        ),
        (
            "k",
            "The scene's k",
            BY_K,
            reasoner_charts.by_k,
            _bins_table(labelled, "k"),
        ),
        (
            "distance",
            "Distance from the threshold",
            DISTANCE,
            reasoner_charts.by_distance,
            _bins_table(labelled, "distance"),
        ),
    ):
        section_charts: Charts = {}
        for name, diagnosis in labelled:
            for i, chart in enumerate(draw(diagnosis, name), 1):
                section_charts[f"{key} {name} {i}"] = chart
        # superlatives and comparatives have neither k nor a distance
        if section_charts:
            charts |= section_charts
            sections.append(
                Section(
                    heading,
                    text,
                    list(section_charts.values()),
                    table,
                )
            )
    maps = []
    for name, diagnosis in labelled:
        maps += [attention_chart(example, name) for example in diagnosis.examples]
    if maps:
        sections.append(Section("Where they look", ATTENTION, maps))
    return sections, charts


def sweep_sections(
    cells: Sequence[TableCell],
    diagnoses: Sequence[Diagnosis] = (),
    best: Sequence[BestConfiguration] = (),
) -> tuple[list[Section], Charts]:
    """Return sections for each of the paper's tables, and one for the configurations.

    A table has published and our figures, as numbers and as one chart per test.
    """
    sections: list[Section] = []
    charts: Charts = {}
    # the introduction is read once
    text = SWEEP
    for table, about in _TABLES.items():
        by_place = {(cell.network, cell.column): cell for cell in cells if cell.table == table}
        ceilings = {column: _ceiling(diagnoses, column) for column in TABLES[table]}
        figures = _published_table(by_place, ceilings)
        sections.append(Section(f"{table}: {about}", text, (), figures))
        text = ""
        trained = {column for _, column in by_place}
        beside: Charts = {}
        for column, ceiling in ceilings.items():
            if ceiling is not None or column in trained:
                beside[f"published {column_test(column)}"] = _beside(column, by_place, ceiling)
        if beside:
            charts |= beside
            sections.append(Section(f"{table} as charts", CHART, list(beside.values())))
    others = [cell for cell in cells if cell.table == OTHERS]
    if others:
        body = [[NAMES[cell.network], cell.column, _cell(cell)] for cell in others]
        figures = DataTable(["network", "task and test", "ours"], body)
        sections.append(Section(OTHERS, "", (), figures))
    if best:
        sections.append(Section("Best configurations", BEST, (), _best_table(best)))
    curves = _learning_curves(best)
    if curves:
        charts |= curves
        sections.append(Section("Learning curves", CURVES, list(curves.values())))
    return sections, charts


def _published_table(
    cells: Mapping[tuple[str, str], TableCell], ceilings: Mapping[str, float | None]
) -> DataTable:
    """Return one of the paper's tables, with our figures below the published ones."""
    body = []
    for network, name in NAMES.items():
        published_cells = [printed(column, name) for column in ceilings]
        measured = [_cell(cells.get((network, column))) for column in ceilings]
        body += [[f"{name}, published", *published_cells], [f"{name}, ours", *measured]]
    published_cells = [printed(column) for column in ceilings]
    measured = [number(ceiling) for ceiling in ceilings.values()]
    body += [[f"{_CEILING}, published", *published_cells], [f"{_CEILING}, ours", *measured]]
    # a network that is neither published nor trained has no row
    body = [row for row in body if set(row[1:]) != {NONE}]
    return DataTable(["", *(title_of(column_test(column)) for column in ceilings)], body)


def _learning_curves(best: Sequence[BestConfiguration]) -> Charts:
    """Draw one chart per task, with a curve for every network whose history is there."""
    tasks: dict[str, list[Series]] = {}
    for line in best:
        # a sweep may have been copied without its trainings
        training = line.best_run / "training"
        if (training / HISTORY).is_file():
            history = read_history(training)
            epochs = [point["epoch"] for point in history]
            accuracy = [point["validation_accuracy"] for point in history]
            tasks.setdefault(line.task, []).append(Series(NAMES[line.network], epochs, accuracy))
    charts = {}
    for task, series in tasks.items():
        charts[f"curves {task}"] = lines(
            series,
            title=f"{title_of(task)}: learning curves",
            x_label="epochs",
            y_label="validation accuracy",
            y_ends=(0.5, 1.0),
        )
    return charts


def _best_table(best: Sequence[BestConfiguration]) -> DataTable:
    header = [
        "network and task",
        "learning rate",
        "dropout",
        "batch norm",
        "seeds",
        "mean",
        "maximum",
        "best run",
    ]
    body = []
    for line in best:
        name = f"{NAMES[line.network]}, {title_of(line.task)}"
        run = [_seeds(line), _mean(line), number(line.highest), line.best_run.name]
        body.append([name, *grid_cells(line), *run])
    return DataTable(header, body)


def grid_cells(best: BestConfiguration) -> list[str]:
    """Return learning rate, dropout and batch norm of a configuration."""
    rate, dropout = (
        NONE if value is None else f"{value:g}" for value in (best.learning_rate, best.dropout)
    )
    norm = {None: NONE, True: "yes", False: "no"}[best.batch_norm]
    return [rate, dropout, norm]


def _ceiling(diagnoses: Sequence[Diagnosis], column: str) -> float | None:
    """Return the accuracy of the fixed k on the diagnosed items.

    The items are the same ones for all reasoners.
    """
    for diagnosis in diagnoses:
        row = diagnosis.of(column_test(column), CEILING)
        if row is not None:
            return row.accuracy
    return None


def _cell(cell: TableCell | None) -> str:
    if cell is None:
        return NONE
    return f"{_mean(cell)} ({_seeds(cell)})"


def _seeds(figures: TableCell | BestConfiguration) -> str:
    """Return the number of seeds, and of those that learnt nothing, where there are any."""
    if figures.unlearnt:
        return f"{figures.seeds}, {figures.unlearnt} learnt nothing"
    return f"{figures.seeds}"


def _mean(figures: TableCell | BestConfiguration) -> str:
    """Return a mean over seeds with its standard deviation, where there is one."""
    if figures.sd is None:
        return number(figures.mean)
    return f"{number(figures.mean)} ± {number(figures.sd)}"


def _beside(
    column: str, cells: Mapping[tuple[str, str], TableCell], ceiling: float | None
) -> Markup:
    """Draw the published and our figures of a column, network by network."""
    figures = []
    for network, name in NAMES.items():
        value = published(column, name)
        if value is not None:
            figures.append(Bar(name, value, series="published"))
        cell = cells.get((network, column))
        if cell is not None and cell.sd is not None:
            low = cell.mean - cell.sd
            high = cell.mean + cell.sd
            figures.append(Bar(name, cell.mean, low, high, "ours"))
        elif cell is not None:
            figures.append(Bar(name, cell.mean, series="ours"))
    for series, value in (("published", published(column)), ("ours", ceiling)):
        if value is not None:
            figures.append(Bar(_CEILING, value, series=series))
    title = f"{title_of(column_test(column))}: published and ours"
    return bars(figures, title=title, x_label="accuracy")


def _accuracy_table(labelled: LabelledDiagnoses) -> DataTable:
    header = [
        "reasoner",
        "test",
        "accuracy",
        "95 % interval",
        "items",
        *RULES.values(),
        "published",
    ]
    body: list[list[str]] = []
    for name, diagnosis in labelled:
        for row in diagnosis.accuracy:
            if row.group == (REASONER,):
                by_rule = [diagnosis.of(row.test, rule) for rule in RULES]
                rules = [number(other.accuracy) if other else "" for other in by_rule]
                accuracy = [number(row.accuracy), interval(row.low, row.high), f"{row.items:,}"]
                figure = printed(row.test, NAMES[diagnosis.network])
                body.append([name, title_of(row.test), *accuracy, *rules, figure])
    return DataTable(header, body)


def _types_table(labelled: LabelledDiagnoses) -> DataTable:
    body = []
    for name, diagnosis in labelled:
        for row in (*diagnosis.types, *diagnosis.colors):
            group = [name, title_of(row.test), ", ".join(row.group)]
            body.append([*group, *accuracy_cells(row)])
    return DataTable(["reasoner", "test", "group", *ACCURACY_COLUMNS], body)


def _bins_table(labelled: LabelledDiagnoses, value: str) -> DataTable:
    """Return all bins of `k` or `distance`, those of the hard tests too."""
    body = []
    for name, diagnosis in labelled:
        rows: Sequence[BinAccuracy] = getattr(diagnosis, value)
        for row in rows:
            group = [name, title_of(row.share.test), ", ".join(row.share.group)]
            place = [reasoner_charts.between(row), number(row.mean)]
            body.append([*group, *place, *accuracy_cells(row.share), number(row.ceiling)])
    header = ["reasoner", "test", "group", value, "mean", *ACCURACY_COLUMNS, "k = 0.29"]
    return DataTable(header, body)


def _unseen_table(diagnoses: Sequence[Diagnosis]) -> DataTable:
    body = []
    for network, count, row in mixtures(diagnoses):
        group = [NAMES[network], f"{count:,}", title_of(row.test)]
        body.append([*group, *accuracy_cells(row)])
    return DataTable(["network", "unseen examples", "test", *ACCURACY_COLUMNS], body)


def accuracy_cells(row: GroupAccuracy) -> list[str]:
    """Return the cells of `ACCURACY_COLUMNS`."""
    return [f"{row.right:,}", f"{row.items:,}", number(row.accuracy), interval(row.low, row.high)]


def _write(
    path: Path,
    title: str,
    sections: Sequence[Section],
    charts: Charts,
) -> list[Path]:
    """Write the page and each chart; return the paths."""
    paths = [write_page(path, title, sections)]
    files = {}
    for name, chart in charts.items():
        # names have spaces and commas, files have dashes
        files[re.sub(r"[^\w+]+", "-", name.lower()).strip("-")] = chart
    for name, chart in files.items():
        paths.append(write_svg(path.with_name(f"{path.stem}-{name}.svg"), chart))
    return paths
