"""A sweep laid out as the paper's Tables 1, 2 and 3, with the published figures beside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev

from seesay.reasoners.networks.registry import NAMES
from seesay.reasoners.sweep import Trained, best
from seesay.tasks.malevic import ACCURACY, CEILING, MODELS

TABLES = {
    "Table 1": {
        "SUP1": ("sup1", "test"),
        "POS1": ("pos1", "test"),
        "POS": ("pos", "test"),
        "SET+POS": ("set+pos", "test"),
    },
    "Table 2": {"POS-hard": ("pos", "pos-hard"), "SET+POS-hard": ("set+pos", "set+pos-hard")},
    "Table 3": {"seen": ("compositional", "test_seen"), "unseen": ("compositional", "test_unseen")},
}
"""The paper's tables: of every column, the task that is learnt and the test that is asked."""
OTHERS = "Other tasks"


@dataclass(frozen=True, slots=True)
class Figure:
    """A cell of a table: the mean test accuracy of the best configuration, its sd over seeds (None for a single one),
    and what was published for the network."""

    table: str
    column: str
    network: str
    config: str
    seeds: int
    mean: float
    sd: float | None
    published: float | None


def summary(results: Iterable[Trained]) -> list[Figure]:
    """Every cell that there is a training for, table by table; tasks that the paper lacks come last."""
    found, chosen = [], best(results)
    columns = [(table, column, *where) for table, row in TABLES.items() for column, where in row.items()]
    known = {(task, test) for _, _, task, test in columns}
    tried = dict.fromkeys((task, test) for (_, task), rows in chosen.items() for row in rows for test in row.tests)
    columns += [(OTHERS, f"{task} {test}", task, test) for task, test in tried if (task, test) not in known]
    for table, column, task, test in columns:
        for network in NAMES:
            rows = [row for row in chosen.get((network, task), []) if test in row.tests]
            if rows:
                values = [row.tests[test] for row in rows]
                sd = stdev(values) if len(values) > 1 else None
                said = published(column, NAMES[network])
                found.append(Figure(table, column, network, rows[0].config, len(rows), fmean(values), sd, said))
    return found


def asked(column: str) -> str:
    """The test of a column, by the name that `seesay.scenes.plan.test_plan` knows it by.

    >>> asked("SET+POS-hard"), asked("unseen")
    ('set+pos-hard', 'compositional-unseen')
    """
    return f"compositional-{column}" if column in TABLES["Table 3"] else column.lower()


def published(column: str, model: str) -> float | None:
    """The published figure of a column or test, for a model by the paper's name, or for the ceiling."""
    name = asked(column).replace("+", "-")
    return ACCURACY[name][MODELS.index(model)] if name in ACCURACY and model in MODELS else None


def ceiling(column: str) -> float | None:
    """What a fixed k = 0.29 reaches on a column, as published."""
    return published(column, CEILING)
