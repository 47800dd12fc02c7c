"""The results of a sweep as the paper's Tables 1, 2 and 3, with the published figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from statistics import fmean, stdev

from seesay.reports.formatting import NONE
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.config import NetworkConfig
from seesay.scenes.reasoners.networks.registry import NAMES, network_class
from seesay.scenes.reasoners.sweep import SweepRow, best
from seesay.scenes.tasks.malevic import ACCURACY, CEILING, MODELS

TABLES = {
    "Table 1": {task.upper(): (task, "test") for task in ("sup1", "pos1", "pos", "set+pos")},
    # the reasoners of Table 1 on hard items
    "Table 2": {"POS-hard": ("pos", "pos-hard"), "SET+POS-hard": ("set+pos", "set+pos-hard")},
    # trained on seen combinations of adjective and shape only
    "Table 3": {"seen": ("compositional", "test_seen"), "unseen": ("compositional", "test_unseen")},
}
"""The paper's tables: the training task and the test of every column."""
_DEFAULTS = {field.name: field.default for field in fields(NetworkConfig)}
OTHERS = "Other tasks"


@dataclass(frozen=True, slots=True)
class TableCell:
    """The mean test accuracy of the best configuration, and the network's published figure."""

    table: str
    column: str
    network: str
    config: str
    seeds: int
    mean: float
    sd: float | None
    """The standard deviation over seeds; None for a single one."""
    published: float | None
    """None where the paper has none, as for networks of our own."""
    unlearnt: int = 0
    """The seeds among them with weights as good as untrained."""


@dataclass(frozen=True, slots=True)
class BestConfiguration:
    """The configuration with the highest mean validation accuracy of a network on a task.

    It has its hyper-parameters, the validation accuracy over its seeds, and the folder of its best
    run.
    """

    network: str
    task: str
    config: str
    learning_rate: float | None
    dropout: float | None
    batch_norm: bool | None
    seeds: int
    mean: float
    sd: float | None
    highest: float
    best_run: Path
    unlearnt: int = 0
    """The seeds among them with weights as good as untrained."""


def best_configurations(results: Iterable[SweepRow]) -> list[BestConfiguration]:
    """Return the best configuration of every network on every task.

    Hyper-parameters are None where the run's folder is gone or the network has none.
    """
    lines = []
    for (network, task), rows in best(results).items():
        top = max(rows, key=lambda row: row.validation)
        settings = checkpoints.read_settings(top.folder)
        has_sizes = bool(settings) and network_class(network).has_regularisation
        # settings have only the sizes that differ from the defaults
        sizes = _DEFAULTS | settings["sizes"] if has_sizes else {}
        values = [row.validation for row in rows]
        line = BestConfiguration(
            network=network,
            task=task,
            config=top.config,
            learning_rate=settings.get("learning_rate"),
            dropout=sizes.get("dropout"),
            batch_norm=sizes.get("batch_norm"),
            seeds=len(rows),
            mean=fmean(values),
            sd=_sd(values),
            highest=top.validation,
            best_run=top.folder,
            unlearnt=_count_unlearnt(rows),
        )
        lines.append(line)
    return lines


def _sd(values: Sequence[float]) -> float | None:
    """Return the standard deviation, None for a single value."""
    return stdev(values) if len(values) > 1 else None


def _count_unlearnt(rows: Iterable[SweepRow]) -> int:
    """Return the number of trainings that learnt nothing."""
    return sum(bool(row.warning) for row in rows)


def summary(results: Iterable[SweepRow]) -> list[TableCell]:
    """Return every cell with a training, table by table; tasks that the paper lacks come last."""
    cells = []
    best_rows = best(results)
    for table, column, task, test in _columns(best_rows):
        for network, model in NAMES.items():
            rows = [row for row in best_rows.get((network, task), []) if test in row.tests]
            if not rows:
                continue
            values = [row.tests[test] for row in rows]
            cell = TableCell(
                table=table,
                column=column,
                network=network,
                config=rows[0].config,
                seeds=len(rows),
                mean=fmean(values),
                sd=_sd(values),
                published=published(column, model),
                unlearnt=_count_unlearnt(rows),
            )
            cells.append(cell)
    return cells


def _columns(
    best_rows: Mapping[tuple[str, str], Sequence[SweepRow]],
) -> list[tuple[str, str, str, str]]:
    """Return table, column, task and test of the paper's columns, then of our further tasks."""
    columns = {}
    for table, places in TABLES.items():
        for column, place in places.items():
            columns[place] = (table, column, *place)
    for (_, task), rows in best_rows.items():
        for test in chain.from_iterable(row.tests for row in rows):
            columns.setdefault((task, test), (OTHERS, f"{task} {test}", task, test))
    return list(columns.values())


def column_test(column: str) -> str:
    """Return the test of a column, by its name in `seesay.scenes.plan.test_plan`.

    >>> column_test("SET+POS-hard"), column_test("unseen")
    ('set+pos-hard', 'compositional-unseen')
    """
    if column in TABLES["Table 3"]:
        return f"compositional-{column}"
    return column.lower()


def printed(column: str, model: str = CEILING) -> str:
    """Return a published figure as the paper prints it: ceilings as percentages, in its text.

    >>> printed("POS", "FiLM"), printed("POS"), printed("SUP1")
    ('0.9333', '97%', '–')
    """
    value = published(column, model)
    if value is None:
        return NONE
    return f"{100 * value:.0f}%" if model == CEILING else f"{value:g}"


def published(column: str, model: str = CEILING) -> float | None:
    """Return the published figure of a column or test, for a model by the paper's name.

    By default it is that of the ceiling (k = 0.29).
    """
    name = column_test(column).replace("+", "-")
    if name in ACCURACY and model in MODELS:
        return ACCURACY[name][MODELS.index(model)]
    return None
