"""The results of a sweep as the paper's Tables 1, 2 and 3, with the published figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev

from seesay.reasoners.networks.registry import NAMES
from seesay.reasoners.sweep import SweepRow, best
from seesay.tasks.malevic import ACCURACY, CEILING, MODELS

TABLES = {
    "Table 1": {task.upper(): (task, "test") for task in ("sup1", "pos1", "pos", "set+pos")},
    "Table 2": {"POS-hard": ("pos", "pos-hard"), "SET+POS-hard": ("set+pos", "set+pos-hard")},
    "Table 3": {"seen": ("compositional", "test_seen"), "unseen": ("compositional", "test_unseen")},
}
"""The paper's tables: the training task and the test of every column."""
OTHERS = "Other tasks"


@dataclass(frozen=True, slots=True)
class TableCell:
    """The mean test accuracy of the best configuration, its sd over seeds (None for a single one), and the figure
    published for the network."""

    table: str
    column: str
    network: str
    config: str
    seeds: int
    mean: float
    sd: float | None
    published: float | None


def summary(results: Iterable[SweepRow]) -> list[TableCell]:
    """Every cell with a training, table by table; tasks that the paper lacks come last."""
    cells, chosen = [], best(results)
    columns = [(table, column, *where) for table, row in TABLES.items() for column, where in row.items()]
    in_paper = {(task, test) for _, _, task, test in columns}
    trained = dict.fromkeys((task, test) for (_, task), rows in chosen.items() for row in rows for test in row.tests)
    columns += [(OTHERS, f"{task} {test}", task, test) for task, test in trained if (task, test) not in in_paper]
    for table, column, task, test in columns:
        for network in NAMES:
            rows = [row for row in chosen.get((network, task), []) if test in row.tests]
            if rows:
                values = [row.tests[test] for row in rows]
                sd = stdev(values) if len(values) > 1 else None
                figure = published(column, NAMES[network])
                cells.append(TableCell(table, column, network, rows[0].config, len(rows), fmean(values), sd, figure))
    return cells


def column_test(column: str) -> str:
    """The test of a column, by its name in `seesay.scenes.plan.test_plan`.

    >>> column_test("SET+POS-hard"), column_test("unseen")
    ('set+pos-hard', 'compositional-unseen')
    """
    return f"compositional-{column}" if column in TABLES["Table 3"] else column.lower()


def published(column: str, model: str = CEILING) -> float | None:
    """The published figure of a column or test, for a model by the paper's name or for the ceiling (k = 0.29)."""
    name = column_test(column).replace("+", "-")
    return ACCURACY[name][MODELS.index(model)] if name in ACCURACY and model in MODELS else None
