"""What every sweep has in common: a table in the order of the plan, and cells that are not
repeated."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from seesay.errors import UserError
from seesay.training.sweeps import RESULTS, ResultTable, run_cells


@dataclass(frozen=True)
class SweepCell:
    name: str

    @property
    def key(self) -> str:
        return self.name

    @property
    def folder(self) -> Path:
        return Path(self.name)


@dataclass(frozen=True)
class SweepResult:
    key: str
    error: str = ""


def parse(folder: Path, line: Mapping[str, str]) -> SweepResult:
    return SweepResult(line["key"], line["error"])


def table(folder: Path) -> ResultTable[SweepResult]:
    return ResultTable(
        folder,
        ("key", "error"),
        lambda _, row: {"key": row.key, "error": row.error},
        parse,
        "seesay test",
    )


def test_cells_run_once_in_the_order_of_the_plan_and_failures_again(tmp_path: Path) -> None:
    plan = [SweepCell("a"), SweepCell("b"), SweepCell("c")]
    ran: list[str] = []
    fails = {"b"}

    def run(cell: SweepCell) -> SweepResult:
        ran.append(cell.name)
        return SweepResult(cell.name, "too small" if cell.name in fails else "")

    results = table(tmp_path)
    assert run_cells(results, plan[::-1], run, results.has, plan=plan) == [
        SweepResult("a"),
        SweepResult("b", "too small"),
        SweepResult("c"),
    ]
    fails.clear()
    assert run_cells(results, plan, run, results.has) == [
        SweepResult("a"),
        SweepResult("b"),
        SweepResult("c"),
    ]
    assert ran == ["c", "b", "a", "b"]


def test_none_begins_after_the_deadline(
    tmp_path: Path,
) -> None:
    results = table(tmp_path)
    rows = run_cells(
        results,
        [SweepCell("a")],
        lambda cell: SweepResult(cell.name),
        results.has,
        deadline=time.time() - 1,
    )
    assert rows == []
    assert run_cells(
        results, [SweepCell("a")], lambda cell: SweepResult(cell.name), results.has
    ) == [SweepResult("a")]


def test_a_missing_or_damaged_table_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="that `seesay test` made"):
        table(tmp_path).read()
    (tmp_path / RESULTS).write_text("name\na\n")
    with pytest.raises(UserError, match="damaged"):
        table(tmp_path).read()
