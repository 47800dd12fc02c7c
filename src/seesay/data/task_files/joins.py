"""Rows whose columns stand in two files, put together by key or in their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from seesay.data.rows import Row
from seesay.data.task_files.row_rules import Join
from seesay.data.task_files.rules import as_key
from seesay.data.task_files.tables import Table
from seesay.errors import UserError
from seesay.questions import BadRow


def join_columns(
    rule: Join,
    table: Table,
    other: Table,
    name: str,
) -> Table:
    """Return the table with the columns of another one, whose file has this name.

    A row without a partner is a bad row, and rows of the other file that nobody asks for are noted.
    """
    keys = rule.keys
    columns = rule.take or tuple(column for column in other.columns if column not in keys.values())
    shared = [column for column in columns if column in table.columns]
    if shared:
        raise UserError(
            f"The rows and {name} both have a column '{shared[0]}': say which columns to `take`."
        )
    bad = [*table.bad, *(replace(row, file=name) for row in other.bad)]
    notes = list(table.notes)
    if keys:
        pairs, unused = _pair_by_key(rule, table.rows, other.rows, name, bad)
        if unused:
            notes.append(f"{unused:,} rows of {name} belong to no row")
    else:
        pairs = _pair_in_order(table, other, name)
    rows = []
    for row, partner in pairs:
        cells = {column: partner.cells.get(column) for column in columns}
        rows.append(row._replace(cells=row.cells | cells))
    joined_columns = table.columns | dict.fromkeys(columns)
    return Table(rows, joined_columns, bad, notes)


def _pair_by_key(
    rule: Join,
    rows: Sequence[Row],
    others: Sequence[Row],
    name: str,
    bad: list[BadRow],
) -> tuple[list[tuple[Row, Row]], int]:
    """Return each row with the one that has its key, and how many of the others no row has."""
    partners: dict[tuple[Any, ...], Row] = {}
    for other in others:
        key = _key(other, rule.keys.values())
        first = partners.setdefault(key, other)
        if first is not other:
            raise UserError(
                f"{name} has the {_describe(key)} twice, in the rows {first.number} and "
                f"{other.number}: which of them is meant?"
            )
    pairs: list[tuple[Row, Row]] = []
    for row in rows:
        key = _key(row, rule.keys)
        if key in partners:
            pairs.append((row, partners[key]))
        else:
            bad.append(row.bad(f"{name} has no {_describe(key)}"))
    used = {id(partner) for _, partner in pairs}
    return pairs, len(others) - len(used)


def _pair_in_order(
    table: Table,
    other: Table,
    name: str,
) -> list[tuple[Row, Row]]:
    """Return the first row with the first, the second with the second, and so on."""
    # One row that cannot be read would give every row after it the label of another.
    for bad in (*table.bad, *other.bad):
        raise UserError(f"{name} goes with the rows one by one, and one cannot be read ({bad}).")
    if len(table.rows) != len(other.rows):
        raise UserError(
            f"There are {len(table.rows):,} rows, and {name} has {len(other.rows):,}: without `on` "
            "they go together one by one."
        )
    return list(zip(table.rows, other.rows, strict=True))


def _key(row: Row, columns: Iterable[str]) -> tuple[Any, ...]:
    """Return what a row is found by."""
    return tuple(as_key(row.cells.get(column)) for column in columns)


def _describe(key: Sequence[Any]) -> str:
    """Return a key for a message."""
    return "key " + ", ".join(repr(part) for part in key)
