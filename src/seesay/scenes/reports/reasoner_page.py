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
    published,
)
from seesay.scenes.reports import reasoner_charts
from seesay.scenes.reports.attention_overlay import attention_chart
from seesay.scenes.reports.reasoner_charts import RULES, title_of
from seesay.training.checkpoint import HISTORY, read_history

ACCURACY = (
    "The share of generated test items answered right, with Wilson's 95 % interval; chance is "
    "0.5.\n\n"
    "Rules answer the same items from the scene itself: k = 0.29 is about the ceiling, since a "
    "scene's own k cannot be "
    "seen. A reasoner no better than a shortcut (the whole scene in place of the target's own "
    "shape; only the biggest "
    "is big) may have learnt just that. The hard tests leave out the largest and the smallest "
    "things, so that "
    "shortcuts fail. Unseen combinations are pairs of adjective and shape that training never "
    "showed."
)
TYPES = (
    'On the tests of the reasoner\'s own task. One that has learnt "big" is about equally good on '
    "every bar. A bias "
    "towards yes raises the true sentences and lowers the false ones; an adjective that was learnt "
    "shape by shape "
    "fails on some shapes only. Whiskers are 95 % intervals. The paper's own Figures 4 to 7, on "
    "SET+POS-hard: "
    "`seesay paper malevic`."
)
BY_K = (
    "k sets the threshold of the scene's speaker: the higher it is, the more things are big. It "
    "cannot be seen in the "
    "picture, so even a perfect observer errs at both ends: at a high k about things that are just "
    "big (big and true, "
    "small and false), at a low k about those that are just small. Each mark is at the mean k of "
    "its bin; bands are "
    "95 % intervals."
)
DISTANCE = (
    "How far the thing's area is from the threshold between big and small, as a share of the range "
    "of its reference "
    "set. Errors near the threshold are due to vagueness, and the ceiling (k = 0.29) makes them "
    "too; errors far from "
    "it are the reasoner's own."
)
ATTENTION = (
    "The first items of the test that were answered right, and the first wrong ones; none is "
    "chosen by hand. The "
    "target of the sentence is framed; the number is the probability of the answer.\n\n"
    "The overlay shows, for FiLM, how many channels take their maximum from a cell and, for "
    "stacked attention, the "
    "weight of the cell in each round, both as far as they exceed an even share. For the "
    "object-centred reasoner it "
    "shows the probability that an object is the target, and its membership in the reference set "
    "(the highest shown "
    "as 1). CNN+LSTM has no attention to show."
)
UNSEEN = (
    "Training items pair adjectives and shapes in one way, with this many examples of the other "
    "pairs among them. "
    "Horizontal lines (0) show the accuracy of a network trained without any of those."
)
SWEEP = (
    "The best configuration of each network by validation accuracy: mean ± standard deviation over "
    "its seeds, with the "
    "number of seeds in brackets; the ceiling is that of the items diagnosed below. Published "
    "figures are means over "
    "three runs of the best of sixteen configurations (Pezzelle & Fernández 2019)."
)
BEST = (
    "Validation accuracy of the configuration with the highest mean: its mean ± standard deviation "
    "over seeds, and the "
    "run with the maximum. The classifier's dropout and batch norm are those of the paper's grid."
)
CURVES = (
    "Validation accuracy of the best runs, epoch by epoch; the weights kept are those of the "
    "highest point. A curve "
    "that still rises at its end was cut short by its number of epochs."
)
CHART = "Whiskers are one standard deviation to either side."
_TABLES = {
    "Table 1": "the four tasks",
    "Table 2": "hard tests",
    "Table 3": "seen and unseen combinations",
}
_CEILING = "ceiling, k = 0.29"
ACCURACY_COLUMNS = ("right", "items", "accuracy", "95 % interval")

Named = Sequence[tuple[str, Diagnosis]]
Charts = dict[str, Markup]


def reasoner_page(path: Path, diagnoses: Sequence[Diagnosis]) -> list[Path]:
    """Write the page, and beside it each chart of numbers as a file; the paths written."""
    names = reasoner_charts.labels(diagnoses)
    if len(names) == 1:
        title = f"Diagnosis of {names[0]}"
    else:
        title = f"Diagnosis of {len(names)} reasoners"
    return _write(path, title, *diagnosis_sections(diagnoses))


def sweep_page(
    path: Path,
    ours: Sequence[TableCell],
    diagnoses: Sequence[Diagnosis] = (),
    best: Sequence[BestConfiguration] = (),
) -> list[Path]:
    """The paper's Tables 1 to 3 beside ours, and the diagnosis of the best reasoners."""
    sections, charts = sweep_sections(ours, diagnoses, best)
    if diagnoses:
        more, others = diagnosis_sections(diagnoses)
        sections = [*sections, *more]
        charts = {**charts, **others}
    return _write(path, "Reasoners beside the published ones", sections, charts)


def diagnosis_sections(diagnoses: Sequence[Diagnosis]) -> tuple[list[Section], Charts]:
    """The sections, and the charts of numbers by name."""
    named = list(zip(reasoner_charts.labels(diagnoses), diagnoses, strict=True))
    charts = {
        f"accuracy {test}": chart for test, chart in reasoner_charts.accuracy(diagnoses).items()
    }
    sections = [Section("Accuracy", ACCURACY, list(charts.values()), _accuracy_table(named))]
    if (against := reasoner_charts.unseen(diagnoses)) is not None:
        charts["unseen"] = against
        sections.append(Section("Few unseen examples", UNSEEN, [against], _unseen_table(diagnoses)))
    for key, heading, text, draw, table in (
        (
            "types",
            "Sentence types, shapes and colours",
            TYPES,
            reasoner_charts.types,
            _types_table(named),
        ),
        ("k", "The scene's k", BY_K, reasoner_charts.by_k, _bins_table(named, "k")),
        (
            "distance",
            "Distance from the threshold",
            DISTANCE,
            reasoner_charts.by_distance,
            _bins_table(named, "distance"),
        ),
    ):
        drawn: Charts = {}
        for name, diagnosis in named:
            drawn |= {
                f"{key} {name} {i}": chart for i, chart in enumerate(draw(diagnosis, name), 1)
            }
        if drawn:
            charts |= drawn
            sections.append(Section(heading, text, list(drawn.values()), table))
    if maps := [
        attention_chart(example, name)
        for name, diagnosis in named
        for example in diagnosis.examples
    ]:
        sections.append(Section("Where they look", ATTENTION, maps))
    return sections, charts


def sweep_sections(
    ours: Sequence[TableCell],
    diagnoses: Sequence[Diagnosis] = (),
    best: Sequence[BestConfiguration] = (),
) -> tuple[list[Section], Charts]:
    """A section for each of the paper's tables: published and ours, as one chart per test and as a
    table; and one for the configurations."""
    sections: list[Section] = []
    charts: Charts = {}
    for table, about in _TABLES.items():
        columns = list(TABLES[table])
        cells = {(cell.network, cell.column): cell for cell in ours if cell.table == table}
        ceilings = {column: _ceiling(diagnoses, column) for column in columns}
        body: list[list[str]] = []
        for network, name in NAMES.items():
            body.append(
                [f"{name}, published", *(number(published(column, name)) for column in columns)]
            )
            body.append(
                [f"{name}, ours", *(_cell(cells.get((network, column))) for column in columns)]
            )
        body.append([f"{_CEILING}, published", *(number(published(column)) for column in columns)])
        body.append([f"{_CEILING}, ours", *(number(ceilings[column]) for column in columns)])
        body = [row for row in body if any(cell != NONE for cell in row[1:])]
        header = ["", *(title_of(column_test(column)) for column in columns)]
        sections.append(
            Section(f"{table}: {about}", "" if sections else SWEEP, (), DataTable(header, body))
        )
        drawn = {
            f"published {column_test(column)}": _beside(column, cells, ceilings[column])
            for column in columns
            if ceilings[column] is not None or any(column == other for _, other in cells)
        }
        if drawn:
            charts |= drawn
            sections.append(Section(f"{table} as charts", CHART, list(drawn.values())))
    if others := [cell for cell in ours if cell.table == OTHERS]:
        body = [[NAMES[cell.network], cell.column, _cell(cell)] for cell in others]
        sections.append(
            Section(OTHERS, "", (), DataTable(["network", "task and test", "ours"], body))
        )
    if best:
        sections.append(Section("Best configurations", BEST, (), _best_table(best)))
    if drawn := _learning_curves(best):
        charts |= drawn
        sections.append(Section("Learning curves", CURVES, list(drawn.values())))
    return sections, charts


def _learning_curves(best: Sequence[BestConfiguration]) -> Charts:
    """One chart per task, with a curve for every network whose training has left its history."""
    tasks: dict[str, list[Series]] = {}
    for line in best:
        training = line.best_run / "training"
        if (training / HISTORY).is_file():
            history = read_history(training)
            epochs, accuracy = (
                [point[key] for point in history] for key in ("epoch", "validation_accuracy")
            )
            tasks.setdefault(line.task, []).append(Series(NAMES[line.network], epochs, accuracy))
    return {
        f"curves {task}": lines(
            series,
            title=f"{title_of(task)}: learning curves",
            x_label="epochs",
            y_label="validation accuracy",
            y_ends=(0.5, 1.0),
        )
        for task, series in tasks.items()
    }


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
        run = [f"{line.seeds}", _mean(line), number(line.highest), line.best_run.name]
        body.append([f"{NAMES[line.network]}, {title_of(line.task)}", *grid_cells(line), *run])
    return DataTable(header, body)


def grid_cells(best: BestConfiguration) -> list[str]:
    """Learning rate, dropout and batch norm of a configuration."""
    numbers = [
        NONE if value is None else f"{value:g}" for value in (best.learning_rate, best.dropout)
    ]
    return [*numbers, NONE if best.batch_norm is None else "yes" if best.batch_norm else "no"]


def _ceiling(diagnoses: Sequence[Diagnosis], column: str) -> float | None:
    """The accuracy of the fixed k on the diagnosed items, the same ones for all reasoners."""
    return next(
        (
            row.accuracy
            for diagnosis in diagnoses
            if (row := diagnosis.of(column_test(column), CEILING))
        ),
        None,
    )


def _cell(cell: TableCell | None) -> str:
    if cell is None:
        return NONE
    return f"{_mean(cell)} ({cell.seeds})"


def _mean(of: TableCell | BestConfiguration) -> str:
    """A mean over seeds with its standard deviation, where there is one."""
    return number(of.mean) + ("" if of.sd is None else f" ± {number(of.sd)}")


def _beside(
    column: str, cells: Mapping[tuple[str, str], TableCell], diagnosed: float | None
) -> Markup:
    drawn = []
    for network, name in NAMES.items():
        if (value := published(column, name)) is not None:
            drawn.append(Bar(name, value, series="published"))
        if (cell := cells.get((network, column))) is not None:
            low, high = (
                (None, None) if cell.sd is None else (cell.mean - cell.sd, cell.mean + cell.sd)
            )
            drawn.append(Bar(name, cell.mean, low, high, "ours"))
    for series, value in (("published", published(column)), ("ours", diagnosed)):
        if value is not None:
            drawn.append(Bar(_CEILING, value, series=series))
    return bars(
        drawn, title=f"{title_of(column_test(column))}: published and ours", x_label="accuracy"
    )


def _accuracy_table(named: Named) -> DataTable:
    body: list[list[str]] = []
    for name, diagnosis in named:
        for row in diagnosis.accuracy:
            if row.group == (REASONER,):
                by_rule = [diagnosis.of(row.test, rule) for rule in RULES]
                rules = [number(other.accuracy) if other else "" for other in by_rule]
                accuracy = [number(row.accuracy), interval(row.low, row.high), f"{row.items:,}"]
                printed = number(published(row.test, NAMES[diagnosis.network]))
                body.append([name, title_of(row.test), *accuracy, *rules, printed])
    return DataTable(
        ["reasoner", "test", "accuracy", "95 % interval", "items", *RULES.values(), "published"],
        body,
    )


def _types_table(named: Named) -> DataTable:
    rows = [
        (name, row) for name, diagnosis in named for row in (*diagnosis.types, *diagnosis.colors)
    ]
    body = [
        [name, title_of(row.test), ", ".join(row.group), *accuracy_cells(row)] for name, row in rows
    ]
    return DataTable(["reasoner", "test", "group", *ACCURACY_COLUMNS], body)


def _bins_table(named: Named, what: str) -> DataTable:
    """All bins of a reasoner, the hard tests' too."""
    rows: list[tuple[str, BinAccuracy]] = [
        (name, row) for name, diagnosis in named for row in getattr(diagnosis, what)
    ]
    body = []
    for name, row in rows:
        group = [
            name,
            title_of(row.share.test),
            ", ".join(row.share.group),
            reasoner_charts.between(row),
        ]
        body.append([*group, number(row.mean), *accuracy_cells(row.share), number(row.ceiling)])
    return DataTable(
        ["reasoner", "test", "group", what, "mean", *ACCURACY_COLUMNS, "k = 0.29"], body
    )


def _unseen_table(diagnoses: Sequence[Diagnosis]) -> DataTable:
    rows = mixtures(diagnoses)
    body = [
        [NAMES[network], f"{count:,}", title_of(row.test), *accuracy_cells(row)]
        for network, count, row in rows
    ]
    return DataTable(["network", "unseen examples", "test", *ACCURACY_COLUMNS], body)


def accuracy_cells(row: GroupAccuracy) -> list[str]:
    """The cells of `ACCURACY_COLUMNS`."""
    return [f"{row.right:,}", f"{row.items:,}", number(row.accuracy), interval(row.low, row.high)]


def _write(path: Path, title: str, sections: Sequence[Section], charts: Charts) -> list[Path]:
    files = {
        re.sub(r"[^\w+]+", "-", name.lower()).strip("-"): chart for name, chart in charts.items()
    }
    return [
        write_page(path, title, sections),
        *(
            write_svg(path.with_name(f"{path.stem}-{name}.svg"), chart)
            for name, chart in files.items()
        ),
    ]
