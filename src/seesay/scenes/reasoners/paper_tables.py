"""The results of a sweep as the paper's Tables 1, 2 and 3, with the published figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean, stdev

from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.config import NetworkConfig
from seesay.scenes.reasoners.networks.registry import NAMES, network_class
from seesay.scenes.reasoners.sweep import SweepRow, best
from seesay.scenes.tasks.malevic import ACCURACY, CEILING, MODELS

TABLES = {
    "Table 1": {task.upper(): (task, "test") for task in ("sup1", "pos1", "pos", "set+pos")},
    "Table 2": {"POS-hard": ("pos", "pos-hard"), "SET+POS-hard": ("set+pos", "set+pos-hard")},
    "Table 3": {"seen": ("compositional", "test_seen"), "unseen": ("compositional", "test_unseen")},
}
"""The paper's tables: the training task and the test of every column."""
_DEFAULTS = {field.name: field.default for field in fields(NetworkConfig)}
OTHERS = "Other tasks"


@dataclass(frozen=True, slots=True)
class TableCell:
    """The mean test accuracy of the best configuration, its sd over seeds (None for a single one),
    and the figure published for the network."""

    table: str
    column: str
    network: str
    config: str
    seeds: int
    mean: float
    sd: float | None
    published: float | None


@dataclass(frozen=True, slots=True)
class BestConfiguration:
    """The configuration with the highest mean validation accuracy of a network on a task: its
    hyper-parameters, the validation accuracy over its seeds, and the folder of its best run."""

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


def best_configurations(results: Iterable[SweepRow]) -> list[BestConfiguration]:
    """One per network and task. Hyper-parameters are None where the run's folder is gone or the
    network has none."""
    lines = []
    for (network, task), rows in best(results).items():
        top = max(rows, key=lambda row: row.validation)
        settings = checkpoints.read_settings(top.folder)
        has_sizes = bool(settings) and network_class(network).has_regularisation
        sizes = _DEFAULTS | settings["sizes"] if has_sizes else {}
        values = [row.validation for row in rows]
        lines.append(
            BestConfiguration(
                network,
                task,
                top.config,
                settings.get("learning_rate"),
                sizes.get("dropout"),
                sizes.get("batch_norm"),
                len(rows),
                fmean(values),
                stdev(values) if len(values) > 1 else None,
                top.validation,
                top.folder,
            )
        )
    return lines


def summary(results: Iterable[SweepRow]) -> list[TableCell]:
    """Every cell with a training, table by table; tasks that the paper lacks come last."""
    cells = []
    chosen = best(results)
    columns = [
        (table, column, *where) for table, row in TABLES.items() for column, where in row.items()
    ]
    in_paper = {(task, test) for _, _, task, test in columns}
    trained = dict.fromkeys(
        (task, test) for (_, task), rows in chosen.items() for row in rows for test in row.tests
    )
    columns += [
        (OTHERS, f"{task} {test}", task, test)
        for task, test in trained
        if (task, test) not in in_paper
    ]
    for table, column, task, test in columns:
        for network in NAMES:
            rows = [row for row in chosen.get((network, task), []) if test in row.tests]
            if rows:
                values = [row.tests[test] for row in rows]
                sd = stdev(values) if len(values) > 1 else None
                figure = published(column, NAMES[network])
                cells.append(
                    TableCell(
                        table, column, network, rows[0].config, len(rows), fmean(values), sd, figure
                    )
                )
    return cells


def column_test(column: str) -> str:
    """The test of a column, by its name in `seesay.scenes.plan.test_plan`.

    >>> column_test("SET+POS-hard"), column_test("unseen")
    ('set+pos-hard', 'compositional-unseen')
    """
    if column in TABLES["Table 3"]:
        return f"compositional-{column}"
    return column.lower()


def published(column: str, model: str = CEILING) -> float | None:
    """The published figure of a column or test, for a model by the paper's name or for the ceiling
    (k = 0.29)."""
    name = column_test(column).replace("+", "-")
    if name in ACCURACY and model in MODELS:
        return ACCURACY[name][MODELS.index(model)]
    return None
